/** The agents of `ramet demo` as the journal knows them: who started whom, how each ended, which files it changed. */
import { relative } from 'node:path';
import type { AgentId } from '../../schema/ids.ts';
import { agentTree } from '../../views/agent-tree.ts';
import type { SessionView } from '../../views/session-view.ts';
import { duration, excerpt, table } from '../../views/text/format.ts';

export function demoTree({ agents, reader }: SessionView, repository: string): string {
  const files = new Map<AgentId, Set<string>>();
  for (const { agent, event } of reader.events()) {
    if (agent === null || event.type !== 'file.changed') continue;
    files.set(agent, (files.get(agent) ?? new Set()).add(relative(repository, event.path)));
  }
  const places = agentTree(agents);
  const rows = places.map(({ agent, level }, index) => {
    const isLast = !places.slice(index + 1).some((other) => other.level === level);
    const branch = level === 0 ? '' : `${'   '.repeat(level - 1)}${isLast ? '└─ ' : '├─ '}`;
    const took = duration(agent.lastEventAt - agent.startedAt);
    return [
      `  ${branch}${agent.type}${agent.description === null ? '' : `: ${excerpt(agent.description, 30)}`}`,
      agent.status,
      `${agent.turns} turns`,
      took.padStart(6),
      [...(files.get(agent.id) ?? [])].join(', '),
    ];
  });
  return table(rows);
}
