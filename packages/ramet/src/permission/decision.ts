/** What a decision is made of, and what comes out of it. */

/** The part of a tool that permission looks at; see `tools/tool.ts` for what the effects mean. */
export interface PermissionSubject {
  name: string;
  effect: 'read' | 'write' | 'execute';
}

/** What rules match on: the call's input as validated, and where it would run. */
export interface PermissionDetails {
  input: unknown;
  cwd: string;
  /** What `~` stands for; rules with `~` match nothing when it is unknown. */
  home?: string | undefined;
}

export interface OpenQuestion {
  /** The command, the path or the address. */
  summary: string;
  reason: string;
  suggestedRules: readonly string[];
}

export type PermissionDecision =
  | { kind: 'allow' }
  | { kind: 'deny'; reason: string }
  | { kind: 'ask'; question: OpenQuestion };

export const ALLOW: PermissionDecision = { kind: 'allow' };
