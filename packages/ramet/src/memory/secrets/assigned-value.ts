/**
 * The value that a text gives to a name: behind a sign of assignment, in an attribute, an element, a cell of a table, an
 * option, on a line of its own, or behind a verb. Each look is bounded.
 */

import { ADVERBS, FROM, PREPOSITIONS, TO, VERBS } from './sentence-words.ts';

/** How the value is joined to its name: the looser, the more the value itself must say. `far`: with words between. */
export type Link = 'assigned' | 'called' | 'said' | 'far' | 'listed' | 'beside';

export interface AssignedValue {
  readonly value: string;
  readonly at: number;
  readonly link: Link;
  readonly isQuoted: boolean;
  /** Of one without quotes: up to the next blank. */
  readonly whole: string;
  /** What follows the value, up to a few signs. */
  readonly rest: string;
  /** Who logs in stands before it. */
  readonly hasUser: boolean;
}

interface Place {
  readonly at: number;
  readonly end: number;
  /** A name and a password may follow. */
  readonly isPair: boolean;
  /** Of a password more is said: words may stand between it and its value. */
  readonly isTold: boolean;
}

/** Quotes, brackets and marks that end behind the name. */
const CLOSERS = /(?:\\?["'`](?!s[ \t])|[)\]}]|\*{1,2}|_{1,2}(?!\w)|<\/[\w:.-]{1,40}>){0,5}/y;
const BREAK = '(?:[ \\t]{0,8}(?:\\r?\\n[ \\t]{0,40})?)';
/** `: string =`, ` string =`. */
const TYPED =
  /(?:[ \t]{0,4}:[ \t]{0,4}[A-Za-z_][\w.]{0,30}(?:<[\w ,<>']{1,40}>|\[\]|\?)?(?:[ \t]?\|[ \t]?(?:null|undefined|None))?[ \t]{0,4}|[ \t]{1,4}[A-Za-z_*][\w.]{0,30}[ \t]{1,4})=[ \t]{0,8}(?=["'`])/y;
/** `" value="`, `", "value": "`, a line further `value: `, `<value>`. */
const ATTRIBUTE = new RegExp(
  `\\s{0,4}[,;{]?${BREAK}[<"']{0,3}\\\\?"?(?:value|val|default|content|string)\\\\?["']?[ \\t]{0,4}[:=>]{1,2}[ \\t]{0,8}`,
  'iy',
);
const ASSIGNED = new RegExp(
  `[ \\t]{0,8}(?:(?::=|=>|={1,3}|::?(?:\\*{1,2}|_{1,2})?|[\\uff1a\\uff1d])${BREAK}|(?:[?+]=|->|\\?\\?=?|\\|\\|=?|[|\\u2192\\u21d2])[ \\t]{0,8})`,
  'y',
);
const ELEMENT = />(?=[^\s<>=])/y;
const WORD = "[ \\t]{1,4}[\\w.@'\\u2019\\u00c0-\\u024f-]{1,40}";
const QUALIFIER = `(?:[ \\t]{1,4}\\([^()\\n]{1,40}\\)|[ \\t]{1,4}(?:(?:${PREPOSITIONS})(?:${WORD}){1,5}?|d['\u2019][\\w-]{1,40}))?`;
const VERB = `(?:${VERBS}|has been|will be|wurde auf)(?:[ \\t]{1,4}(?:${ADVERBS}|set to|changed to|reset to|auf)){0,3}:?|(?:set|changed|moved|reset|rotated)[ \\t]{1,4}(?:(?:${FROM})${WORD}[ \\t]{1,4})?(?:${TO})`;
const SAYS = `(?:[ \\t]{1,4}(?:${VERB}|[-\\u2013\\u2014])|['\u2019]s(?:[ \\t]{1,4}now)?)[ \\t]{1,4}`;
const QUALIFIED = new RegExp(`${QUALIFIER}[ \\t]{0,4}[:=\uff1a][ \\t]{1,4}`, 'y');
const SAID = new RegExp(QUALIFIER + SAYS, 'iy');
/** "the wifi password upstairs is X". */
const FAR = new RegExp(`(?:${WORD}){1,4}?[ \\t]{1,4}(?:${VERB})[ \\t]{1,4}`, 'iy');
/** "changed the password from X to Y": what it was is a secret too, for a while. */
const CHANGED = new RegExp(
  `${QUALIFIER}[ \\t]{1,4}(?:${FROM})[ \\t]{1,4}(?=\\S{4,100}[ \\t]{1,4}(?:${TO})[ \\t])`,
  'iy',
);
const CHANGED_TO = new RegExp(
  `${QUALIFIER}[ \\t]{1,4}(?:${FROM})${WORD}[ \\t]{1,4}(?:${TO})[ \\t]{1,4}`,
  'iy',
);
/** "the master password, X, is in the safe", "the root password (X) works". */
const APPOSED = /[ \t]{0,2},[ \t]{1,2}(?=\S{6,64},[ \t])|[ \t]{1,2}\((?=\S{6,64}\)(?:\s|[.,;:]|$))/y;
/** "I reset the password: the new one is X", "..., it is now X". */
const TOLD_AFTER = new RegExp(
  `[^\\n.]{0,60}?[,;:.(][ \\t]{1,2}(?:and[ \\t])?(?:it(?=['\u2019 ])|(?:the[ \\t])?(?:new|old|right|correct|current)[ \\t]one)${SAYS}`,
  'iy',
);
/** `setPassword("`, `PASSWORD('`: only strings. */
const CALLED = /[ \t]{0,2}\([ \t]{0,4}(?=["'`])/y;
/** The row of values behind the columns of a table in SQL, and one value of it. */
const ROW = /[^()\n]{0,120}\)\s{1,8}VALUES\s{0,8}\(\s{0,8}/iy;
const CELL = /(?:'[^'\n]{0,80}'|"[^"\n]{0,80}"|[^,()'"\n]{1,40}),\s{0,8}/y;
/** Alone on one of the next two lines. */
const LINE =
  /:?[ \t]{0,4}(?:[|>][-+]?)?[ \t]{0,4}(?:\r?\n[ \t]{0,20}){1,2}(?:[-*+>][ \t]{1,4}|```\w{0,10}\r?\n)?(?=["'`]?[^\s"'`]{6,400}["'`]?,?[ \t]{0,4}(?:\r?\n|$))/y;
/** `'generateKey' | 'importJWK'`: types, and no cells of a table. */
const UNION = /["'][ \t]{0,4}\|[ \t]{0,4}["']/y;
const COMMA = /[ \t]{0,4},[ \t]{0,8}(?=\\?["'`])/y;
const SPACE = /[ \t]{1,8}/y;

const OPENERS =
  /(?:(?:Bearer|Basic|Token|ApiKey|!{1,2}[a-z]{2,10})[ \t]{1,4})?(?:<!\[CDATA\[|[(*_]{1,3}(?=["'`\w])|[brfu@$](?=["'`]))?/iy;
const QUOTED = /\\?(?:"([^"\s\\]{4,400})|'([^'\s\\]{4,400})|`([^`\s\\]{4,400}))\\?["'`]/y;
const WHOLE = /[^\s"'`]\S{3,400}/y;

/** The first that has a value. */
const LINKS: readonly (readonly [RegExp, Link])[] = [
  [TYPED, 'assigned'],
  [ATTRIBUTE, 'assigned'],
  [ELEMENT, 'assigned'],
  [LINE, 'assigned'],
  [ASSIGNED, 'assigned'],
  [QUALIFIED, 'assigned'],
  [SAID, 'said'],
  [CALLED, 'called'],
  [COMMA, 'listed'],
  [SPACE, 'beside'],
];
/** Of passwords only. */
const TOLD: readonly (readonly [RegExp, Link])[] = [
  [CHANGED, 'said'],
  [CHANGED_TO, 'said'],
  [APPOSED, 'said'],
  [FAR, 'far'],
  [TOLD_AFTER, 'said'],
];

/** `ops / `, `ops:`, `('ops', '`: who logs in comes first. */
const USER = /[([]?["'`]?[\w.@+-]{1,40}(?:[ \t]?\/[ \t]?|:(?!:)|["'`],[ \t]?)/y;

/** Behind a blank only what these begin with is a value, a sign or a verb. */
const SENTENCE_GOES_ON = new RegExp(
  `[ \\t](?!(?:${PREPOSITIONS}|${VERBS}|has|will|wurde|set|changed|moved|reset|rotated|d['\u2019])(?![\\w\u00c0-\u024f])|\\S{0,64}\\d|[A-Za-z_*][\\w.]{0,30}[ \\t]{1,4}=)[A-Za-z\u00c0-\u024f]`,
  'iy',
);

/** All that a text may give to a name, the closest first. */
export function* assignedValues(text: string, { at, end, isPair, isTold }: Place): Generator<AssignedValue> {
  const after = end + lengthAt(CLOSERS, text, end);
  if (lengthAt(UNION, text, end) > 0) return;
  if (isPair || lengthAt(SENTENCE_GOES_ON, text, after) === 0) {
    const near = firstOf(LINKS, text, after, isPair);
    if (near !== null) yield near;
  }
  if (!isTold) return;
  for (const link of TOLD) {
    const told = firstOf([link], text, after, false);
    if (told !== null) yield told;
  }
  const cell = rowStart(text, at, end);
  const found = cell === null ? null : valueAt(text, cell);
  if (found?.isQuoted) yield { ...found, link: 'called', hasUser: false };
}

/** Where the value of a column begins: behind as many others as there are columns before it. */
function rowStart(text: string, at: number, end: number): number | null {
  const length = lengthAt(ROW, text, end);
  if (length === 0) return null;
  const columns =
    text
      .slice(Math.max(0, at - 200), at)
      .split('(')
      .at(-1)
      ?.split(',').length ?? 1;
  let start = end + length;
  for (let column = 1; column < Math.min(columns, 20); column++) {
    const cell = lengthAt(CELL, text, start);
    if (cell === 0) return null;
    start += cell;
  }
  return start;
}

function firstOf(
  links: readonly (readonly [RegExp, Link])[],
  text: string,
  after: number,
  isPair: boolean,
): AssignedValue | null {
  for (const [expression, link] of links) {
    const length = lengthAt(expression, text, after);
    if (length === 0) continue;
    let start = after + length;
    start += lengthAt(OPENERS, text, start);
    const user = isPair ? lengthAt(USER, text, start) : 0;
    const found = valueAt(text, start + user);
    if (found !== null) return { ...found, link, hasUser: user > 0 };
  }
  return null;
}

function valueAt(text: string, start: number): Omit<AssignedValue, 'link' | 'hasUser'> | null {
  QUOTED.lastIndex = start;
  const quoted = QUOTED.exec(text);
  if (quoted !== null) {
    const value = quoted[1] ?? quoted[2] ?? quoted[3] ?? '';
    const end = start + quoted[0].length;
    const at = start + quoted[0].indexOf(value);
    return { value, whole: value, at, isQuoted: true, rest: text.slice(end, end + 24) };
  }
  WHOLE.lastIndex = start;
  const [all] = WHOLE.exec(text) ?? [];
  if (all === undefined) return null;
  const whole = all.replace(
    /&(?:[A-Za-z]\w{0,30}=|amp;).*$|[\u3000-\u9fff\uac00-\ud7af\uff01-\uff60].*$/,
    '',
  );
  if (whole.length < 4) return null;
  const value = whole.replace(/["'`<>|,;\\].*$/, '').replace(/[.:?)*_\]}]+$/, '');
  const end = start + value.length;
  return { value, whole, at: start, isQuoted: false, rest: text.slice(end, end + 24) };
}

function lengthAt(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.exec(text)?.[0].length ?? 0;
}
