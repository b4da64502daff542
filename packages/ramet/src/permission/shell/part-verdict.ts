/** What one part of a script comes to: a command, a file, or something that cannot be judged. */
import type { PermissionRule } from '../rule.ts';

export interface PartVerdict {
  denied: PermissionRule | null;
  asked: PermissionRule | null;
  /** It only reads. */
  harmless: boolean;
  /** A rule, or the mode's trust in edits, covers it. */
  allowed: boolean;
  /** Why it needs a question. */
  reason: string;
  /** The rule that would allow it; null when none should or could. */
  suggestion: string | null;
}

export function firstRule(...rules: readonly (PermissionRule | null)[]): PermissionRule | null {
  return rules.find((rule) => rule !== null) ?? null;
}
