/**
 * A checkout as the agents in it share it (WORK-1): who lives there, and the environment in which their programs find
 * the shim in git's place. Made when a tool that can change something is first used; outside a repository none exists.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentId } from '../../schema/ids.ts';
import { projectDirectory } from '../../system/home.ts';
import { findRepository, readPointer } from '../repository.ts';
import { enterCheckout, livingAgents } from './living-agents.ts';
import { findRealGit, installShim } from './shim-script.ts';

export interface Checkout {
  /** The git directory of this working tree: other worktrees have others. */
  readonly gitDirectory: string;
  /** Where it is known who lives here. */
  readonly state: string;
  /** For programs that agents start. */
  readonly environment: Readonly<Record<string, string>>;
  /** Notes that an agent lives here; what it returns takes that back. */
  enter(agent: AgentId): () => void;
  others(agent: AgentId): AgentId[];
}

export interface Checkouts {
  /** Null outside a repository. */
  at(directory: string): Checkout | null;
}

/** Loaded when it is first needed: nothing of it is on the way to the first request. */
export type LoadCheckouts = () => Promise<Checkouts>;

export interface CheckoutsOptions {
  /** `$RAMET_HOME`. */
  home: string;
  /** Of child programs. */
  environment: Readonly<Record<string, string>>;
}

export function createCheckouts({ home, environment }: CheckoutsOptions): Checkouts {
  const known = new Map<string, Checkout | null>();
  return {
    at(directory) {
      const found = known.get(directory);
      if (found !== undefined) return found;
      const checkout = findCheckout(directory, home, environment);
      known.set(directory, checkout);
      return checkout;
    },
  };
}

function findCheckout(
  directory: string,
  home: string,
  environment: Readonly<Record<string, string>>,
): Checkout | null {
  const repository = findRepository(directory);
  const gitDirectory = repository === null ? null : gitDirectoryOf(repository.root);
  if (repository === null || gitDirectory === null) return null;
  const key = createHash('sha256').update(gitDirectory).digest('hex').slice(0, 12);
  const state = join(projectDirectory(home, repository), 'checkouts', key);
  let changed: Record<string, string> | null = null;
  return {
    gitDirectory,
    state,
    get environment() {
      changed ??= withShim(environment, home, { gitDirectory, state });
      return changed;
    },
    enter: (agent) => enterCheckout(state, agent),
    others: (agent) => livingAgents(state, agent),
  };
}

/** Without git there is nothing to wrap. */
function withShim(
  environment: Readonly<Record<string, string>>,
  home: string,
  { gitDirectory, state }: Pick<Checkout, 'gitDirectory' | 'state'>,
): Record<string, string> {
  const path = environment.PATH ?? '';
  const git = findRealGit(path);
  if (git === null) return { ...environment };
  const helper = helperProgram();
  return {
    ...environment,
    PATH: [installShim(home), path].join(delimiter),
    RAMET_REAL_GIT: git,
    RAMET_CHECKOUT: gitDirectory,
    RAMET_CHECKOUT_STATE: state,
    ...(knowsTrailers(git) && { RAMET_TRAILERS: '1' }),
    ...(helper === null ? {} : { RAMET_GIT_HELPER: helper }),
  };
}

/** What each program said: every worktree asks, and the answer holds up the whole process. */
const trailerKnowledge = new Map<string, boolean>();

/** `git commit --trailer` is there since 2.32. */
function knowsTrailers(git: string): boolean {
  const known = trailerKnowledge.get(git) ?? askForTrailers(git);
  trailerKnowledge.set(git, known);
  return known;
}

function askForTrailers(git: string): boolean {
  const { stdout } = spawnSync(git, ['--version'], { encoding: 'utf8', timeout: 5_000 });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 32);
}

/** Its path in the sources, or beside the bundles; null if another program has bundled us. */
function helperProgram(): string | null {
  const places = ['./main.ts', '../git/shared-git.js'];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? null;
}

function gitDirectoryOf(root: string): string | null {
  const entry = join(root, '.git');
  if (statSync(entry, { throwIfNoEntry: false })?.isDirectory() === true) return entry;
  const target = /^gitdir: (.+)$/m.exec(readPointer(entry) ?? '')?.[1];
  return target === undefined ? null : resolve(root, target.trimEnd());
}
