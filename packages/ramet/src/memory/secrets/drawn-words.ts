/**
 * Words that a machine has drawn, with nothing that joins them to a name: in one sentence with a word for a credential, in any
 * order, or alone. Most random text in files is public (digests, commits, ids, images), so what stands around
 * it must not say that.
 */
import { type CharacterRun, characterKind, nextRun } from './character-runs.ts';
import { credentialNames } from './credential-name.ts';
import type { SecretPlace } from './known-prefixes.ts';
import { surpriseOf } from './letter-pairs.ts';
import { isPublicBeside, isPublicLine, type LineAround } from './public-context.ts';
import { isDrawn, isHexDrawn, isPlaceholder } from './random-text.ts';

const SHORTEST = 12;
const LONGEST = 200;
/** Beside a word that only may mean a credential. */
const SHORTEST_WEAK = 16;
const SHORTEST_ALONE = 20;
const SHORTEST_NAMED = 40;
const LONGEST_LINE = 400;
/** What surprises less is one, of small letters. */
const A_WORD = 5.5;
const PART = characterKind(/[A-Za-z0-9+/=_~!@%^*.-]/);

export function drawnWords(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  for (let at = 0; ; ) {
    const run = nextRun(text, at, PART, SHORTEST);
    if (run === null) return found;
    at = run.end;
    const rule = ruleOf(text, run);
    if (rule !== null) found.push({ rule, at: run.start });
  }
}

function ruleOf(text: string, run: CharacterRun): string | null {
  if (run.end - run.start > LONGEST) return null;
  const whole = text.slice(run.start, run.end).replace(/^[-=.*_!~]+(?=[A-Za-z0-9])|[-=.*_!~%]+$/g, '');
  const word = withoutNames(whole);
  if (!isRandom(word) || isPlaceholder(word) || isPath(word) || isText(word)) return null;
  const around = lineAround(text, run);
  if (around === null || isPublicBeside(around)) return null;
  const strength = strengthIn(around.sentence);
  if (strength === 'strong') return 'random text beside the word for a secret';
  if (strength === 'weak' && (isDrawn(word, SHORTEST_WEAK) || isHexDrawn(word, 24)))
    return isPublicLine(around) ? null : 'random text beside the word for a secret';
  if (isHexDrawn(word, 32) && isProse(around) && !OPEN_NAME.test(around.sentence))
    return isPublicLine(around) ? null : 'random text';
  return isDrawn(word, SHORTEST_ALONE) && !isPublicLine(around) ? 'random text' : null;
}

/** For a certificate, as Kubernetes names it. */
const REQUEST = /^node-csr-/;

/** `acme_live_` before a token says whose it is. What is shorter may be an id, which has such names too. */
function withoutNames(word: string): string {
  const rest = word.replace(/^(?:[A-Za-z][a-z]{1,15}[_-]){1,4}/, '');
  return rest !== word && !REQUEST.test(word) && isDrawn(rest, SHORTEST_NAMED) ? rest : word;
}

function isRandom(word: string): boolean {
  return isDrawn(word, SHORTEST) || (isHexDrawn(word, 16) && !word.includes('-'));
}

/** One of a credential was found before: such a name has another meaning here. */
const OPEN_NAME = /\b(?:keys?|tokens?|cookies?|sessions?|codes?)\b/i;

/** Words before and behind it, and nothing of code. */
function isProse({ line, at, end }: LineAround): boolean {
  const rest = `${line.slice(0, at)} ${line.slice(end)}`;
  return (
    !/[{}()[\];=<>]/.test(rest) && (rest.match(/(?<=^|\s)[A-Za-z][a-z]+(?=[\s,.:]|$)/g)?.length ?? 0) >= 3
  );
}

/** Words in base64: `encodedSecrets` looks into them. */
function isText(word: string): boolean {
  const text = Buffer.from(word, 'base64').toString('latin1');
  return /^[\t\n\r -~]+$/.test(text) && surpriseOf(text) < A_WORD;
}

/** Words with separators, subjects of certificates, requests for them, and addresses whose letters are written as codes. */
function isPath(word: string): boolean {
  if (/(?:^|[/,])(?:CN|OU?|DC|ST|L|C)=/.test(word) || REQUEST.test(word)) return true;
  const parts = word.split('/');
  if (parts.length > Math.max(4, word.length / 7) || /(?:%[0-9A-F]{2}){3}/i.test(word)) return true;
  return word.split(/[/_.-]/).some((part) => /^[A-Za-z]?[a-z]{5,}$/.test(part) && surpriseOf(part) < A_WORD);
}

/** Null in a long line. Looks no further than one, to either side. */
function lineAround(text: string, { start: from, end: to }: CharacterRun): LineAround | null {
  const left = text.slice(Math.max(0, from - 2 * LONGEST_LINE), from);
  const right = text.slice(to, to + 2 * LONGEST_LINE);
  const start = left.lastIndexOf('\n');
  const stop = right.indexOf('\n');
  const before = left.slice(start + 1);
  const behind = stop === -1 ? right : right.slice(0, stop);
  if (before.length + behind.length > LONGEST_LINE) return null;
  const [after = ''] = stop === -1 ? [] : right.slice(stop + 1).split('\n', 1);
  return {
    before: start === -1 ? '' : left.slice(left.lastIndexOf('\n', start - 1) + 1, start),
    line: before + text.slice(from, to) + behind,
    after,
    at: before.length,
    end: before.length + to - from,
    sentence: `${before.slice(before.search(/[^\s](?:(?![.!?]\s+\S).)*$/))} ${behind.split(/[.!?]\s+(?=\S)/, 1)[0]}`,
  };
}

function strengthIn(sentence: string): 'strong' | 'weak' | null {
  let found: 'weak' | null = null;
  for (const { strength } of credentialNames(sentence)) {
    if (strength === 'strong') return 'strong';
    found = 'weak';
  }
  return found;
}
