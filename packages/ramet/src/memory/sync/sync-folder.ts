/**
 * Brings a folder and a team's memory to the same state. Each key is a step of its own that is recorded when it is done:
 * a sync that is killed, refused or cut off continues with the next one, and nothing is lost on either side.
 *
 * Invariants
 * 1. A file is changed only if it is as it was read, a key only if it has the version that was read.
 * 2. Two changes of the same lines are both kept: the server's under the key, the one from here under a name that says so.
 * 3. What has a secret stays here.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../../schema/clock.ts';
import { UserMistake } from '../../schema/errors.ts';
import { fewAtOnce } from '../../system/few-at-once.ts';
import { makePrivateDirectory } from '../../system/home.ts';
import { brokenWay } from '../../system/landing-path.ts';
import { DEFAULT_LIMITS } from '../wire/memory-shapes.ts';
import { KeySync, type KeySyncParts, type SyncedText } from './key-sync.ts';
import { leaveBelow, leaveTwins, readFolder, type SkippedKey, type SyncedFiles } from './local-folder.ts';
import { MemoryClient } from './memory-client.ts';
import type { AgreedKey } from './plan-key.ts';
import { type KeyChange, RenamedKeys } from './renamed-keys.ts';
import { lostKeys, seenText, seenWith } from './seen-history.ts';
import { lockFolder, SyncState } from './sync-state.ts';

export type { SyncedText } from './key-sync.ts';

export interface SyncOptions {
  folder: string;
  url: string;
  token: string;
  signal?: AbortSignal;
  clock?: Clock;
  fetch?: typeof fetch;
  /** Learns of each file that was written or removed here. */
  wrote?: (note: SyncedText) => void;
}

export interface SyncReport {
  team: string;
  /** In the order of keys. */
  changes: readonly KeyChange[];
  /** Keys that could not be synchronised; nothing of them has changed. */
  skipped: readonly SkippedKey[];
  /** Values that travelled. */
  values: { read: number; written: number };
}

export async function syncFolder(options: SyncOptions): Promise<SyncReport> {
  const { clock = systemClock, signal = new AbortController().signal } = options;
  const client = new MemoryClient({ ...options, clock, signal });
  makeFolder(options.folder);
  const root = realpathSync(options.folder);
  using _lock = await lockFolder(root, clock, signal);
  using state = new SyncState(root);
  return await new FolderSync({ root, client, state, signal, wrote: options.wrote }).run();
}

/** A file, or a folder that would be below one, is a mistake of the caller. */
function makeFolder(folder: string): void {
  let there = folder;
  while (!existsSync(there) && there !== dirname(there)) {
    const broken = brokenWay(there, false);
    if (broken !== null)
      throw new UserMistake(
        'no_folder',
        `${folder} cannot be synchronised: ${broken.replace(/^it/, there)}; name the folder itself`,
      );
    there = dirname(there);
  }
  if (statSync(there, { throwIfNoEntry: false })?.isFile())
    throw new UserMistake('no_folder', `${folder} is no folder: name the folder to synchronise`);
  makePrivateDirectory(folder);
}

class FolderSync {
  readonly #root: string;
  readonly #client: MemoryClient;
  readonly #state: SyncState;
  readonly #keys: KeySync;
  readonly #renamed: RenamedKeys;

  constructor(parts: KeySyncParts) {
    this.#root = parts.root;
    this.#client = parts.client;
    this.#state = parts.state;
    this.#keys = new KeySync(parts);
    this.#renamed = new RenamedKeys({ ...parts, keys: this.#keys });
  }

  async run(): Promise<SyncReport> {
    const found = await readFolder(this.#root, DEFAULT_LIMITS.value);
    let agreed = this.#state.agreed();
    const known = this.#isAsAgreed(found, agreed) ? this.#state.fact('listing') : null;
    const seen = seenText(this.#state.fact('seen'), agreed.values());
    const listed = await this.#client.list(known, seen);
    const team = listed?.listing.team ?? this.#state.fact('team') ?? '';
    this.#requireTeam(team);
    const report = { team, changes: [], skipped: found.skipped, values: this.#client.values };
    if (listed === null) return report;
    const server = new Map(listed.listing.keys.map((entry) => [entry.key, entry]));
    const lost = lostKeys(agreed, server, listed.listing.parted ?? null);
    this.#state.part(lost, seenWith(seen, listed.listing));
    const { files, skipped, renamed, moves } = await this.#renamed.begin(found, server);
    agreed = this.#state.agreed();
    const left = new Map(skipped.map(({ key, reason }) => [key, reason]));
    leaveTwins(files, server, agreed.keys(), left);
    leaveBelow(server.keys(), files, left);
    const keys = [...new Set([...files.keys(), ...server.keys()])].filter((key) => !left.has(key)).sort();
    const changes = [...renamed];
    const bring = (some: readonly string[]): Promise<unknown> =>
      fewAtOnce(some, async (key) => {
        const sides = { agreed: agreed.get(key) ?? null, server: server.get(key) ?? null };
        const done = await this.#keys.bringTogether(key, files.get(key) ?? null, sides);
        if (done === null) return;
        if ('skipped' in done) left.set(key, done.skipped);
        else changes.push({ key, ...done });
      });
    // The server takes a new key in a folder that was renamed here when the old name is gone.
    const isLate = (key: string): boolean => moves.length > 0 && server.get(key)?.deleted !== false;
    await bring(keys.filter((key) => !isLate(key)));
    changes.push(...(await this.#renamed.end(moves, server, left)));
    await bring(keys.filter((key) => isLate(key) && !moves.some(({ to }) => to === key)));
    // Only a sync in which nothing was left to do knows that this listing is all there is.
    const isDone = changes.length === 0 && left.size === 0;
    this.#state.setFact('listing', isDone ? listed.tag : null);
    const order = (a: { key: string }, b: { key: string }): number => (a.key < b.key ? -1 : 1);
    return {
      ...report,
      changes: changes.sort(order),
      skipped: Array.from(left, ([key, reason]) => ({ key, reason })).sort(order),
    };
  }

  /** Then an unchanged listing means that there is nothing to do. */
  #isAsAgreed({ files, skipped }: SyncedFiles, agreed: ReadonlyMap<string, AgreedKey>): boolean {
    const living = [...agreed].filter(([, { checksum }]) => checksum !== null);
    return (
      skipped.length === 0 &&
      living.length === files.size &&
      living.every(([key, { checksum }]) => files.get(key)?.checksum === checksum)
    );
  }

  #requireTeam(team: string): void {
    const known = this.#state.fact('team');
    if (known === null) this.#state.setFact('team', team);
    else if (known !== team)
      throw new UserMistake(
        'other_team',
        `${this.#root} belongs to team "${known}", and the token to "${team}": use another folder, or that team's token`,
      );
  }
}
