/** The bill of `ramet demo`, from the journal: every agent's tokens and dollars, and what sharing the cache was worth. */
import { agentTree } from '../../journal/projections/agent-tree.ts';
import { costOf } from '../../model/prices.ts';
import type { RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { addCost, addUsage, hitRate, NO_USAGE, type Usage } from '../../schema/usage.ts';
import { dollars, excerpt, percent, table, tokens } from '../format.ts';
import type { SessionView } from '../session-view.ts';

const LONGEST_NAME = 26;
const HEADINGS = ['', 'INPUT', 'WRITTEN', 'READ', 'OUTPUT', 'FROM CACHE', 'COST'];

export interface DemoBill {
  /** A line for every agent, and their sum. */
  table: string;
  /** Of the children together. */
  usage: Usage;
  costUsd: number | null;
  /** What the same children would have cost if none could read what another agent had written. */
  unsharedUsd: number | null;
  children: number;
}

export function demoBill({ agents, ledger, reader }: SessionView): DemoBill {
  const rows = agentTree(agents).map(({ agent, level }) => {
    const name = `${'  '.repeat(level)}${agent.description ?? agent.type}`;
    const { usage = NO_USAGE, costUsd = null } = ledger.agents.get(agent.id) ?? {};
    return { name, usage, costUsd, isChild: agent.parent !== null, id: agent.id };
  });
  const children = rows.filter(({ isChild }) => isChild);
  const costUsd = children.map((row) => row.costUsd).reduce(addCost, 0);
  const saved = savedBySharing(reader.events(), new Set(children.map(({ id }) => id)));
  return {
    table: table([HEADINGS, ...rows.map(line), line({ name: 'in all', ...ledger.total })].map(indented)),
    usage: children.map(({ usage }) => usage).reduce(addUsage, NO_USAGE),
    costUsd,
    unsharedUsd: addCost(costUsd, saved),
    children: children.length,
  };
}

function line({ name, usage, costUsd }: { name: string; usage: Usage; costUsd: number | null }): string[] {
  return [
    name.length > LONGEST_NAME ? excerpt(name, LONGEST_NAME) : name,
    tokens(usage.input_tokens),
    tokens(usage.cache_creation_input_tokens),
    tokens(usage.cache_read_input_tokens),
    tokens(usage.output_tokens),
    percent(hitRate(usage)),
    dollars(costUsd),
  ];
}

/** Names on the left, figures on the right. */
function indented([name = '', ...figures]: string[]): string[] {
  const widths = [6, 7, 6, 6, 10, 8];
  return [`  ${name}`, ...figures.map((figure, index) => figure.padStart(widths[index] ?? 0))];
}

/**
 * What an agent reads in its first request was written by others. Alone it would have had to write that itself; what
 * it reads later it would have had by then.
 */
function savedBySharing(events: Iterable<RecordedEvent>, children: Set<AgentId>): number | null {
  let saved: number | null = 0;
  for (const { agent, event } of events) {
    if (event.type !== 'response.completed' || agent === null || !children.delete(agent)) continue;
    const { model, usage } = event;
    const read = usage.cache_read_input_tokens;
    const alone = {
      ...usage,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: usage.cache_creation_input_tokens + read,
    };
    const [paid, unshared] = [costOf(model, usage).usd, costOf(model, alone).usd];
    saved = addCost(saved, paid === null || unshared === null ? null : unshared - paid);
  }
  return saved;
}
