/**
 * Whether the imports of a text in Python can be read. Where they cannot, only the running program knows what it loads: it is
 * written in another encoding or with letters of others, changes where Python looks, or works out a name.
 */

const CODING = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/;
/** What is read as UTF-8 says the same then. */
const READABLE = /^(?:utf[-_]?8(?:[-_]sig)?|(?:us-)?ascii)$/i;
const COMMENT = /^[ \t\f]*#[^\n"'\\]*$/gm;
const STATEMENT = /(?:^|[;:\n])[ \t\f]*((?:lazy[ \t\f]+)?(?:import|from)\b[^\n#;]*)/g;
const FOREIGN = /\P{ASCII}/u;
const COMPUTES =
  /\b(?:importlib|__import__|import_module|runpy|pkgutil|zipimport|addsitedir|meta_path|path_hooks|__path__|builtins|__builtins__|execfile)\b|\bimp\.load_|(?<![\w.])(?:exec|eval)\s*\(|\bsys\s*\.\s*path\b|\bsys\s+as\b|\bfrom[ \t\f]+sys[ \t\f]+import\b|[(,=[]\s*sys\s*(?:[,)\]\n;]|$)|\bPYTHONPATH\b/;

/** No module by which code reaches the rest. */
const QUOTED = '(["\'])(?!(?:sys|builtins|importlib|runpy|pkgutil)\\b)[A-Za-z_][\\w.]*\\1';
const ENDS = '[ \\t]*(?=$|[;#])';
const HARMLESS = '(?:argv|exit|executable|platform|stderr|stdin|stdout|version_info)';
/** Forms that say it all: a name that is followed. */
const NAMED = new RegExp(
  [
    // By its own name, which stands again where it is used.
    `(?:^|;)[ \\t]*import[ \\t]+[\\w.]+(?:,[ \\t]*[\\w.]+)*${ENDS}`,
    `(?:^|;)[ \\t]*from[ \\t]+sys[ \\t]+import[ \\t]+${HARMLESS}(?:,[ \\t]*${HARMLESS})*${ENDS}`,
    '^[ \\t]*from[ \\t]+importlib[ \\t]+import[ \\t]+(?:import_module|metadata)[ \\t]*$',
    `(?:\\b__import__|\\bimport_module|\\bimportlib\\.(?:import_module|util\\.find_spec|metadata\\.version))\\([ \\t]*${QUOTED}[ \\t]*\\)`,
  ].join('|'),
  'gm',
);
const ITSELF = 'os\\.path\\.(?:abspath|realpath)\\(__file__\\)|__file__';
/** The folder of the file itself, where Python looks for what it runs anyway. */
const OWN_PLACE = new RegExp(
  `\\bsys\\.path\\.(?:insert\\([ ]?0, ?|append\\()(?:str\\((?:pathlib\\.)?Path\\(__file__\\)(?:\\.(?:resolve|absolute)\\(\\))?\\.parent\\)|os\\.path\\.dirname\\((?:${ITSELF})\\))\\)[ \\t]*(?=$|[;#])`,
  'gm',
);

/** `isPlace`: Python looks in its folder. */
export function hasOpenImports(text: string, isPlace: boolean): boolean {
  const lines = text.replace(/\r\n/g, '\n');
  const codings = lines.split('\n', 2).map((line) => CODING.exec(line)?.[1] ?? 'utf-8');
  if (/[\r\0]/.test(lines) || !codings.every((one) => READABLE.test(one))) return true;
  const code = lines.replace(COMMENT, '');
  const known = code.replace(NAMED, ' ');
  return COMPUTES.test(isPlace ? known.replace(OWN_PLACE, ' ') : known) || hasForeignNames(code);
}

/** Python takes some letters for others. */
function hasForeignNames(code: string): boolean {
  return Array.from(code.replace(/\\\n/g, ' ').matchAll(STATEMENT), ([, one = '']) => one).some(
    (one) => /\bimport\b/.test(one) && FOREIGN.test(one),
  );
}
