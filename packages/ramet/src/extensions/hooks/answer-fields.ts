/** The fields of an answer, each read as what it has to be. */
import { isObject } from './hook-config.ts';

/** Longer texts are cut: what a hook says is told to a model. */
const MOST_CHARACTERS = 10_000;

/** Reads fields of a type, and collects what is wrong. */
export class Fields {
  readonly value: Record<string, unknown>;
  readonly problems: string[] = [];
  readonly #prefix: string;

  constructor(value: Record<string, unknown>, prefix: string) {
    this.value = value;
    this.#prefix = prefix;
  }

  text(name: string): string | undefined {
    const found = this.value[name];
    if (found === undefined || found === null) return undefined;
    if (typeof found === 'string') return cut(found);
    this.#wrong(name, 'no text');
    return undefined;
  }

  object(name: string): Record<string, unknown> | undefined {
    const found = this.value[name];
    if (found === undefined || found === null) return undefined;
    if (isObject(found)) return found;
    this.#wrong(name, 'no object');
    return undefined;
  }

  oneOf(name: string, words: readonly string[]): string | undefined {
    const found = this.value[name];
    // An object under `decision` is the answer to another question.
    if (found === undefined || found === null || isObject(found)) return undefined;
    if (typeof found === 'string' && words.includes(found)) return found;
    this.#wrong(name, `none of ${words.join(', ')}`);
    return undefined;
  }

  #wrong(name: string, what: string): void {
    this.problems.push(`${this.#prefix}${name} is ${what}`);
  }
}

export function cut(text: string): string {
  const whole = text.toWellFormed();
  if (whole.length <= MOST_CHARACTERS) return whole;
  return `${whole.slice(0, MOST_CHARACTERS).toWellFormed()}\n[cut: ${whole.length} characters in all]`;
}
