/**
 * Text of others, made fit to stand inside the engine's own elements: it can neither open nor close one of them. Only
 * the `<` before such a name is replaced, so code and ordinary markup stay as they are.
 *
 * A model reads what a tag looks like, not its code points. So a name is recognised by its letters alone: without
 * case, accents, invisible characters and blanks, and with look-alikes from other alphabets.
 */
import {
  AGENT_MESSAGE,
  ENVIRONMENT,
  FORK_TASK,
  MEMORY_NOTES,
  PROJECT_INSTRUCTIONS,
  TASK_NOTIFICATION,
} from '../schema/content.ts';

const MARKED: readonly string[] = [TASK_NOTIFICATION, AGENT_MESSAGE, FORK_TASK.slice(1, -1)];
/** Around text that a folder provides: that text must not contain the end tag. */
const AROUND_FOLDERS: readonly string[] = [PROJECT_INSTRUCTIONS, ENVIRONMENT, MEMORY_NOTES];

/**
 * The elements in which the engine itself speaks to a model, and those that models take for their user's or a host's words.
 * The whole name counts: `<teams>` and `<userName>` are other people's markup.
 */
const SPOKEN: readonly string[] = [
  ...[...AROUND_FOLDERS, 'agent-types', 'mcp-servers', 'hook-context', 'hook-feedback', 'attached-resource'],
  ...[
    'team',
    'team-now',
    'teammate',
    'task-text',
    'coordinator',
    'coordinator-now',
    'worker',
    'operator',
    'worktree',
  ],
  ...['sub-agent', 'your-part', 'check-output', 'skill', 'user', 'system', 'system-reminder'],
  ...['user-command', 'user-command-output', 'attached-file'],
].map((name) => `${name}>`);

const OPENERS = /[<\uff1c\ufe64\u2039\u3008\u27e8\u02c2\u1438]/g;
const DASH = /^[\p{Pd}\u02d7\u2043\u2212]$/u;
/** What follows the name of a tag; also where the text ends. */
const END_OF_NAME = /^(?:[\s>/\\\uff1e\ufe65\u203a\u3009\u27e9]|$)/;
const INVISIBLE = /^[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\s\u2800]$/u;

const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  [
    'aаαɑᴀ',
    'eеεᴇ',
    'fƒꜰ',
    'gɡɢ',
    'iіıιⅰɪ',
    'kкκᴋ',
    'mмᴍ',
    'nпηոɴ',
    'oоοօᴏ',
    'pрρᴘ',
    'dԁᴅ',
    'vνᴠ',
    'wԝᴡ',
    'yуʏ',
    'rгᴦʀ',
    'sѕꜱ',
    'tтτᴛ',
    'cсϲᴄ',
    'uυսᴜ',
    'hһհʜ',
    'lӏʟ',
    ...['bʙ', 'jᴊ', 'zᴢ'],
    '/∕⁄\\',
  ].flatMap(([letter = '', ...others]) => others.map((other): [string, string] => [other, letter])),
);

/** Capitals whose small letters look otherwise. */
const CAPITALS: ReadonlyMap<string, string> = new Map([
  ...(['Ν', 'Ɲ'] as const).map((capital): [string, string] => [capital, 'n']),
  ...(['Η', 'Н', 'Ꮋ'] as const).map((capital): [string, string] => [capital, 'h']),
]);

/**
 * Takes the engine's own elements out of `text`, and those named in `also`: `/result` is the end of `<result>`, and of
 * `user>` the whole name counts, where others count from their beginning on.
 */
export function quoteText(text: string, also: readonly string[] = []): string {
  const names = [...MARKED, ...also];
  return text.replace(OPENERS, (opener, at: number) => (standsBefore(text, at + 1, names) ? '&lt;' : opener));
}

/** What another agent, or someone outside, says: it cannot pass for the engine or for the user. */
export function quoteMessage(text: string): string {
  return quoteText(text, SPOKEN);
}

/** Text of a folder, such as its instructions: it cannot end the element around it, nor look like one of ours. */
export function quoteFolderText(text: string): string {
  return quoteText(text, AROUND_FOLDERS);
}

/** A name of a folder's, such as a branch or a file, on one line. */
export function quoteFolderName(name: string): string {
  return quoteFolderText(isPlain(name) ? name : name.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '));
}

/**
 * Puts `instead` wherever something looks like `phrase`, which is written in small Latin letters without blanks. Blanks, dashes
 * and the signs of Markdown between its letters do not count, and a letter may be a character reference (`&#111;`).
 */
export function replaceLookalike(text: string, phrase: string, instead: string): string {
  let letters = '';
  const places: { start: number; end: number }[] = [];
  for (let at = 0; at < text.length; ) {
    const reference = text[at] === '&' ? referenceAt(text, at) : null;
    const character = reference?.character ?? String.fromCodePoint(text.codePointAt(at) ?? 0);
    const end = reference?.end ?? at + character.length;
    const found = /^[_*\\-]?$/.test(character) ? '' : lettersOf(character).replace('-', '');
    for (const _ of found) places.push({ start: at, end });
    letters += found;
    at = end;
  }
  let [changed, rest] = ['', 0];
  for (let at = letters.indexOf(phrase); at !== -1; at = letters.indexOf(phrase, at + phrase.length)) {
    changed += text.slice(rest, places[at]?.start) + instead;
    rest = places[at + phrase.length - 1]?.end ?? text.length;
  }
  return changed + text.slice(rest);
}

const REFERENCE = /&(?:#(\d{1,8})|#x([0-9a-f]{1,8})|([a-z][a-z0-9]{1,31}));/iy;
/** Names of letters begin with the letter: `&oacute;`, `&omicron;`, `&ocy;`. */
const NAMED_LETTER =
  /^([a-z])(?:acute|grave|uml|circ|tilde|cedil|ring|slash|caron|macr|breve|dot|ogon|fr|opf|scr|cy|micron|psilon|ota|ho|u)$/i;

/** A character reference of HTML and Markdown; empty for one that is no letter. */
function referenceAt(text: string, at: number): { character: string; end: number } | null {
  REFERENCE.lastIndex = at;
  const [all, decimal, hex, name = ''] = REFERENCE.exec(text) ?? [];
  if (all === undefined) return null;
  const code = Number.parseInt(decimal ?? hex ?? '0', decimal === undefined ? 16 : 10);
  const isCode = name === '' && code > 0 && code <= 0x10ffff;
  const character = isCode ? String.fromCodePoint(code) : (NAMED_LETTER.exec(name)?.[1] ?? '');
  return { character, end: at + all.length };
}

/** A value inside an element of ours, on one line: readable, but it can neither open nor close one of `elements`. */
export function quoteValue(text: string, elements: readonly string[] = []): string {
  return quoteText(onOneLine(text), elements);
}

/** A value inside an attribute of ours: no markup at all, on one line. */
export function quoteAttribute(text: string): string {
  return onOneLine(text).replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
}

/** A pattern that knows all characters takes half a millisecond to compile, and few texts need it. */
function isPlain(text: string): boolean {
  return !/[^ -~]/.test(text);
}

function onOneLine(text: string): string {
  if (isPlain(text) && !/ {2}|^ | $/.test(text)) return text;
  return text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Whether what is written from `start` on looks like one of the names. Every step goes forward: no text is slow. */
function standsBefore(text: string, start: number, names: readonly string[]): boolean {
  let seen = '';
  for (let at = start; at < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    at += character.length;
    seen = join(seen, lettersOf(character));
    const rest = seen.replace(/^\/+/, '');
    if (names.some((name) => (name.startsWith('/') ? seen : rest).startsWith(name))) return true;
    if (END_OF_NAME.test(text.slice(at, at + 1)) && names.includes(`${rest}>`)) return true;
    if (!names.some((name) => name.startsWith(name.startsWith('/') ? seen : rest))) return false;
  }
  return false;
}

/** Several dashes or slashes in a row count once. */
function join(seen: string, letters: string): string {
  return (letters === '-' || letters === '/') && seen.endsWith(letters) ? seen : seen + letters;
}

/** What is left of a text for who reads letters and digits alone: small Latin letters for what looks like them. */
export function plainLetters(text: string): string {
  // Most text is no other, and a pattern that knows all characters is slow.
  if (!/[^\n -~]/.test(text)) return text.toLowerCase().replace(/[^a-z0-9]+/g, '');
  const found = Array.from(text, (character) => {
    return /^\p{Nd}$/u.test(character) ? character.normalize('NFKC') : lettersOf(character);
  });
  return found.join('').replace(/[^a-z\p{Nd}]+/gu, '');
}

/** Where the letters A to Z stand once more, white on black or as signs of flags: for Unicode none of them is a letter. */
const ENCLOSED: readonly number[] = [0x1f150, 0x1f170, 0x1f1e6];

function enclosedLetter(character: string): string | undefined {
  const code = character.codePointAt(0) ?? 0;
  const first = ENCLOSED.find((start) => code >= start && code < start + 26);
  return first === undefined ? undefined : String.fromCharCode(0x61 + code - first);
}

/** What a character looks like: small Latin letters, `-`, `/`, nothing, or a sign that no name has. */
function lettersOf(character: string): string {
  if (/^[a-z/]$/.test(character)) return character;
  const other = CAPITALS.get(character) ?? enclosedLetter(character);
  if (other !== undefined) return other;
  const letters = [...character.normalize('NFKD').toLowerCase()].map(partOf).join('');
  return letters === '' || /^(?:[a-z]+|[-/])$/.test(letters) ? letters : '\0';
}

function partOf(part: string): string {
  if (INVISIBLE.test(part)) return '';
  return DASH.test(part) ? '-' : (LOOKALIKES.get(part) ?? part);
}
