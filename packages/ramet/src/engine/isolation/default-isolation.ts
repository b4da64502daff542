/** Whether a child gets a worktree of its own: because somebody asked, or because the user wants it so. */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import type { DefaultIsolation } from '../../git/worktrees/worktree-settings.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';
import { builtInTools, mayChangeFiles } from '../../tools/registry.ts';
import type { Agent } from '../agent/agent.ts';

/** `definition` is null for a fork. A child of an agent in a worktree works there, unless somebody asks for more. */
export function isolationOf(
  order: Pick<SpawnRequest, 'isolation'>,
  definition: AgentDefinition | null,
  { parent, byDefault }: { parent: Pick<Agent, 'directory'>; byDefault: DefaultIsolation },
): 'asked' | 'default' | 'none' {
  if ((order.isolation ?? definition?.isolation) === 'worktree') return 'asked';
  if (byDefault === 'off' || parent.directory.workspace !== null) return 'none';
  if (definition === null) return 'default';
  return byDefault === 'writers' && mayWrite(definition) ? 'default' : 'none';
}

function mayWrite({ readOnly, tools, disallowedTools = [] }: AgentDefinition): boolean {
  if (readOnly === true) return false;
  return builtInTools({ fork: false, types: [] }).some(
    (tool) =>
      mayChangeFiles(tool) &&
      (tools === 'all' || tools.includes(tool.name)) &&
      !disallowedTools.includes(tool.name),
  );
}
