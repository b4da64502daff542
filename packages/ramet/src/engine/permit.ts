/** What comes of asking whether a call may run: plain data, since an agent's process asks its host. */
import type { Confinement } from '../permission/decision.ts';
import type { ToolUseBlock } from '../schema/content.ts';

export interface PermitRequest {
  readonly call: ToolUseBlock;
  /** Why the read-only sandbox stopped the call, which is now to run outside it; null for a call that has not run. */
  readonly stopped: string | null;
}

export type Permit =
  | { readonly kind: 'permitted'; readonly confinement: Confinement }
  | { readonly kind: 'refused'; readonly reason: string };

/** Somebody said yes, or nothing needs to be said. */
export const PERMITTED: Permit = { kind: 'permitted', confinement: 'none' };

export function refused(reason: string): Permit {
  return { kind: 'refused', reason };
}
