/**
 * What is staged in a checkout, and which marks its files have, beside what there was (WORK-9). Git rewrites the index
 * also when it only looks, so entries are compared. Where HEAD has moved, the index goes along: entries that only follow
 * HEAD do not count, marks always do.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GitCall, runGit } from '../run-git.ts';
import { type CheckoutState, headRefOf, readHeldIndex } from './checkout-state.ts';
import { listed } from './differences.ts';

/** By path: all entries of it, and the mark by which git was told not to look at the file. */
type Entries = ReadonlyMap<string, { readonly mark: string; readonly staged: string }>;

export async function indexChanges(
  before: CheckoutState,
  after: CheckoutState,
  call: GitCall,
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ramet-index-'));
  try {
    const held = join(folder, 'index');
    writeFileSync(held, before.index === null ? new Uint8Array() : readHeldIndex(before.index.descriptor));
    const [then, now] = await Promise.all([
      entriesIn(call, before.index === null ? join(folder, 'none') : held),
      entriesIn(call, undefined),
    ]);
    const isMarked = (path: string): boolean => markOf(then, path) !== markOf(now, path);
    const paths = [...new Set([...then.keys(), ...now.keys()])].filter(
      (path) => isMarked(path) || then.get(path)?.staged !== now.get(path)?.staged,
    );
    if (paths.length === 0) return [];
    const follows = await followersOf(before, after, call);
    const changed = paths.filter((path) => isMarked(path) || !follows(path));
    return changed.length === 0 ? [] : [`the index has other entries or marks for ${listed(changed)}`];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const UNMARKED = 'H';

function markOf(entries: Entries, path: string): string {
  const mark = entries.get(path)?.mark ?? UNMARKED;
  // Conflicts are in what is staged.
  return mark === 'M' ? UNMARKED : mark;
}

async function entriesIn(call: GitCall, index: string | undefined): Promise<Entries> {
  const { stdout } = await runGit(['ls-files', '-s', '-v', '-z'], { ...call, index });
  const entries = new Map<string, { mark: string; staged: string }>();
  for (const entry of stdout.split('\0').filter((text) => text !== '')) {
    const tab = entry.indexOf('\t');
    const path = entry.slice(tab + 1);
    const staged = `${entries.get(path)?.staged ?? ''}${entry.slice(1, tab)}\n`;
    entries.set(path, { mark: entry.slice(0, 1), staged });
  }
  return entries;
}

/** Whether a path changed between the two commits of HEAD, and is staged as the later has it. */
async function followersOf(
  before: CheckoutState,
  after: CheckoutState,
  call: GitCall,
): Promise<(path: string) => boolean> {
  const [from, to] = [commitOf(before), commitOf(after)];
  if (from === null || to === null || from === to) return () => false;
  const options = ['--name-only', '--no-renames', '--ignore-submodules=none', '-z'];
  const [touched, staged] = await Promise.all([
    runGit(['diff-tree', '-r', ...options, from, to], call),
    runGit(['diff-index', '--cached', ...options, to], call),
  ]);
  if (touched.code !== 0 || staged.code !== 0) return () => false;
  const [moved, differs] = [new Set(touched.stdout.split('\0')), new Set(staged.stdout.split('\0'))];
  return (path) => moved.has(path) && !differs.has(path);
}

function commitOf(state: CheckoutState): string | null {
  const ref = headRefOf(state);
  return ref === null ? (state.head?.trim() ?? null) : (state.refs.get(ref) ?? null);
}
