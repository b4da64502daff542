/**
 * Which ended sessions have no run of the operator: to open each of a thousand takes seconds. A cache beside them, which can
 * be lost at any time: a session that was resumed since has another end, and is looked into again.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionEntry } from '../../../journal/session-list.ts';
import { replaceWhole } from '../../../system/replace-whole.ts';

const PRIVATE_FILE = 0o600;

export class SessionsWithoutRuns {
  readonly #file: string;
  /** When each of them ended. */
  readonly #known: Map<string, unknown>;
  #changed = false;

  constructor(project: string) {
    this.#file = join(project, 'operator-none.json');
    this.#known = new Map(Object.entries(readObject(this.#file)));
  }

  has({ session, ended, live }: SessionEntry): boolean {
    return !live && ended !== null && this.#known.get(session) === ended;
  }

  add({ session, ended, live }: SessionEntry): void {
    if (live || ended === null) return;
    this.#known.set(session, ended);
    this.#changed = true;
  }

  /** Only those that are still there stay. */
  save(sessions: readonly SessionEntry[]): void {
    if (!this.#changed) return;
    const there = new Set<string>(sessions.map(({ session }) => session));
    const kept = [...this.#known].filter(([session]) => there.has(session));
    try {
      replaceWhole(this.#file, JSON.stringify(Object.fromEntries(kept)), PRIVATE_FILE);
    } catch {
      // A home that cannot be written to: it takes longer next time too.
    }
  }
}

function readObject(file: string): object {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof found === 'object' && found !== null ? found : {};
  } catch {
    return {};
  }
}
