/** Which mode an agent's calls are judged under: its own, and never a wider one than its ancestors' (RES-3). */
import type { PermissionMode, SessionMode } from '../schema/status.ts';

/** From narrow to wide. */
export const MODES_BY_WIDTH: readonly SessionMode[] = [
  'plan',
  'dontAsk',
  'default',
  'acceptEdits',
  'bypassPermissions',
];

/** For a person who chooses it for a session. */
export const BUBBLE_REFUSED =
  'the permission mode bubble is for agents that other agents start: they have their parent’s mode';

/** What of an agent's specification decides its mode. */
export interface ModeOwner {
  readonly permissionMode: PermissionMode;
  /** Its parent's mode in force, asked at each decision: a change above reaches those below at once. */
  readonly ceiling?: (() => SessionMode) | undefined;
}

/** The mode in force for an agent now; `() => modeInForce(parent)` is the ceiling of its children. */
export function modeInForce({ permissionMode, ceiling }: ModeOwner): SessionMode {
  return effectiveMode(permissionMode, ceiling?.() ?? null);
}

/** `ceiling` is null for the main agent. `bubble` below nobody gives no right: it is the narrowest mode. */
export function effectiveMode(own: PermissionMode, ceiling: SessionMode | null): SessionMode {
  if (own === 'bubble') return ceiling ?? 'plan';
  if (ceiling === null) return own;
  return MODES_BY_WIDTH.indexOf(own) < MODES_BY_WIDTH.indexOf(ceiling) ? own : ceiling;
}
