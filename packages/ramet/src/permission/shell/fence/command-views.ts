/** The commands that a command may run: itself, and what stands behind wrappers, `find -exec` and their like. */
import { basename } from 'node:path';
import { passesOn } from '../programs/launchers.ts';
import type { ShellCommand } from '../reading/shell-reading.ts';
import type { ShellWord } from '../reading/shell-word.ts';

export interface CommandView {
  program: string;
  /** Without the program. */
  words: readonly ShellWord[];
  /** Words of it come from what xargs reads. */
  fed: boolean;
  /** `env -C`. */
  place: ShellWord | null;
}

const RUNS = /^(?:-(?:exec|execdir|ok|okdir|x|X)|--exec|--exec-batch)$/;
const MOST_VIEWS = 40;

/** Whether the view is of use to the caller is for it to say: any word behind a wrapper may be the command. */
export function viewsOf({ words }: Pick<ShellCommand, 'words'>): CommandView[] {
  const views: CommandView[] = [];
  const isFinder = /^(?:find|fd)$/.test(words[0]?.value ?? '');
  if (/^command$/.test(words[0]?.value ?? '') && /^-[vV]/.test(words[1]?.value ?? '')) return views;
  let fed = false;
  let place: ShellWord | null = null;
  for (let at = 0; at < Math.min(words.length, MOST_VIEWS); at++) {
    const program = basename(words[at]?.value ?? '');
    const rest = words.slice(at + 1);
    if (at > 0 && program === '') continue;
    if (
      isFinder &&
      at > 0 &&
      !views.some((view) => view !== views[0]) &&
      !RUNS.test(words[at - 1]?.value ?? '')
    )
      continue;
    if (program === 'env') place = chdirOf(rest) ?? place;
    views.push({ program, words: rest, fed, place });
    if (/^(?:xargs|parallel)$/.test(program)) fed = true;
    if (at === 0 && program !== 'trap' && !passesOn(program)) break;
  }
  return views;
}

function chdirOf(words: readonly ShellWord[]): ShellWord | null {
  for (const [index, word] of words.entries()) {
    if (/^(?:-C|--chdir)$/.test(word.value ?? '')) return words[index + 1] ?? null;
    if (/^(?:-C.|--chdir=)/.test(word.start)) return tailOf(word, word.start.startsWith('-C') ? 2 : 8);
  }
  return null;
}

/** What is left of a word behind its first characters: the value of `--output=x`. */
export function tailOf({ source, value, start }: ShellWord, length: number): ShellWord {
  const inner = /^["']/.test(source) ? `${source[0]}${source.slice(length + 1)}` : source.slice(length);
  return {
    source: inner,
    value: inner.startsWith('~') ? null : (value?.slice(length) ?? null),
    start: start.slice(length),
  };
}
