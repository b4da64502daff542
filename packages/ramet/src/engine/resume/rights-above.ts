/**
 * What agents that have ended pass on to one below them. The agent that resumes it is its parent now, and may have more rights
 * than the agents it worked for.
 */
import type { JournalReader } from '../../journal/journal.ts';
import { effectiveMode } from '../../permission/policy.ts';
import type { ToolLimits } from '../../permission/tool-limits.ts';
import type { EventOf } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { PermissionMode } from '../../schema/status.ts';

export interface RecordedAncestor {
  readonly id: AgentId;
  readonly started: EventOf<'agent.started'>;
  /** The mode it had last. */
  readonly mode: PermissionMode;
}

/** The nearest first, up to `asker` or the main agent; those two bind it as its parent does. */
export function ancestorsOf(
  reader: JournalReader,
  { parent }: EventOf<'agent.started'>,
  asker: AgentId,
): RecordedAncestor[] {
  const found: RecordedAncestor[] = [];
  for (let id = parent; id !== null && id !== asker; ) {
    const ancestor = readAncestor(reader, id);
    if (ancestor === null || ancestor.started.parent === null) return found;
    found.push(ancestor);
    id = ancestor.started.parent;
  }
  return found;
}

function readAncestor(reader: JournalReader, id: AgentId): RecordedAncestor | null {
  let started: RecordedAncestor['started'] | null = null;
  let mode: PermissionMode = 'plan';
  for (const { event } of reader.events({ agent: id, types: ['agent.started', 'permission.changed'] })) {
    if (event.type === 'agent.started') started = event;
    if (event.type === 'agent.started') mode = event.permissionMode;
    if (event.type === 'permission.changed') mode = event.mode;
  }
  return started === null ? null : { id, started, mode };
}

export function limitsAbove(ancestors: readonly RecordedAncestor[]): ToolLimits[] {
  return ancestors.flatMap(({ started }) => started.origin?.toolLimits ?? []);
}

/** The narrowest of its own and theirs; `bubble` says nothing by itself. */
export function modeBelow(own: PermissionMode, ancestors: readonly RecordedAncestor[]): PermissionMode {
  return ancestors.reduce<PermissionMode>(
    (mode, above) => (above.mode === 'bubble' ? mode : effectiveMode(mode, above.mode)),
    own,
  );
}
