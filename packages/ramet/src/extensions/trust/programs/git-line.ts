/** One call of git in a script: what its words have git run, and what they set for it. */
import type { ScriptWord } from '../../../permission/shell/script-words.ts';

export interface GitLine {
  /** Its subcommand; null where only the running script knows it. */
  readonly command: string | null;
  /** For a shell. */
  readonly scripts: readonly string[];
  /** `git config KEY VALUE`; keys in small letters. */
  readonly settings: readonly (readonly [key: string, value: string])[];
  /** A word that decides what runs is not known. */
  readonly isOpen: boolean;
}

const HAS_VALUE =
  /^(?:-[cC]|--(?:git-dir|work-tree|namespace|exec-path|super-prefix|config-env|attr-source))$/;
const LEADS = /^--(?:exec-path=|config-env)/;
/** Settings by which git runs something, or finds more settings. */
const RUNS =
  /^(?:alias|core\.(?:fsmonitor|editor|pager|askpass|hookspath|sshcommand|gitproxy|alternaterefscommand)|sequence|pager|interactive\.difffilter|diff|filter|merge|mergetool|difftool|gpg|trailer|credential|remote|include|includeif|init\.templatedir)\b/i;
const FINDS_HELPERS = /^(?:ext|fd)::/;
/** Their value is a program, or a script for one. */
const OPTIONS: readonly (readonly [command: RegExp, option: RegExp])[] = [
  [/^rebase$/, /^(?:--exec(?:=|$)|-x)/],
  [/^grep$/, /^(?:--open-files-in-pager(?:=|$)|-O)/],
  [/^(?:clone|fetch|fetch-pack|ls-remote|pull)$/, /^--upload-pack(?:=|$)/],
  [/^clone$/, /^-u/],
  [/^(?:push|send-pack|archive)$/, /^--(?:receive-pack|exec)(?:=|$)/],
];

/** `rest`: the words behind `git`. */
export function gitLine(rest: readonly ScriptWord[]): GitLine {
  const scripts: string[] = [];
  let at = 0;
  let isOpen = false;
  for (; rest[at]?.start.startsWith('-'); at++) {
    const { start = '' } = rest[at] ?? {};
    isOpen ||= LEADS.test(start);
    if (!HAS_VALUE.test(start)) continue;
    at += 1;
    if (start === '-c') isOpen ||= isOpenSetting(rest[at]);
  }
  const [first, ...words] = rest.slice(at);
  const command = first === undefined ? '' : first.open === null ? (first.texts[0] ?? '') : null;
  const take = (word: ScriptWord | undefined, cut: RegExp | null): void => {
    if (word === undefined || word.open !== null) isOpen = true;
    else for (const text of word.texts) scripts.push(cut === null ? text : text.replace(cut, ''));
  };
  for (const [program, option] of OPTIONS) {
    if (!program.test(command ?? '')) continue;
    for (const [index, word] of words.entries()) {
      const [found = ''] = option.exec(word.start) ?? [];
      if (found === '') continue;
      if (word.start !== found || /=$/.test(found)) take(word, option);
      // `git grep -O` takes no other word.
      else if (found !== '-O' && found !== '--open-files-in-pager') take(words[index + 1], null);
    }
  }
  const run = command === 'bisect' ? words.findIndex(({ start }) => start === 'run') : -1;
  const each = command === 'submodule' ? words.findIndex(({ start }) => start === 'foreach') : -1;
  const inner = words.slice(Math.max(run, each) + 1).filter(isOperand);
  if (run !== -1 || each !== -1) {
    if (each !== -1 && inner.length === 1) take(inner[0], null);
    else if (inner.some(({ open, texts }) => open !== null || texts.length !== 1)) isOpen = true;
    else scripts.push(inner.map(({ texts: [text = ''] }) => quoted(text)).join(' '));
  }
  for (const [index, word] of words.entries())
    if (/^(?:-c|--config)$/.test(words[index - 1]?.start ?? '')) isOpen ||= isOpenSetting(word);
  isOpen ||= words.some(({ start }) => FINDS_HELPERS.test(start));
  const settings = command === 'config' ? setBy(words) : [];
  isOpen ||= settings.some(({ isKnown }) => !isKnown);
  return { command, scripts, settings: settings.map(({ key, value }) => [key, value]), isOpen };
}

/** Options before the script of `foreach` are none of it. */
function isOperand({ start }: ScriptWord, at: number, all: readonly ScriptWord[]): boolean {
  return !start.startsWith('-') || all.slice(0, at).some((one) => !one.start.startsWith('-'));
}

function isOpenSetting(word: ScriptWord | undefined): boolean {
  if (word === undefined || word.open === null) return false;
  return !word.start.includes('=') || RUNS.test(word.start);
}

function setBy(words: readonly ScriptWord[]): { key: string; value: string; isKnown: boolean }[] {
  const operands = words.filter(({ start }) => !start.startsWith('-') && start !== 'set');
  const [key, value] = operands;
  if (key === undefined || value === undefined || operands[0]?.start === 'get') return [];
  const isKnown = value.open === null && key.open === null;
  if (!isKnown) return RUNS.test(key.start) || key.start === '' ? [{ key: '', value: '', isKnown }] : [];
  return key.texts.flatMap((one) =>
    value.texts.map((text) => ({ key: one.toLowerCase(), value: text, isKnown })),
  );
}

function quoted(text: string): string {
  return /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
