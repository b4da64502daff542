/** What is found of another tool's settings. */

import type { RuleTexts } from '../../permission/policy.ts';
import { pathInside } from '../../system/landing-path.ts';

export interface OtherRules {
  /** The file, for messages. */
  readonly place: string;
  /** What a path with one leading slash starts from: the folder that its `.claude` lies in. */
  readonly base: string;
  /** What they allow counts only in a trusted folder. */
  readonly texts: Pick<RuleTexts, 'deny' | 'ask' | 'allow'>;
}

/** Something that is set up and does nothing here. */
export interface UnusedPart {
  readonly what: string;
  readonly source: string;
  /** It would count if the folder were trusted as it is. */
  readonly needsTrust?: true;
}

export interface OtherTools {
  /** Files with hooks. */
  readonly hooks: readonly string[];
  /** Files whose rules count. */
  readonly rules: readonly OtherRules[];
  readonly unused: readonly UnusedPart[];
  /** Variables for programs that agents start: of trusted folders. */
  readonly env: Readonly<Record<string, string>>;
  /** Files of trusted folders with a status line, the nearest first. */
  readonly statusLines: readonly string[];
  /** One line each: rules that are ignored. */
  readonly problems: readonly string[];
}

export function shownPath(path: string, root: string, userHome: string | null): string {
  const below = pathInside(path, root);
  if (below) return below;
  const ofUser = userHome === null ? null : pathInside(path, userHome);
  return ofUser ? `~/${ofUser}` : path;
}
