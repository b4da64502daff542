/** What a decision is made of, and what comes out of it. */

import type { ToolAccess } from '../schema/tool-access.ts';

/** The part of a tool that permission looks at; see `tools/tool.ts` for what the effects mean. */
export interface PermissionSubject {
  name: string;
  effect: 'read' | 'write' | 'execute';
  /** What a call reaches; nothing that rules know when absent. */
  access?(input: unknown): ToolAccess;
}

/** What rules match on: the call's input as validated, and where it would run. */
export interface PermissionDetails {
  input: unknown;
  cwd: string;
  /** What `~` stands for; rules with `~` match nothing when it is unknown. */
  home?: string | undefined;
  /** The sandbox stopped the command: why. The question is then whether it may run outside it. */
  stopped?: string | undefined;
}

export interface OpenQuestion {
  /** The command, the path or the address. */
  summary: string;
  reason: string;
  suggestedRules: readonly string[];
  /** The ask rule that makes it a question, whatever else would allow it. */
  byRule?: string | undefined;
}

/**
 * How freely a permitted call runs. `wall`: it was judged to only read, and runs in the read-only sandbox. `host`: the
 * strict rules judged it to only read, and it runs outside. `none`: a rule, a person or the mode allowed it.
 */
export type Confinement = 'wall' | 'host' | 'none';

export type PermissionDecision =
  | { kind: 'allow'; confinement: Confinement }
  | { kind: 'deny'; reason: string }
  | { kind: 'ask'; question: OpenQuestion };

export const ALLOW: PermissionDecision = { kind: 'allow', confinement: 'none' };
