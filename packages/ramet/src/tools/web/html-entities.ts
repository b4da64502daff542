/** Character references of HTML: numbers, Latin-1 by name, and the names that ordinary pages use beside it. */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute ' +
  'micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig ' +
  'Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash ' +
  'Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ' +
  'ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc ' +
  'uuml yacute thorn yuml';

const NAMED: ReadonlyMap<string, string> = new Map([
  ...LATIN_1.split(' ').map((name, index) => [name, String.fromCodePoint(160 + index)] as const),
  ...Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    hellip: '…',
    mdash: '—',
    ndash: '–',
    lsquo: '‘',
    rsquo: '’',
    ldquo: '“',
    rdquo: '”',
    bull: '•',
    trade: '™',
    euro: '€',
    larr: '←',
    rarr: '→',
    uarr: '↑',
    darr: '↓',
    le: '≤',
    ge: '≥',
    ne: '≠',
    infin: '∞',
    minus: '−',
    ensp: ' ',
    emsp: ' ',
    thinsp: ' ',
    zwj: '',
    zwnj: '',
    lbrace: '{',
    rbrace: '}',
    lbrack: '[',
    rbrack: ']',
    lpar: '(',
    rpar: ')',
    num: '#',
    grave: '`',
    lowbar: '_',
    vert: '|',
    colon: ':',
    period: '.',
    comma: ',',
    excl: '!',
    quest: '?',
    equals: '=',
    plus: '+',
    check: '✓',
  }),
]);

export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#x([0-9a-f]{1,8})|#(\d{1,8})|([a-z][a-z0-9]{1,31}));?/gi,
    (whole, hex, decimal, name) => {
      if (name !== undefined) return NAMED.get(name) ?? whole;
      return characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    },
  );
}

function characterOf(code: number): string {
  const valid = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return valid ? String.fromCodePoint(code) : '\ufffd';
}
