/** What is found of another tool's settings. */

import type { RuleTexts } from '../../permission/policy.ts';
import { pathInside } from '../../system/landing-path.ts';
import type { CHANGED, SettingValue, UNTRUSTED } from '../setting-value.ts';

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
  /** Why it does not count, where it would if the folder were trusted as it is. */
  readonly needsTrust?: typeof UNTRUSTED | typeof CHANGED;
}

/** Which MCP servers a file leaves out. */
export interface ServerLimits {
  /** The file, for messages. */
  readonly place: string;
  /** Servers of `.mcp.json` that do not count. */
  readonly disabled: readonly string[];
  /** The only ones of `.mcp.json` that do, if any file names one and none `takesAll`. */
  readonly enabled: readonly string[];
  readonly takesAll: boolean;
  /** Of all places: `{ serverName }`, `{ serverCommand }` or `{ serverUrl }`, not checked yet. */
  readonly denied: readonly unknown[];
}

export interface OtherTools {
  /** Files with hooks. */
  readonly hooks: readonly string[];
  /** Files that turn off hooks of their repository. */
  readonly stopping: readonly string[];
  /** The user has turned off all hooks of these files. */
  readonly isStopped: boolean;
  /** Files whose rules count. */
  readonly rules: readonly OtherRules[];
  readonly unused: readonly UnusedPart[];
  /** Values for Ramet's own keys, where Ramet's own files say nothing; from the farthest to the nearest. */
  readonly values: readonly SettingValue[];
  /** What they forbid, whatever others allow. */
  readonly forbidden: readonly SettingValue[];
  /** Directories to work in besides the working directory. */
  readonly directories: readonly { readonly path: string; readonly source: string }[];
  readonly servers: readonly ServerLimits[];
  /** Variables for programs that agents start: of the user and of trusted folders. */
  readonly env: Readonly<Record<string, string>>;
  /** Files of trusted folders and of the user with a status line, the nearest first. */
  readonly statusLines: readonly string[];
  /** One line each: rules that are ignored. */
  readonly problems: readonly string[];
}

export const NOTHING: OtherTools = {
  ...{
    hooks: [],
    stopping: [],
    isStopped: false,
    rules: [],
    unused: [],
    values: [],
    forbidden: [],
    directories: [],
    servers: [],
  },
  ...{ env: {}, statusLines: [], problems: [] },
};

/** The user's own file, which is for every repository. */
export function isUsersFile(path: string, userHome: string | null): boolean {
  return userHome !== null && path.startsWith(`${userHome}/.claude/`) && !path.endsWith('.local.json');
}

export function shownPath(path: string, root: string, userHome: string | null): string {
  const below = pathInside(path, root);
  if (below) return below;
  const ofUser = userHome === null ? null : pathInside(path, userHome);
  return ofUser ? `~/${ofUser}` : path;
}

/** Tools that have another name here. */
const NAMES: Readonly<Record<string, string>> = {
  Task: 'Agent',
  MultiEdit: 'Edit',
  NotebookEdit: 'Edit',
  NotebookRead: 'Read',
  LS: 'Glob',
};

/** A rule, with the names that tools have here. */
export function translated(rule: string): string {
  return rule
    .trim()
    .replace(/^[A-Za-z]+(?=\(|$)/, (name) => (Object.hasOwn(NAMES, name) ? (NAMES[name] ?? name) : name));
}
