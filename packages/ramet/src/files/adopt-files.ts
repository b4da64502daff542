/**
 * Moves files that were prepared elsewhere into the checkout, all of them or none (BG-2): each must still be the version that
 * the work began with.
 *
 * Invariants
 * 1. Everything that can fail for want of room or rights is done before the record: the new bytes lie beside each file, and
 *    both versions are kept. After the record only renames are left.
 * 2. Before the record nothing has changed. After it the rest is carried out, by `finishAdoption` where the process was killed.
 * 3. A file that another program changes between the look and the rename stays as that program left it, and is named.
 */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeError, systemCode } from '../schema/errors.ts';
import type { AdoptedWork, ReplacedFile } from '../schema/events.ts';
import { realPath } from '../system/landing-path.ts';
import { type LoadedFile, loadFileIfThere, sameStamp, versionOf } from '../system/regular-file.ts';
import { type Replacement, removeLeftovers, type StagedFile, stageFile } from '../system/replace-file.ts';
import type { SessionLedger } from './file-ledger.ts';
import type { OriginalFiles } from './original-files.ts';

/** A file as it is to be. */
export interface PreparedFile {
  /** Real path in the checkout. */
  readonly path: string;
  /** The version that the work began with; null for no file. */
  readonly before: string | null;
  readonly bytes: Uint8Array;
  /** Permission bits, for a file that is created. */
  readonly mode: number;
}

export interface FailedFile {
  readonly path: string;
  readonly reason: string;
}

interface AdoptionPlace {
  readonly ledger: SessionLedger;
  readonly originals: OriginalFiles;
  /** Whose work it is, and what it was for. */
  readonly agent: string;
  readonly task: string;
  /** For tests that kill the process there. */
  readonly onStep?: ((step: string) => void) | undefined;
}

export interface AdoptionOrder extends AdoptionPlace {
  readonly files: readonly PreparedFile[];
  /** What the work has only read, by real path: it holds for these versions. */
  readonly reads: ReadonlyMap<string, string>;
  /** Resolves when the adoption is on disk. */
  record(files: ReplacedFile[]): Promise<void>;
}

export type Adoption = { adopted: false; reason: string } | { adopted: true; failed: FailedFile[] };

export async function adoptFiles(order: AdoptionOrder): Promise<Adoption> {
  const { ledger, files, reads } = order;
  const paths = [...files.map(({ path }) => path), ...reads.keys()];
  return ledger.exclusiveAll(paths, async () => {
    using staged = new DisposableStack();
    let steps: AdoptionStep[];
    try {
      steps = await prepare(order, staged);
    } catch (error) {
      const isFile = systemCode(error) === 'ENOTDIR';
      return { adopted: false, reason: isFile ? 'a file is where a folder was' : describeError(error) };
    }
    await order.record(steps.map(({ replaced }) => replaced));
    order.onStep?.('recorded');
    return { adopted: true, failed: placeAll(order, steps) };
  });
}

/** The rest of an adoption whose process was killed after the record. */
export async function finishAdoption(
  place: AdoptionPlace,
  { files }: Pick<AdoptedWork, 'files'>,
): Promise<FailedFile[]> {
  const { ledger, originals, agent } = place;
  return ledger.exclusiveAll(
    files.map(({ path }) => path),
    async () => {
      using staged = new DisposableStack();
      const steps: AdoptionStep[] = [];
      const failed: FailedFile[] = [];
      // Before the first of the new ones lies beside them.
      const folders = new Map(files.map(({ path }) => [dirname(path), path]));
      for (const path of folders.values()) removeLeftovers(path, agent);
      for (const replaced of files) {
        const { path, before, after } = replaced;
        try {
          const current = await loadFileIfThere(path);
          if (current?.version === after) continue;
          if ((current?.version ?? null) !== before) throw new Error('it has changed since');
          const bytes = after === null ? null : originals.read(after);
          if (bytes === null) throw new Error('what it was to become is damaged');
          steps.push({ replaced, staged: await stage(place, replaced, { current, bytes }, staged) });
        } catch (error) {
          failed.push({ path, reason: describeError(error) });
        }
      }
      return [...failed, ...placeAll(place, steps)];
    },
  );
}

interface AdoptionStep {
  readonly replaced: ReplacedFile;
  readonly staged: StagedFile;
}

/** Throws with the reason why nothing is adopted. */
async function prepare(order: AdoptionOrder, staged: DisposableStack): Promise<AdoptionStep[]> {
  const { files, reads, originals, onStep } = order;
  for (const [path, version] of reads) {
    const current = await loadFileIfThere(path);
    if (current?.version !== version) throw new Error(`${path} has changed since`);
  }
  const found: { file: PreparedFile; current: LoadedFile | null }[] = [];
  for (const file of files) found.push({ file, current: await unchanged(file) });
  onStep?.('checked');
  const steps: AdoptionStep[] = [];
  for (const { file, current } of found) {
    const { path, before, bytes } = file;
    const after = versionOf(bytes);
    if (current !== null) originals.keep(current.version, current.bytes);
    // Without it a killed adoption could not be finished.
    originals.keep(after, bytes, Number.POSITIVE_INFINITY);
    const mode = current === null ? null : Number(current.stats.mode & 0o7777n);
    const replaced: ReplacedFile = { path, before, after, mode, afterMode: file.mode };
    steps.push({ replaced, staged: await stage(order, replaced, { current, bytes }, staged) });
    onStep?.('staged');
  }
  return steps;
}

async function unchanged({ path, before }: PreparedFile): Promise<LoadedFile | null> {
  if (realPath(path) !== path) throw new Error(`${path}: a link now leads elsewhere`);
  const current = await loadFileIfThere(path);
  if ((current?.version ?? null) === before) return current;
  const how = current === null ? 'is gone' : before === null ? 'exists already' : 'has changed since';
  throw new Error(`${path} ${how}`);
}

async function stage(
  { agent }: AdoptionPlace,
  { path, afterMode }: ReplacedFile,
  { current, bytes }: { current: LoadedFile | null; bytes: Uint8Array },
  all: DisposableStack,
): Promise<StagedFile> {
  const isSame = (place: string): boolean => {
    const stats = statSync(place, { bigint: true, throwIfNoEntry: false });
    return stats !== undefined && current !== null && sameStamp(stats, current.stats);
  };
  const staged = await stageFile(path, bytes, {
    owner: agent,
    current: current === null ? null : { stats: current.stats, unchanged: isSame },
    mode: afterMode ?? null,
  });
  if (staged === null) throw new Error(`the directory of ${path} was replaced at this very moment`);
  return all.use(staged);
}

function placeAll(place: AdoptionPlace, steps: readonly AdoptionStep[]): FailedFile[] {
  const { ledger, agent, task, onStep } = place;
  const failed: FailedFile[] = [];
  for (const { replaced, staged } of steps) {
    const { path, after: version } = replaced;
    const outcome = placed(staged);
    if (outcome === null) ledger.recordWrite({ path, agent, version, task, command: null });
    else failed.push({ path, reason: outcome });
    onStep?.('placed');
  }
  return failed;
}

/** Null when it is in its place. */
function placed(staged: StagedFile): string | null {
  try {
    const outcome: Replacement = staged.place();
    return outcome === 'done' ? null : 'it changed at this very moment';
  } catch (error) {
    return describeError(error);
  }
}
