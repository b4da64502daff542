/**
 * One spelling for each file and folder whose names differ in case or Unicode form only. They are one file on many machines,
 * so the server has one of them, and here there is one as a rule. Which one counts is decided for each part of a path, from
 * what the folder has, what the server has and what both last agreed on: the server's, unless only this folder has changed it.
 *
 * A name that is here in two spellings, or on the server, is undecided: what has it keeps its name.
 */
import { relative, sep } from 'node:path';
import { foldedKey } from '../wire/memory-key.ts';
import type { MemoryEntry } from '../wire/memory-shapes.ts';
import type { LocalFile } from './local-folder.ts';
import type { AgreedKey } from './plan-key.ts';

export interface KeptNames {
  root: string;
  files: ReadonlyMap<string, LocalFile>;
  server: ReadonlyMap<string, MemoryEntry>;
  agreed: ReadonlyMap<string, AgreedKey>;
}

/** A file or folder that must have another name; its path is below the root. */
export interface NewName {
  from: string;
  to: string;
}

interface Part {
  /** Spelling here, with the name on the disk, which may have another Unicode form. */
  readonly here: Map<string, string>;
  readonly there: Set<string>;
  readonly agreed: Set<string>;
  readonly below: Level;
}

type Level = Map<string, Part>;

export class NameSpelling {
  readonly #top: Level = new Map();

  constructor({ root, files, server, agreed }: KeptNames) {
    for (const { key, path } of files.values()) {
      const names = relative(root, path).split(sep);
      for (const [part, spelling, level] of this.#partsOf(key))
        part.here.set(spelling, names[level] ?? spelling);
    }
    for (const [key, { deleted }] of server)
      if (!deleted) for (const [part, spelling] of this.#partsOf(key)) part.there.add(spelling);
    for (const [key, { checksum }] of agreed)
      if (checksum !== null) for (const [part, spelling] of this.#partsOf(key)) part.agreed.add(spelling);
  }

  /** Nothing has two spellings, as a rule. */
  get isPlain(): boolean {
    return isPlainLevel(this.#top);
  }

  /** The key as it is to be spelled. */
  of(key: string): string {
    const names: string[] = [];
    for (const [part] of this.#partsOf(key)) {
      const chosen = chosenOf(part);
      if (chosen === null) return key;
      names.push(chosen);
    }
    return names.join('/');
  }

  /** What must get another name here; what is above it comes first, and has its new name then. */
  newNamesHere(): NewName[] {
    return newNamesIn(this.#top, '');
  }

  #partsOf(key: string): [Part, spelling: string, level: number][] {
    const names = key.split('/');
    let level = this.#top;
    return names.map((name, index) => {
      // A folder is no twin of a file.
      const id = `${foldedKey(name)}${index < names.length - 1 ? '/' : ''}`;
      const part = level.get(id) ?? {
        here: new Map(),
        there: new Set(),
        agreed: new Set(),
        below: new Map(),
      };
      level.set(id, part);
      level = part.below;
      return [part, name, index];
    });
  }
}

function isPlainLevel(level: Level): boolean {
  return Array.from(level.values()).every(
    ({ here, there, agreed, below }) =>
      new Set([...here.keys(), ...there, ...agreed]).size === 1 && isPlainLevel(below),
  );
}

/** Null where it is undecided. */
function chosenOf({ here, there, agreed }: Part): string | null {
  if (here.size > 1 || there.size > 1) return null;
  const [own] = here.keys();
  const [theirs] = there;
  if (own === undefined || theirs === undefined) return own ?? theirs ?? agreed.values().next().value ?? null;
  return agreed.has(theirs) && !agreed.has(own) ? own : theirs;
}

function newNamesIn(level: Level, above: string): NewName[] {
  return Array.from(level.values()).flatMap((part) => {
    const [own] = part.here;
    const chosen = chosenOf(part);
    if (own === undefined || chosen === null) return [];
    const [spelling, name] = own;
    const to = spelling === chosen ? name : chosen;
    const below = newNamesIn(part.below, `${above}${to}/`);
    return to === name ? below : [{ from: above + name, to: above + to }, ...below];
  });
}
