/**
 * Dependencies that a file draws apart from its tasks: the waves of a JSON block, arrows (`T1 --> T2`), and the block
 * `- phase 1: #4301` / `- #4303 requires: #4301`.
 */
import { readIdList } from '../id-list.ts';
import type { TaskReference } from '../listed-task.ts';

export interface Wave {
  references: TaskReference[];
  /** The line where the wave begins. */
  line: number;
}

export interface DrawnEdge {
  /** Who waits, and for whom. */
  subjects: TaskReference[];
  objects: TaskReference[];
}

/** Null if the block draws no waves; a message if it tries to. `first` is the line of the first line of the block. */
export function readWaves(block: readonly string[], first: number): Wave[] | string | null {
  const text = block.join('\n');
  if (!/["']?waves["']?\s{0,3}:/.test(text)) return null;
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/,(\s*[\]}])/g, '$1'));
  } catch {
    return 'the waves are no valid JSON: write {"waves": [{"id": 0, "tasks": ["1.1"]}]}';
  }
  const waves = fieldOf(value, 'waves');
  if (!Array.isArray(waves)) return '"waves" is no list: write {"waves": [{"id": 0, "tasks": ["1.1"]}]}';
  const places = new IdPlaces(block, first);
  return waves.map((wave: unknown) => {
    const tasks = Array.isArray(wave) ? wave : fieldOf(wave, 'tasks');
    const ids = Array.isArray(tasks) ? tasks.map(idOf).filter((id) => id !== null) : [];
    const references = ids.map((id) => ({ id, ...places.next(id) }));
    return { references, line: references[0]?.line ?? first };
  });
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function idOf(value: unknown): string | null {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number') return String(value);
  const id = fieldOf(value, 'id');
  return typeof id === 'string' || typeof id === 'number' ? String(id) : null;
}

/** Finds ids in the order in which they are in the block. */
class IdPlaces {
  readonly #block: readonly string[];
  readonly #first: number;
  #row = 0;
  #column = 0;

  constructor(block: readonly string[], first: number) {
    this.#block = block;
    this.#first = first;
  }

  next(id: string): { line: number; column: number } {
    for (let row = this.#row, from = this.#column; row < this.#block.length; row++, from = 0) {
      const text = this.#block[row] ?? '';
      const list = row === this.#row ? from : Math.max(0, text.indexOf('[', from));
      const quoted = text.indexOf(`"${id}"`, list);
      const at = quoted !== -1 ? quoted + 1 : text.indexOf(id, list);
      if (at === -1) continue;
      this.#row = row;
      this.#column = at + id.length;
      return { line: this.#first + row, column: at + 1 };
    }
    return { line: this.#first, column: 1 };
  }
}

const ARROW = /\s*(?:[-=\u2500]{1,3}>|\u2192|\u21d2|\u2794)\s*(?:\|[^|]{0,40}\|\s*)?/;

/** `T1 --> T2`, `T1, T2 → T3 → T4`: each waits for what is left of its arrow. */
export function readArrows(text: string, line: number): DrawnEdge[] {
  const parts = text.split(new RegExp(ARROW, 'g'));
  if (parts.length < 2) return [];
  let at = 0;
  const lists = parts.map((part) => {
    at = text.indexOf(part, at);
    const from = at + (/^[\s\-*+]{0,8}/.exec(part)?.[0].length ?? 0);
    const { references, end } = readIdList(text, from, { line, prose: false });
    // A comment in brackets may follow, nothing else: `T1 (setup) → T2`.
    const rest = text.slice(end, at + part.length);
    at += part.length;
    return /^[\s;.]*(?:[([{"].{0,200})?[\s;.]*$/.test(rest) ? references : [];
  });
  return lists.slice(1).flatMap((subjects, index) => {
    const objects = lists[index] ?? [];
    return subjects.length > 0 && objects.length > 0 ? [{ subjects, objects }] : [];
  });
}

export interface PhaseLine {
  phase: number;
  references: TaskReference[];
}

const PHASE = /^phase\s{1,3}(\d{1,6})\s{0,3}:\s{0,3}/i;
const REQUIRES = /^(\S{1,40})\s{1,3}requires\s{0,3}:\s{0,3}/i;

/** `phase 1: #4301, #4302`. */
export function readPhaseLine(body: string, place: { line: number; at: number }): PhaseLine | null {
  const found = PHASE.exec(body);
  if (found === null) return null;
  const references = idsFrom(body, found[0].length, place);
  return references === null || references.length === 0 ? null : { phase: Number(found[1]), references };
}

/** `#4303 requires: #4301`. */
export function readRequiresLine(body: string, place: { line: number; at: number }): DrawnEdge | null {
  const found = REQUIRES.exec(body);
  if (found === null) return null;
  const objects = idsFrom(body, found[0].length, place);
  const subjects = idsFrom(found[1] ?? '', 0, place);
  if (objects === null || subjects === null || objects.length * subjects.length === 0) return null;
  return { subjects, objects };
}

function idsFrom(
  body: string,
  from: number,
  { line, at }: { line: number; at: number },
): TaskReference[] | null {
  const { references, end } = readIdList(body, from, { line, prose: false });
  if (body.slice(end).trim() !== '') return null;
  return references.map((one) => ({ ...one, column: one.column + at }));
}
