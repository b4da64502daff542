/** Values that a text gives its variables in plain words: `X=a`, `export X='a b'`, `for X in a b`, `read X <<< 'a b'`. */

const QUOTED = String.raw`'[^']*'|"(?:[^"\\$\x60]|\\.)*"|\$'[^'\\]*'`;
const PLAIN = String.raw`(?:${QUOTED}|[^\s;&|()<>'"$\x60\\])+`;
const ASSIGNS = new RegExp(String.raw`(?<![\w$./-])([A-Za-z_]\w*)\+?=(${PLAIN})`, 'g');
const LOOPS = /(?<![\w$./-])(?:for|select)\s+([A-Za-z_]\w*)\s+in\s+([^;\n]*)/g;
const READS = new RegExp(String.raw`(?<![\w$./-])read\b([^;&|\n<]*)<<<\s*(${PLAIN})`, 'g');
const PRINTF = new RegExp(
  String.raw`(?<![\w$./-])printf\s+-v\s*([A-Za-z_]\w*)\s+(?:['"]?%[sb]['"]?\s+)?(${PLAIN})`,
  'g',
);
const NAME = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

export type SpelledValues = ReadonlyMap<string, ReadonlySet<string>>;

const MOST = 100;

export function valuesIn(text: string): SpelledValues {
  const all = new Map<string, Set<string>>();
  const add = (name: string, value: string): void => {
    const known = all.get(name) ?? new Set();
    if (known.size < MOST) all.set(name, known.add(value));
  };
  for (const [, name = '', value = ''] of text.matchAll(ASSIGNS)) add(name, bare(value));
  for (const [, name = '', value = ''] of text.matchAll(PRINTF)) add(name, bare(value));
  for (const [, name = '', list = ''] of text.matchAll(LOOPS))
    for (const [word] of list.matchAll(new RegExp(PLAIN, 'g'))) add(name, bare(word));
  for (const [, names = '', value = ''] of text.matchAll(READS))
    for (const name of names.split(/\s+/).filter((one) => /^[A-Za-z_]\w*$/.test(one)))
      for (const one of [bare(value), ...bare(value).split(/\s+/)]) add(name, one);
  return all;
}

function bare(word: string): string {
  return word.replace(/^\$(?=')/, '').replace(/["']/g, '');
}

/** With each value that a variable in it has; null without one, and for more than are tried. */
export function withValues(word: string, values: SpelledValues): string[] | null {
  const names = [...new Set(Array.from(word.matchAll(NAME), ([, braced, plain]) => braced ?? plain ?? ''))];
  const known = names.filter((name) => values.has(name));
  if (known.length === 0) return null;
  let made = [word];
  for (const name of known) {
    const given = [...(values.get(name) ?? [])];
    if (made.length * given.length > MOST) return null;
    const here = new RegExp(String.raw`\$(?:\{${name}\}|${name}(?!\w))`, 'g');
    made = made.flatMap((one) => given.map((value) => one.replace(here, () => value)));
  }
  return made;
}
