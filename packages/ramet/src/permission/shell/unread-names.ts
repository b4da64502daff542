/**
 * Files that a text may name which nobody could read: each of its words, in every place that it may go to. Names are compared
 * as they are written; the disk is asked only for those that begin with something which is there, since it may be a link.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openedPath } from '../../system/landing-path.ts';
import { type RuleTarget, takingRule } from '../match-rules.ts';
import { aliasesOf, type PermissionPolicy } from '../policy.ts';
import type { PermissionRule } from '../rule.ts';
import { bracesExpanded, namesTooMany } from './brace-operands.ts';
import { isAboutAllWrites, namesIn } from './named-files.ts';
import { addEscaped, newDraft } from './reading/shell-word.ts';
import { valuesIn, withValues } from './reading/spelled-values.ts';

interface UnreadNames {
  /** The first rule about files that is about one of them. */
  ruleOf(rules: readonly PermissionRule[]): PermissionRule | null;
}

/** Nobody writes more; one of the rest may be what a rule is about. */
const MOST_NAMES = 100_000;
const MOST_LOOKED_UP = 5_000;
const MOST_PLACES = 50;
const LONGEST = 4_096;

const WORD = /(?:\\[\s\S]|[^\s;&|()<>`\\])+/g;
const ESCAPED = /\$'((?:\\.|[^'\\])*)'/g;
/** Where a program or the shell is sent to. */
const MOVES =
  /(?<![\w./-])(?:(?:cd|pushd|-C|--(?:directory|work-tree|chdir|prefix|cwd))[ \t]+(?:-[A-Za-z@]*[ \t]+)*|-C|--(?:directory|work-tree|chdir|prefix|cwd)=)((?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;&|()<>'"])+)/g;
/** These change a folder with all it holds, or write in it what they do not name. */
const WHOLE =
  /(?:^|[\s;&|(/'"`])(?:rm|rmdir|mv|cp|ln|install|rsync|scp|find|chmod|chown|chgrp|trash|shred|tar|unzip|patch|git|make|wget|prettier|eslint|[\w-]*--(?:fix|write))(?=\s|$)/m;

export function unreadNames(policy: PermissionPolicy, text: string, cwd: string): UnreadNames {
  const home = [...policy.rules.deny, ...policy.rules.ask].find((rule) => rule.home !== null)?.home ?? null;
  const words = wordsOf(text, cwd);
  const places = placesOf(text, cwd);
  if (words === null || places === null) return { ruleOf: (rules) => rules.find(isAboutFiles) ?? null };
  const names = new Set(words.flatMap(namesIn).map((name) => (home === null ? name : atHome(name, home))));
  const found = pathsOf(names, places);
  if (found === null) return { ruleOf: (rules) => rules.find(isAboutFiles) ?? null };
  const { written, opened } = found;
  const named = [...written, ...aliasesOf(policy, written)];
  const isWhole = WHOLE.test(text);
  const folders = isWhole
    ? opened.filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory())
    : [];
  // Of a rule about files only the pattern and the access count.
  const target = (access: 'read' | 'write'): RuleTarget => ({
    ...{ tool: '', access, cwd, host: null, name: null },
    ...{ paths: opened, aliases: aliasesOf(policy, opened), folders: access === 'read' ? [] : folders },
  });
  const targets = [target('read'), target('write')];
  return {
    ruleOf: (rules) =>
      rules.find(
        (rule) =>
          isAboutAllWrites(rule) ||
          (rule.scope.kind === 'paths' && namesAny(rule.scope.pattern, named, cwd)) ||
          (rule.scope.kind === 'paths' && targets.some((one) => takingRule([rule], one) !== null)),
      ) ?? null,
  };
}

function isAboutFiles(rule: PermissionRule): boolean {
  return rule.scope.kind === 'paths' || isAboutAllWrites(rule);
}

function namesAny(
  pattern: Extract<PermissionRule['scope'], { kind: 'paths' }>['pattern'],
  paths: readonly string[],
  cwd: string,
): boolean {
  return paths.some((path) => pattern.names({ path, cwd }));
}

function atHome(name: string, home: string): string {
  return name === '~' || name.startsWith('~/') ? `${home}${name.slice(1)}` : name;
}

/** Every text that a word, or a piece of one, may be; null for more than are compared. */
function wordsOf(text: string, cwd: string): string[] | null {
  const found = new Set<string>();
  const values = valuesIn(text);
  for (const raw of [...(text.match(WORD) ?? []), ...quotedWords(text)]) {
    if (raw.length > LONGEST) continue;
    for (const word of withValues(raw, values) ?? [raw]) {
      const whole = unquoted(word);
      found.add(whole);
      if (/[,:{}[\]"'=]/.test(word))
        for (const piece of word.split(/[,:{}[\]"'=]+/)) found.add(unquoted(piece));
      if (!word.includes('{')) continue;
      const made = bracesExpanded([{ source: word, value: null, start: '' }], cwd);
      if (namesTooMany(made)) return null;
      for (const { value } of made) if (value !== null) found.add(value);
    }
    if (found.size > MOST_NAMES) return null;
  }
  return [...found];
}

function unquoted(word: string): string {
  return word
    .replace(ESCAPED, (whole, inner: string) => {
      const draft = newDraft();
      addEscaped(draft, inner);
      return draft.open ? whole : draft.text;
    })
    .replace(/["'\\]/g, '');
}

/** What stands between two quotes of a kind, with a blank in it and what is around it. */
function quotedWords(text: string): string[] {
  return ["'", '"'].flatMap((quote) => {
    const parts = text.split(quote);
    return parts.flatMap((part, at) => {
      const isInside = at > 0 && at < parts.length - 1;
      if (!isInside || part.length > LONGEST || !/[ \t;&|()<>]/.test(part) || part.includes('\n')) return [];
      const before = /[^\s;&|()<>`]*$/.exec((parts[at - 1] ?? '').slice(-LONGEST))?.[0] ?? '';
      const after = /^[^\s;&|()<>`]*/.exec((parts[at + 1] ?? '').slice(0, LONGEST))?.[0] ?? '';
      return [before + part + after];
    });
  });
}

/** Where it may be, whatever part of it ran before; null for more than are compared. */
function placesOf(text: string, cwd: string): string[] | null {
  const places = new Set([cwd]);
  const values = valuesIn(text);
  for (const [, word = ''] of text.matchAll(MOVES))
    for (const target of withValues(word, values) ?? [word])
      for (const place of [...places]) {
        const name = unquoted(target);
        const path = resolve(place, name);
        places.add(path);
        const opened = existsSync(path) ? openedPath(place, name) : null;
        if (opened !== null) places.add(opened);
        if (places.size > MOST_PLACES) return null;
      }
  return [...places];
}

interface Paths {
  /** As they are named. */
  written: string[];
  /** Where those lead that begin with something which is there. */
  opened: string[];
}

function pathsOf(names: ReadonlySet<string>, places: readonly string[]): Paths | null {
  if (names.size * places.length > MOST_NAMES) return null;
  const all: Paths = { written: [], opened: [] };
  for (const place of places) {
    const there = new Set(entriesOf(place));
    for (const name of names) {
      if (name === '' || name.length > LONGEST || /[\n\0]/.test(name)) continue;
      all.written.push(resolve(place, name));
      const [first = ''] = name.replace(/^(?:\.\/+)+/, '').split('/', 1);
      if (first !== '' && first !== '..' && !there.has(first)) continue;
      const path = openedPath(place, name);
      if (path !== null) all.opened.push(path);
      if (all.opened.length > MOST_LOOKED_UP) return null;
    }
  }
  return all;
}

function entriesOf(place: string): string[] {
  try {
    return readdirSync(place);
  } catch {
    return [];
  }
}
