/**
 * What agents that have ended pass on to one below them. The agent that resumes it is its parent now, and may have more rights
 * than the agents it worked for.
 */
import type { JournalReader } from '../../journal/journal.ts';
import { effectiveMode } from '../../permission/policy.ts';
import type { ToolLimits } from '../../permission/tool-limits.ts';
import { RametError } from '../../schema/errors.ts';
import type { EventOf } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { PermissionMode } from '../../schema/status.ts';

export interface RecordedAncestor {
  readonly id: AgentId;
  readonly started: EventOf<'agent.started'>;
  /** The mode it had last. */
  readonly mode: PermissionMode;
}

/**
 * The nearest first, up to `asker` or the main agent; those two bind it as its parent does. Throws where the journal does
 * not lead there: limits that are not known cannot be kept.
 */
export function ancestorsOf(
  reader: JournalReader,
  { parent }: EventOf<'agent.started'>,
  asker: AgentId,
): RecordedAncestor[] {
  const found = new Map<AgentId, RecordedAncestor>();
  for (let id = parent; id !== null && id !== asker; ) {
    if (found.has(id)) throw unknownRights(`the record says that agent ${id} works for itself`);
    const ancestor = readAncestor(reader, id);
    if (ancestor === null)
      throw unknownRights(`the record of agent ${id} above it is lost, and with it its limits`);
    if (ancestor.started.parent === null) break;
    found.set(id, ancestor);
    id = ancestor.started.parent;
  }
  return [...found.values()];
}

function unknownRights(what: string): RametError {
  return new RametError('rights_lost', 'terminal', `${what}: start another agent for its task`);
}

function readAncestor(reader: JournalReader, id: AgentId): RecordedAncestor | null {
  let started: RecordedAncestor['started'] | null = null;
  let mode: PermissionMode = 'plan';
  for (const { event } of reader.events({ agent: id, types: ['agent.started', 'permission.changed'] })) {
    if (event.type === 'agent.started') started = event;
    if (event.type === 'agent.started') mode = event.permissionMode;
    if (event.type === 'permission.changed') mode = event.mode;
  }
  if (started === null) return null;
  // A start that a repair made up names no limits and not its parent: what is below it only reads.
  return { id, started, mode: started.origin?.startLost === true ? 'plan' : mode };
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
