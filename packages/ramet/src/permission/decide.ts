/**
 * May this call run? Pure: the mode and the call in, the answer out. Rules and questions to a person come in
 * front of the mode's own answer; whoever calls has only to handle one more kind of decision then.
 */
import type { PermissionMode } from '../schema/status.ts';

/** The part of a tool that permission looks at; see `tools/tool.ts` for what the effects mean. */
export interface PermissionSubject {
  name: string;
  effect: 'read' | 'write' | 'execute';
}

/** What rules match on: the call's input as validated, and where it would run. */
export interface PermissionDetails {
  input: unknown;
  cwd: string;
}

export type PermissionDecision = { allowed: true } | { allowed: false; reason: string };

const ALLOWED: PermissionDecision = { allowed: true };

export function decide(
  mode: PermissionMode,
  tool: PermissionSubject,
  _details: PermissionDetails,
): PermissionDecision {
  if (mode === 'bypassPermissions' || tool.effect === 'read') return ALLOWED;
  return { allowed: false, reason: `${tool.name} is not permitted: ${WHY_NOT[mode]} ${WHAT_NOW}` };
}

const WHY_NOT: Readonly<Record<Exclude<PermissionMode, 'bypassPermissions'>, string>> = {
  plan: 'in plan mode nothing may be changed or run.',
  dontAsk: 'in this run only reading is allowed, and nobody can be asked.',
};

const WHAT_NOW =
  'Do not try it another way; go on with what is permitted and say in your report what was left undone. ' +
  '(For the user: --permission-mode bypassPermissions allows it.)';
