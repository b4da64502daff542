/** What one part of a script comes to: a command, a file, or something that cannot be judged. */
import type { PermissionRule } from '../rule.ts';

export interface PartVerdict {
  denied: PermissionRule | null;
  asked: PermissionRule | null;
  /** It only reads, by the strict rules: wherever it runs. */
  harmless: boolean;
  /** It can do no harm behind the wall. What is harmless is. */
  walled: boolean;
  /** Its answer depends on what the wall hides. */
  host: boolean;
  /** A rule, or the mode's trust in edits, covers it. */
  allowed: boolean;
  /** Why it needs a question. */
  reason: string;
  /** The rule that would allow it; null when none should or could. */
  suggestion: string | null;
}

/** What nobody can vouch for. */
export function openPart(reason: string, walled = false): PartVerdict {
  return {
    ...{ denied: null, asked: null, harmless: false, walled, host: false, allowed: false },
    ...{ reason, suggestion: null },
  };
}

export function firstRule(...rules: readonly (PermissionRule | null)[]): PermissionRule | null {
  return rules.find((rule) => rule !== null) ?? null;
}
