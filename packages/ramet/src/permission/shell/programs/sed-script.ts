/** Does a sed script only print? It can also write files (`w`), run commands (`e`) and read others (`r`, harmless). */
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/I?)`;
const PREFIX = new RegExp(String.raw`^${ADDRESS}?(?:,[+~]?${ADDRESS})?\s*!?\s*`);
const PRINTING = /^[pdqQ=nNgGhHxDPlzF{}]\s*/;

export function sedOnlyPrints(script: string): boolean {
  let rest = script.trimStart();
  while (rest !== '') {
    const separator = /^[;\s]+/.exec(rest);
    if (separator !== null) {
      rest = rest.slice(separator[0].length);
      continue;
    }
    rest = rest.slice(PREFIX.exec(rest)?.[0].length ?? 0);
    const length =
      rest[0] === 's' || rest[0] === 'y' ? substitution(rest) : (PRINTING.exec(rest)?.[0].length ?? 0);
    if (length === 0) return false;
    const opens = rest[0] === '{';
    rest = rest.slice(length);
    if (!opens && rest !== '' && !/^[;\s}pdq{=]/.test(rest)) return false;
  }
  return true;
}

/** Length of `s/a/b/flags` with harmless flags; 0 when it is anything else. */
function substitution(text: string): number {
  const delimiter = text[1];
  if (delimiter === undefined || /[\s\\\w]/.test(delimiter)) return 0;
  const part = `(?:[^\\\\${delimiter === ']' || delimiter === '^' || delimiter === '-' ? `\\${delimiter}` : delimiter}]|\\\\.)*`;
  const quoted = RegExp.escape(delimiter);
  const match = new RegExp(`^[sy]${quoted}${part}${quoted}${part}${quoted}([gpiIM0-9]*)`, 's').exec(text);
  // Some sed take a delimiter between brackets for a character, others do not.
  if (match === null || /\[[^\]]*$/.test(match[0].slice(2).split(delimiter)[0] ?? '')) return 0;
  return match[0].length;
}
