/** The refs that an attempt has made, and what people should know of others that appeared while it ran. */
import {
  type FreshRef,
  freshRefs,
  type RefNaming,
  unknownRefNotes,
  type WorkReading,
} from '../../../git/left-work.ts';
import type { ManagedWorktree, WorktreePlace } from '../../../git/shapes.ts';
import type { AttemptOrder } from '../../../operator/run/ports.ts';

/** What is known of who made a ref, beside git. */
export interface RefWitness {
  /** Whose commands have the word: since then its own, with those of its children, and at any time those of others. */
  naming(agent: string, word: string, since: number): RefNaming;
  /** Whether nobody was told yet; from now on someone is. */
  isNews(line: string): boolean;
}

export interface AttemptRefs {
  own: readonly FreshRef[];
  notes: readonly string[];
}

export async function attemptRefs(
  { run, attempt }: AttemptOrder,
  agent: string,
  site: {
    place: WorktreePlace;
    worktree: ManagedWorktree | null;
    /** Of its HEAD. */
    log: { readonly made: ReadonlySet<string>; readonly replaced: ReadonlySet<string> };
    witness: RefWitness;
  },
): Promise<AttemptRefs> {
  const { place, worktree, log, witness } = site;
  const call = { cwd: place.repository.root, env: place.env };
  const reading: WorkReading = { base: attempt.base ?? run.base, target: run.target, call };
  const since = attempt.startedAt;
  const evidence = { ...log, since, named: (word: string) => witness.naming(agent, word, since) };
  const { own, unknown } = await freshRefs(place, { ...reading, worktree }, evidence);
  return {
    own,
    notes: unknownRefNotes(unknown.filter(({ ref, commit }) => witness.isNews(`${ref} ${commit}`))),
  };
}
