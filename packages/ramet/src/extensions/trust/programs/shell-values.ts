/** What the variables of scripts hold that load each other, whichever part of them runs first. */
import type { LooseScript } from '../../../permission/shell/loose-script.ts';
import { plainSource } from '../../../permission/shell/loose-word.ts';
import type { ScriptWord } from '../../../permission/shell/script-words.ts';

type ShellValue = LooseScript['variables'][number];

/** A value may be made of others. */
const ROUNDS = 2;
/** One that has more values, or is made of more variables, is not known. */
const MOST_VALUES = 16;
const MOST_NAMES = 12;

export class ShellValues {
  readonly #all = new Map<string, Map<string, ShellValue>>();

  constructor(given: readonly ShellValue[]) {
    for (const one of given) this.#add(one);
  }

  /** Those that a word can be made of. */
  for(source: string): readonly ShellValue[] {
    const names = new Set(namesIn(source));
    const found: ShellValue[] = [];
    for (const name of names) {
      const values = [...(this.#all.get(name)?.values() ?? [])];
      if (values.length > MOST_VALUES || names.size > MOST_NAMES) {
        found.push({ name, value: null });
        continue;
      }
      found.push(...values);
      for (const one of values) for (const inner of namesIn(one.source ?? '')) names.add(inner);
    }
    return found;
  }

  /** Whether one may hold more than can be told: of `SOURCE=$(readlink "$SOURCE")` only what it was before is known. */
  learn({ variables }: LooseScript): boolean {
    const isOfItself = ({ name, source = '' }: ShellValue): boolean => namesIn(source).includes(name);
    const others = new Set(variables.filter((one) => !isOfItself(one)).map(({ name }) => name));
    const changed = variables.filter(isOfItself);
    for (const one of variables)
      if (!others.has(one.name) || !isOfItself(one))
        this.#add(one.source === undefined ? one : { ...one, source: plainSource(one.source) });
    return changed.some(({ name }) => name !== 'PATH');
  }

  #add(one: ShellValue): void {
    const values = this.#all.get(one.name) ?? new Map<string, ShellValue>();
    if (values.size <= MOST_VALUES) values.set(JSON.stringify(one), one);
    this.#all.set(one.name, values);
  }

  /** One that is known is worked out once: each word would go all the way to it otherwise. */
  settle(word: (source: string) => ScriptWord): void {
    for (let round = 0; round < ROUNDS; round++)
      for (const [name, values] of [...this.#all]) {
        this.#all.set(name, new Map());
        const before = [...values.values()];
        // What it is made of may be itself.
        const known = before.flatMap((one): ShellValue[] => {
          if (one.value !== null || one.source === undefined) return [one];
          const { texts, open } = word(one.source);
          return open === 'unknown' ? [one] : texts.map((value) => ({ name, value }));
        });
        for (const one of known) this.#add(one);
      }
  }
}

function namesIn(source: string): string[] {
  return Array.from(source.matchAll(/\$\{?([A-Za-z_]\w*)/g), ([, name = '']) => name);
}
