/** A script of a repository, read as each checkout in which it may start has it. */
import {
  plainCommand,
  type ScriptCommand,
  type ScriptWords,
  scriptWords,
} from '../../permission/shell/script-words.ts';
import { checkoutOf } from './repository-look.ts';

/** It takes the variables of Python away: `python3 -I`, `env -i`. */
const LOSES_PYTHON =
  /PYTHONPYCACHEPREFIX|pycache_prefix|\bpy\S*\s+(?:-\S+\s+)*-\w*[IE]|\benv\s+-|\b(?:sudo|su|doas)\b/;
/** It may not be the root any more: `env CLAUDE_PROJECT_DIR=. sh -c ...`. */
const CHANGES_PROJECT = /CLAUDE_PROJECT_DIR=|\bunset\b|\benv\s+-/;
/** With the sign behind it that makes it a picture: nothing in it is hidden. */
const EMOJI = /(\p{Extended_Pictographic})[\ufe0e\ufe0f\u200d]+/gu;

export interface ReadScript extends ScriptWords {
  /** Without a default for what is always set, which would count otherwise. */
  readonly plain: string;
  /** Programs that it starts do not get the variables that keep compiled Python away from agents. */
  readonly losesPython: boolean;
}

/** `tops` are those of all checkouts that it may be in. */
export function readScript(
  text: string,
  root: string,
  starts: readonly string[],
  tops: readonly string[] = [...new Set([root, ...starts.map(checkoutOf)])],
): ReadScript {
  const plain = withoutArrays(text).replace(
    /\$\{CLAUDE_PROJECT_DIR:?[-=?][^}]*\}/g,
    '$' + '{CLAUDE_PROJECT_DIR}',
  );
  const projects = CHANGES_PROJECT.test(plain) ? [...new Set([root, ...starts])] : [root];
  const read = tops.flatMap((top) =>
    projects.map((project) =>
      scriptWords(plain.replace(EMOJI, '$1'), {
        root: top,
        variables: { CLAUDE_PROJECT_DIR: project },
      }),
    ),
  );
  return {
    plain,
    losesPython: LOSES_PYTHON.test(plain),
    commands: read.flatMap((one) => one.commands),
    inputs: read.flatMap((one) => one.inputs),
    outputs: read.flatMap((one) => one.outputs),
    unclear: read.flatMap((one) => one.unclear),
  };
}

/** Of one command, with `NAME=value` for its environment. */
export function readWords(
  texts: readonly string[],
  root: string,
): { readonly command: ScriptCommand; readonly words: readonly string[] } {
  const assigned = texts.map((text) => /^([A-Za-z_]\w*)=(.*)$/s.exec(text));
  const variables = Object.fromEntries(
    assigned.flatMap((one) => (one ? [[one[1] ?? '', one[2] ?? '']] : [])),
  );
  const words = texts
    .filter((_, index) => assigned[index] == null)
    .map((text) => text.replace(/\$\{CLAUDE_PROJECT_DIR\}/g, root));
  return { command: plainCommand(words, variables), words };
}

const ARRAY = /(?<=^|[;\n&|(\s])([A-Za-z_]\w*)\+?=\(((?:\s*(?:"[^"$`\\]*"|'[^']*'|[\w./:@%,-]+))*)\s*\)/g;

/** All of them at once are several words: read as one in loops and in what is printed, where that makes no difference. */
const LISTED = /(?:\bfor\s+\w+\s+in\s+|\b(?:echo|printf)\s[^;&|\n]*|\[\[\s[^;&|\n]*)"?\$\{(\w+)\[[@*]\]\}/g;
const WHOLE = /\$\{(\w+)\[[@*]\]\}/g;

/** `a=(x "y z")`: a variable stands for every value that it is given, so one that has several is read as if it were given each. */
function withoutArrays(text: string): string {
  const count = (uses: RegExp, name: string): number =>
    Array.from(text.matchAll(uses)).filter(([, one]) => one === name).length;
  const names = new Set<string>();
  const given = text.replace(ARRAY, (whole, name: string, list: string) => {
    if (count(WHOLE, name) !== count(LISTED, name)) return whole;
    names.add(name);
    const values = list.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? ["''"];
    return values.map((value) => `${name}=${value}`).join('; ');
  });
  return [...names].reduce(
    (all, name) =>
      all.replace(
        new RegExp(String.raw`\$\{(#?)${name}\[(?:[@*\d]|\$?\w+)\]\}`, 'g'),
        (_, length: string) => `\${${length}${name}}`,
      ),
    given,
  );
}
