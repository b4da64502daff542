/**
 * Puts arguments into the body of a skill or a command that is asked for, and finds the commands and files that it
 * names. Pure: who asks runs the commands, under permission, and reads the files.
 *
 * Invariant: what an argument contains is never taken for a command or a file of the text.
 */
import type { PromptFile } from './prompt-file.ts';

/** A part of the text as it stands, or a command whose output takes its place. */
export type PromptPart = { readonly text: string } | { readonly command: string };

export interface ExpandedText {
  readonly parts: readonly PromptPart[];
  /** Paths that the text names with `@`, in order. */
  readonly files: readonly string[];
}

export interface ExpansionInput {
  /** What was written after the name. */
  readonly argument: string;
  readonly session: string;
  readonly projectRoot: string;
}

/** Both count only at the beginning and after white space. */
const SHELL = /(^|\s)!`([^`\n]+)`/g;
const MENTION = /(?:^|(?<=\s))@((?:[\w./~$-]|\[\d+\])*[\w\]/-])/g;

export function expandPrompt(body: string, prompt: PromptFile, input: ExpansionInput): ExpandedText {
  const fill = filler(body, prompt, input);
  const parts: PromptPart[] = [];
  const files: string[] = [];
  const say = (written: string): void => {
    for (const [, path = ''] of written.matchAll(MENTION)) files.push(fill(path));
    if (written !== '') parts.push({ text: fill(written) });
  };
  let at = 0;
  for (const match of body.matchAll(SHELL)) {
    const [whole, before = '', command = ''] = match;
    say(body.slice(at, match.index) + before);
    parts.push({ command: fill(command) });
    at = match.index + whole.length;
  }
  say(body.slice(at));
  const { argument } = input;
  const isTold = argument.trim() === '' || fill.isUsed();
  return {
    parts: isTold ? parts : [...parts, { text: `\n\nARGUMENTS: ${argument.trim()}` }],
    files: [...new Set(files)].filter((path) => /[./]/.test(path)),
  };
}

interface Filler {
  (text: string): string;
  /** Whether a place for arguments was found. */
  isUsed(): boolean;
}

function filler(
  body: string,
  prompt: PromptFile,
  { argument, session, projectRoot }: ExpansionInput,
): Filler {
  const words = splitArguments(argument);
  const named = new Map(prompt.argumentNames.map((name, at) => [name, words[at] ?? '']));
  const variables: Readonly<Record<string, string | undefined>> = {
    CLAUDE_SKILL_DIR: prompt.folder,
    CLAUDE_PLUGIN_ROOT: prompt.plugin?.root,
    CLAUDE_PROJECT_DIR: projectRoot,
    CLAUDE_SESSION_ID: session,
  };
  // Older files count from $1, newer ones from $0: a file that has $0 is a newer one.
  const first = /\$0(?!\d)|\$ARGUMENTS\[/.test(body) ? 0 : 1;
  const hasPlaces = prompt.argumentHint !== null || named.size > 0;
  // Without arguments, $1 is more likely a word of a script than a place for one.
  const takesPositions = hasPlaces || (prompt.kind === 'command' && words.length > 0);
  let used = false;
  const take = (value: string): string => {
    used = true;
    return value;
  };
  const fill = (text: string): string =>
    text.replace(
      /\\\$|\$\{([A-Z_]+)\}|\$ARGUMENTS(?:\[(\d+)\])?|\$(\d{1,2})(?!\d)|\$([A-Za-z_]\w*)/g,
      (whole, variable?: string, index?: string, position?: string, name?: string) => {
        if (whole === '\\$') return hasPlaces || prompt.kind === 'command' ? '$' : whole;
        if (variable !== undefined) return variables[variable] ?? whole;
        if (index !== undefined) return take(words[Number(index)] ?? '');
        if (whole === '$ARGUMENTS') return take(argument.trim());
        if (position !== undefined)
          return takesPositions && Number(position) >= first
            ? take(words[Number(position) - first] ?? '')
            : whole;
        const value = name === undefined ? undefined : named.get(name);
        return value === undefined ? whole : take(value);
      },
    );
  return Object.assign(fill, { isUsed: () => used });
}

/** At blanks outside of quotes. */
export function splitArguments(text: string): string[] {
  return Array.from(text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g), ([, double, single, bare]) =>
    double === undefined ? (single ?? bare ?? '') : double.replace(/\\(.)/g, '$1'),
  );
}
