/**
 * The value that a text gives to a name: behind a sign of assignment, in an attribute, an element, a cell of a table, an
 * option, on a line of its own, or behind a verb. Each look is bounded.
 */

/** How the value is joined to its name: the looser, the more the value itself must say. */
export type Link = 'assigned' | 'said' | 'listed' | 'beside';

export interface AssignedValue {
  readonly value: string;
  readonly at: number;
  readonly link: Link;
  readonly isQuoted: boolean;
  /** Of one without quotes: up to the next blank. */
  readonly whole: string;
  /** What follows the value, up to a few signs. */
  readonly rest: string;
}

interface Place {
  readonly end: number;
  /** A name and a password may follow. */
  readonly isPair: boolean;
}

/** Quotes, brackets and marks that end behind the name. */
const CLOSERS = /(?:\\?["'`]|[)\]}]|\*{1,2}|_{1,2}(?!\w)|<\/[\w:.-]{1,40}>){0,5}/y;
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
const QUALIFIER =
  "(?:[ \\t]{1,4}\\([^()\\n]{1,40}\\)|[ \\t]{1,4}(?:of|for|on|in|at|to)(?:[ \\t]{1,4}[\\w.@'-]{1,40}){1,5}?)?";
const VERB =
  '(?:is|was|are|were|be|becomes?|became|equals|stays|remains|reads|has been|will be)(?:[ \\t]{1,4}(?:now|still|currently|again|always|just|simply|set to|changed to|reset to)){0,3}:?|(?:set|changed|reset|rotated)[ \\t]{1,4}to';
const QUALIFIED = new RegExp(`${QUALIFIER}[ \\t]{0,4}[:=][ \\t]{1,4}`, 'y');
const SAID = new RegExp(`${QUALIFIER}[ \\t]{1,4}(?:${VERB}|[-\\u2013\\u2014])[ \\t]{1,4}`, 'y');
/** Alone on one of the next two lines. */
const LINE =
  /:?[ \t]{0,4}(?:[|>][-+]?)?[ \t]{0,4}(?:\r?\n[ \t]{0,20}){1,2}(?:[-*+>][ \t]{1,4}|```\w{0,10}\r?\n)?(?=["'`]?[^\s"'`]{6,400}["'`]?,?[ \t]{0,4}(?:\r?\n|$))/y;
const COMMA = /[ \t]{0,4},[ \t]{0,8}(?=\\?["'`])/y;
const SPACE = /[ \t]{1,8}/y;

const OPENERS =
  /(?:(?:Bearer|Basic|Token|ApiKey)[ \t]{1,4})?(?:<!\[CDATA\[|[(*_]{1,3}(?=["'`\w])|[brfu@$](?=["'`]))?/iy;
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
  [COMMA, 'listed'],
  [SPACE, 'beside'],
];

/** `ops / `, `ops:`, `('ops', '`: who logs in comes first. */
const USER = /[([]?["'`]?[\w.@+-]{1,40}(?:[ \t]?\/[ \t]?|:|["'`],[ \t]?)/y;

/** Behind a blank only what these begin with is a value, a sign or a verb. */
const SENTENCE_GOES_ON =
  /[ \t](?!(?:of|for|on|in|at|to|is|was|are|were|be|becomes?|became|equals|stays|remains|reads|has|will|set|changed|reset|rotated)\b|\S{0,64}\d|[A-Za-z_*][\w.]{0,30}[ \t]{1,4}=)[A-Za-z]/y;

export function assignedValue(text: string, { end, isPair }: Place): AssignedValue | null {
  const after = end + lengthAt(CLOSERS, text, end);
  if (!isPair && lengthAt(SENTENCE_GOES_ON, text, after) > 0) return null;
  for (const [expression, link] of LINKS) {
    const length = lengthAt(expression, text, after);
    if (length === 0) continue;
    let start = after + length;
    start += lengthAt(OPENERS, text, start);
    const found = valueAt(text, isPair ? start + lengthAt(USER, text, start) : start);
    if (found !== null) return { ...found, link };
  }
  return null;
}

function valueAt(text: string, start: number): Omit<AssignedValue, 'link'> | null {
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
  const whole = all.replace(/&(?:[A-Za-z]\w{0,30}=|amp;).*$/, '');
  const value = whole.replace(/["'`<>|,;\\].*$/, '').replace(/[.:?)*_\]}]+$/, '');
  const end = start + value.length;
  return { value, whole, at: start, isQuoted: false, rest: text.slice(end, end + 24) };
}

function lengthAt(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.exec(text)?.[0].length ?? 0;
}
