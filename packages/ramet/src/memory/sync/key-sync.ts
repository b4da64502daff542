/**
 * One key brought to the same state here and on the server. `sync-folder.ts` says what holds for it.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { Cancelled, systemCode } from '../../schema/errors.ts';
import { digestOf } from '../../system/digest.ts';
import { DEFAULT_LIMITS, type MemoryEntry } from '../wire/memory-shapes.ts';
import {
  conflictKey,
  type LocalChange,
  type LocalFile,
  readLocal,
  removeLocal,
  writeLocal,
} from './local-folder.ts';
import type { MemoryClient, SentWrite } from './memory-client.ts';
import { type AgreedKey, type KeyStep, newNameProblem, planKey, secretProblem } from './plan-key.ts';
import type { SyncState } from './sync-state.ts';

export type SyncChange =
  | 'pulled'
  | 'sent'
  | 'merged'
  | 'deleted here'
  | 'deleted there'
  | 'kept both'
  | 'restored'
  | 'sent again';

/** A file that a sync has written or removed here; its path is below the folder. */
export interface SyncedText {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

export type Done = { change: SyncChange; note?: string } | { skipped: string } | null;

export interface KeySyncParts {
  root: string;
  client: MemoryClient;
  state: SyncState;
  signal: AbortSignal;
  wrote?: ((note: SyncedText) => void) | undefined;
}

export interface KnownSides {
  agreed: AgreedKey | null;
  server: MemoryEntry | null;
}

/** Someone else changes the same key again and again. */
const TRIES = 50;

export class KeySync {
  readonly #root: string;
  readonly #client: MemoryClient;
  readonly #state: SyncState;
  readonly #signal: AbortSignal;
  readonly #wrote: (note: SyncedText) => void;
  readonly #paths = new Map<string, string>();

  constructor({ root, client, state, signal, wrote = () => {} }: KeySyncParts) {
    this.#root = root;
    this.#client = client;
    this.#state = state;
    this.#signal = signal;
    this.#wrote = wrote;
  }

  /** Where the file of a key is, if its name has another Unicode form. */
  setPath(key: string, path: string): void {
    this.#paths.set(key, path);
  }

  /** Until both sides agree; someone may change either meanwhile. */
  async bringTogether(key: string, file: LocalFile | null, sides: KnownSides): Promise<Done> {
    try {
      return await this.#bringTogether(key, file, sides);
    } catch (error) {
      return { skipped: reasonOf(error) };
    }
  }

  async #bringTogether(key: string, file: LocalFile | null, sides: KnownSides): Promise<Done> {
    let [here, { server }] = [file, sides];
    for (let attempt = 0; attempt < TRIES; attempt++) {
      if (this.#signal.aborted) throw new Cancelled();
      const step = planKey({ agreed: sides.agreed, here: here?.checksum ?? null, server });
      const next = await this.#take(step, key, here, { server, isKnown: sides.agreed !== null });
      if (next === null || 'change' in next || 'skipped' in next) return next;
      if ('server' in next) server = next.server;
      const again = await readLocal(key, this.pathOf(key), DEFAULT_LIMITS.value);
      if (typeof again === 'string') return { skipped: again };
      here = again;
    }
    return { skipped: 'it changes all the time: sync again' };
  }

  async #take(
    step: KeyStep,
    key: string,
    here: LocalFile | null,
    { server, isKnown }: { server: MemoryEntry | null; isKnown: boolean },
  ): Promise<Done | { server: MemoryEntry | null } | { again: true }> {
    switch (step) {
      case 'nothing':
        return null;
      case 'agree':
        if (server !== null) this.#agree(server, here?.bytes ?? null);
        return null;
      case 'pull':
      case 'restore':
        return this.#pull(
          server,
          here,
          step === 'pull'
            ? { change: 'pulled' }
            : { change: 'restored', note: 'it was changed on the server' },
        );
      case 'push':
        return this.#push(key, here, server, { change: 'sent' });
      case 'push again':
        // Without a record it may be a copy of an earlier version, which brings nothing back.
        if (!isKnown && here !== null && (await this.#client.hadBefore(key, here.checksum)))
          return this.#deleteHere(server, here);
        return this.#push(key, here, server, {
          change: 'sent again',
          note: 'it was deleted on the server, and changed here',
        });
      case 'delete there':
        return this.#settle(await this.#client.write(key, server?.etag ?? null, null), null, {
          change: 'deleted there',
        });
      case 'delete here':
        return this.#deleteHere(server, here);
      case 'merge':
        return this.#merge(key, server, here);
    }
  }

  async #pull(
    server: MemoryEntry | null,
    here: LocalFile | null,
    done: Done,
  ): Promise<Done | { server: MemoryEntry | null } | { again: true }> {
    if (server === null) return null;
    const bytes = await this.#client.read(server);
    if (bytes === null) return { server: await this.#newest(server.key) };
    const written = await this.#write(this.pathOf(server.key), bytes, here);
    if (written === 'link') return { skipped: 'what should be a folder above it is a file or a link' };
    if (written === 'overtaken') return { again: true };
    this.#agree(server, bytes);
    return done;
  }

  #deleteHere(server: MemoryEntry | null, here: LocalFile | null): Done | { again: true } {
    if (server === null) return null;
    if (here !== null && this.#remove(here) === 'overtaken') return { again: true };
    this.#agree(server, null);
    return here === null ? null : { change: 'deleted here' };
  }

  async #push(
    key: string,
    here: LocalFile | null,
    server: MemoryEntry | null,
    done: Done,
  ): Promise<Done | { server: MemoryEntry | null }> {
    if (here === null) return null;
    const secret = (server === null ? newNameProblem(key) : null) ?? secretProblem(here.bytes);
    if (secret !== null) return { skipped: secret };
    return this.#settle(await this.#client.write(key, server?.etag ?? null, here.bytes), here.bytes, done);
  }

  async #settle(
    sent: SentWrite,
    value: Uint8Array | null,
    done: Done,
  ): Promise<Done | { server: MemoryEntry | null }> {
    if (sent.outcome === 'refused') return { skipped: sent.reason };
    if (sent.outcome === 'changed') return { server: sent.current };
    this.#agree(sent.entry, value);
    return done;
  }

  async #merge(
    key: string,
    server: MemoryEntry | null,
    here: LocalFile | null,
  ): Promise<Done | { server: MemoryEntry | null } | { again: true }> {
    if (server === null || here === null) return { again: true };
    const theirs = await this.#client.read(server);
    if (theirs === null) return { server: await this.#newest(key) };
    const base = this.#state.text(key);
    const merged = base === null ? null : await merge(base, theirs, here.bytes);
    if (merged === null) return this.#keepBoth(server, theirs, here);
    const bytes = Buffer.from(merged);
    const secret = secretProblem(bytes);
    if (secret !== null) return { skipped: secret };
    if (bytes.length > DEFAULT_LIMITS.value) return this.#keepBoth(server, theirs, here);
    const sent = await this.#client.write(key, server.etag, bytes);
    if (sent.outcome !== 'done') return this.#settle(sent, null, null);
    // What was merged is on the server. If the file was edited meanwhile, its next merge begins with what it was.
    if ((await this.#write(here.path, bytes, here)) !== 'done') {
      this.#agree({ ...sent.entry, etag: 'edited meanwhile' }, here.bytes);
      return { change: 'merged', note: 'it was edited meanwhile: sync again' };
    }
    this.#agree(sent.entry, bytes);
    return { change: 'merged' };
  }

  /** The one from here first: it must be safe before the other takes its place. */
  async #keepBoth(server: MemoryEntry, theirs: Uint8Array, here: LocalFile): Promise<Done | { again: true }> {
    const secret = secretProblem(here.bytes);
    if (secret !== null) return { skipped: secret };
    const copy = conflictKey(here);
    const path = join(dirname(here.path), basename(copy));
    if (!existsSync(path) && (await this.#write(path, here.bytes, null)) === 'link')
      return { skipped: 'a folder above it is a link' };
    // In a folder that has a new name here the copy is a key of that: the next sync sends it.
    if (this.#pathBelow(path).normalize('NFC') === copy) {
      const sent = await this.#client.write(copy, null, here.bytes);
      if (sent.outcome === 'done') this.#agree(sent.entry, here.bytes);
    }
    if ((await this.#write(here.path, theirs, here)) !== 'done') return { again: true };
    this.#agree(server, theirs);
    return { change: 'kept both', note: `yours is in ${this.#pathBelow(path)}` };
  }

  async #write(path: string, bytes: Uint8Array, known: LocalFile | null): Promise<LocalChange> {
    const change = await writeLocal(path, bytes, known);
    if (change === 'done') this.#tell(path, known, bytes);
    return change;
  }

  #remove(known: LocalFile): LocalChange {
    const change = removeLocal(this.#root, known);
    if (change === 'done') this.#tell(known.path, known, null);
    return change;
  }

  #tell(path: string, known: LocalFile | null, after: Uint8Array | null): void {
    this.#wrote({
      path: this.#pathBelow(path),
      before: known === null ? null : textOf(known.bytes),
      after: after === null ? null : textOf(after),
    });
  }

  #agree(entry: MemoryEntry, value: Uint8Array | null): void {
    this.#state.agree(
      entry.key,
      value === null
        ? { etag: entry.etag, checksum: null, gone: entry.checksum }
        : { etag: entry.etag, checksum: digestOf(value) },
      value,
    );
  }

  async #newest(key: string): Promise<MemoryEntry | null> {
    const listed = await this.#client.list(null);
    return listed?.listing.keys.find((entry) => entry.key === key) ?? null;
  }

  #pathBelow(path: string): string {
    return relative(this.#root, path).split(sep).join('/');
  }

  pathOf(key: string): string {
    return this.#paths.get(key) ?? join(this.#root, key);
  }
}

/** What is wrong with one file does not stop the others; what is wrong with the server does. */
function reasonOf(error: unknown): string {
  const code = systemCode(error);
  if (code === undefined || code === null || !/^E[A-Z]+$/.test(code)) throw error;
  return code === 'ENOSPC' ? 'the disk is full' : `it cannot be written (${WRITE_ERRORS[code] ?? code})`;
}

const WRITE_ERRORS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

async function merge(base: string, server: Uint8Array, here: Uint8Array): Promise<string | null> {
  const { mergeNotes } = await import('./merge-notes.ts');
  return mergeNotes({ base, server: textOf(server), here: textOf(here) });
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
