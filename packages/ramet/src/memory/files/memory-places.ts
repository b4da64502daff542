/**
 * Where memory is kept. Everything that agents write is below `$RAMET_HOME`, never in a repository: the repository's own
 * MEMORY.md, AGENTS.md and CLAUDE.md are a person's. There are two stores, one of the user and one of each repository, and
 * each has its history beside its files.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';

/** `local` is of one checkout, `project` of all worktrees of a repository, `user` of all repositories. */
export const MEMORY_SCOPES = ['project', 'local', 'user'] as const;

export type MemoryScope = (typeof MEMORY_SCOPES)[number];

export const INDEX_FILE = 'MEMORY.md';

export interface MemoryPlace {
  /** `$RAMET_HOME`. */
  readonly home: string;
  /** The directory of the repository's sessions. */
  readonly project: string;
  /** Of the checkout that a session works in. */
  readonly root: string;
  /** Where `~/.claude` is. */
  readonly userHome?: string | undefined;
}

/** Which store: the repository's, which also has what is of one checkout, or the user's. */
export type StoreName = 'project' | 'user';

/** Whose a file of a store is: `project`, `local`, `user`, or `agent NAME`, `team NAME`, `session ID`. */
export function scopeOfFile(file: string, name: StoreName): string {
  const [kind = '', owner = ''] = file.split('/');
  if (kind === 'local') return 'local';
  if (kind === 'agents') return `agent ${owner}`;
  if (kind === 'team') return `team ${owner}`;
  return kind === 'sessions' ? `session ${owner.replace(/\.md$/, '')}` : name;
}

/** A folder of a store; `folder` is relative to it, and empty for the store itself. */
export interface MemoryFolder {
  readonly store: string;
  readonly folder: string;
}

export function storeOf(
  { home, project }: Pick<MemoryPlace, 'home' | 'project'>,
  scope: MemoryScope,
): string {
  return join(scope === 'user' ? home : project, 'memory');
}

export function scopeFolder(place: MemoryPlace, scope: MemoryScope): MemoryFolder {
  const folder = scope === 'local' ? join('local', checkoutName(place.root)) : '';
  return { store: storeOf(place, scope), folder };
}

/** The memory of a type of agents. What agents write is never in a checkout, so `project` and `local` are one. */
export function agentFolder(place: MemoryPlace, scope: MemoryScope, agent: string): MemoryFolder {
  return { store: storeOf(place, scope), folder: join('agents', safeName(agent)) };
}

/** What another tool has kept for agents of this name; it is read and never written. */
export function otherAgentFolder(
  { root, userHome }: MemoryPlace,
  scope: MemoryScope,
  agent: string,
): string | null {
  const kept = scope === 'local' ? 'agent-memory-local' : 'agent-memory';
  const base = scope === 'user' ? userHome : root;
  if (base === undefined) return null;
  if (!/^[A-Za-z0-9][\w.-]*$/.test(agent)) return null;
  const folder = join(base, '.claude', kept, agent);
  return existsSync(folder) ? folder : null;
}

/** What the members of a team share; a copy of what a memory server has, if there is one. */
export function teamFolder(place: MemoryPlace, team: string): MemoryFolder {
  return { store: storeOf(place, 'project'), folder: join('team', safeName(team)) };
}

export function indexPath({ store, folder }: MemoryFolder): string {
  return join(store, folder, INDEX_FILE);
}

function checkoutName(root: string): string {
  const hash = createHash('sha256').update(root).digest('hex').slice(0, 8);
  const name = basename(root).replace(/[^A-Za-z0-9_-]+/g, '-');
  return `${name.slice(0, 40) || 'root'}-${hash}`;
}

/** Of a name that is no plain one, what is left, and a digest that tells it from others. */
function safeName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(name)) return name;
  const left = name.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${left.slice(0, 60) || 'unnamed'}-${hash}`;
}
