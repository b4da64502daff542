/**
 * Whose changes are in a checkout: what agents have changed since it was last committed, what they have put into the
 * index, and which commits are theirs (`files/shared-writes.ts` keeps it). Paths are real paths.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SharedWrites } from '../../files/shared-writes.ts';
import { sessionOf } from '../../files/stale-file.ts';
import type { AgentId } from '../../schema/ids.ts';
import { inTransaction } from '../../system/sqlite/database.ts';
import { settledDirectory } from './living-agents.ts';

const BUSY_TIMEOUT_MS = 20_000;

export interface ClaimsOptions {
  project: string;
  /** The checkout's folder there. */
  state: string;
  agent: AgentId;
  /** The other agents that live in the checkout. */
  others: readonly AgentId[];
}

/** `free`: no living agent is known to have changed it; `heir`: agents have that are gone. */
export type Standing = { kind: 'own' | 'heir' | 'free' } | { kind: 'others'; agents: readonly AgentId[] };

/** How paths get into the index, and what it has then. Real paths. */
export interface StagingStep {
  /** Git's complaint, or null. */
  add(paths: readonly string[]): string | null;
  entries(): ReadonlyMap<string, string>;
}

export interface SettledPath {
  path: string;
  commit: string;
  agent: AgentId | null;
}

export class Claims implements Disposable {
  readonly #writes: SharedWrites;
  readonly #options: ClaimsOptions;
  #changed: Map<string, Set<AgentId>>;
  /** Entries of the index by path and agent. */
  readonly #staged = new Map<string, Map<AgentId, string>>();

  constructor(options: ClaimsOptions) {
    this.#options = options;
    this.#writes = SharedWrites.open(options.project);
    const { db } = this.#writes;
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    this.#changed = this.#openChanges();
    for (const row of db.prepare('SELECT path, agent, entry FROM staged').all())
      this.#noteStaged(String(row.path), String(row.agent), String(row.entry));
  }

  /** Whose a changed path is. What this agent and others have changed is its own too: git cannot part the two. */
  standing(path: string): Standing {
    const { agent, others } = this.#options;
    const agents = this.#changed.get(path);
    if (agents === undefined || agents.size === 0) return { kind: 'free' };
    if (agents.has(agent)) return { kind: 'own' };
    const living = [...agents].filter((each) => others.includes(each));
    return living.length > 0
      ? { kind: 'others', agents: living }
      : { kind: this.#inherits(agents) ? 'heir' : 'free' };
  }

  /** Nobody else who lives, and no person as far as is known, has changed it. */
  isOnlyOwn(path: string): boolean {
    const { agent, others } = this.#options;
    const agents = this.#changed.get(path) ?? new Set();
    return agents.has(agent) && !others.some((other) => agents.has(other));
  }

  /** Whether the agent put this entry into the index; what others have put in its place since is not its own. */
  hasStaged(path: string, entry: string): boolean {
    return this.#staged.get(path)?.get(this.#options.agent) === entry;
  }

  isStagedByAgents(path: string, entry: string): boolean {
    return [...(this.#staged.get(path)?.values() ?? [])].includes(entry);
  }

  stagedByOthers(path: string, entry: string): AgentId[] {
    const { agent, others } = this.#options;
    const stagers = [...(this.#staged.get(path) ?? [])].filter(([, staged]) => staged === entry);
    return stagers.map(([each]) => each).filter((each) => each !== agent && others.includes(each));
  }

  /**
   * Puts paths into the index by `add` and notes that they are there from this agent. No file tool writes meanwhile, so
   * that what was changed before is in the index and what is changed later is not; what another agent has changed since
   * the paths were chosen is left out.
   */
  stage(wanted: readonly string[], { add, entries }: StagingStep): string | null {
    const { agent } = this.#options;
    const insert = this.#writes.db.prepare(
      'INSERT OR REPLACE INTO staged (path, agent, entry, time) VALUES (?, ?, ?, ?)',
    );
    return inTransaction(this.#writes.db, () => {
      this.#changed = this.#openChanges();
      const paths = wanted.filter((path) => this.standing(path).kind !== 'others');
      const complaint = add(paths);
      if (complaint !== null) return complaint;
      const time = Date.now();
      const now = entries();
      for (const path of paths) {
        const entry = now.get(path);
        if (entry === undefined) continue;
        insert.run(path, agent, entry, time);
        this.#noteStaged(path, agent, entry);
      }
      // A change that comes next must have a later time.
      while (Date.now() === time);
      return null;
    });
  }

  /** Notes files that the agent has removed or moved by git. */
  recordRemoved(paths: readonly string[], command: string): void {
    const { agent } = this.#options;
    const time = Date.now();
    this.#inOneStep(() => {
      for (const path of paths)
        this.#writes.record({ path, agent, version: null, time, task: null, command });
    });
  }

  /**
   * A commit of the agent's holds these paths as they were last put into the index: what was changed by then is
   * settled.
   */
  settle(paths: readonly string[], commit: string, begun: number): void {
    const { db } = this.#writes;
    const write = db.prepare(
      `UPDATE writes SET settled = ? WHERE path = ? AND settled IS NULL
       AND time <= coalesce((SELECT max(time) FROM staged WHERE staged.path = writes.path), ?)`,
    );
    const unstage = db.prepare('DELETE FROM staged WHERE path = ?');
    this.#inOneStep(() => {
      for (const path of paths) {
        write.run(commit, path, begun);
        unstage.run(path);
      }
      db.prepare('INSERT OR REPLACE INTO commits (id, agent, time) VALUES (?, ?, ?)').run(
        commit,
        this.#options.agent,
        Date.now(),
      );
    });
  }

  committer(commit: string): AgentId | null {
    const row = this.#writes.db.prepare('SELECT agent FROM commits WHERE id = ?').get(commit);
    return row === undefined ? null : String(row.agent);
  }

  /** What the agent has changed and others have committed, the latest first. */
  settledByOthers(): SettledPath[] {
    const rows = this.#writes.db
      .prepare(
        `SELECT path, settled, commits.agent AS committer FROM writes LEFT JOIN commits ON commits.id = settled
         WHERE writes.agent = ? AND settled IS NOT NULL AND committer IS NOT writes.agent ORDER BY writes.time DESC LIMIT 20`,
      )
      .all(this.#options.agent);
    return rows.map((row) => ({
      path: String(row.path),
      commit: String(row.settled),
      agent: row.committer === null ? null : String(row.committer),
    }));
  }

  [Symbol.dispose](): void {
    this.#writes[Symbol.dispose]();
  }

  /** The main agent of a session takes on what agents of it have left. */
  #inherits(agents: ReadonlySet<AgentId>): boolean {
    const { agent } = this.#options;
    const session = sessionOf(agent);
    return agent === `${session}.1` && [...agents].every((each) => sessionOf(each) === session);
  }

  #noteStaged(path: string, agent: AgentId, entry: string): void {
    const stagers = this.#staged.get(path) ?? new Map<AgentId, string>();
    this.#staged.set(path, stagers.set(agent, entry));
  }

  #openChanges(): Map<string, Set<AgentId>> {
    const settled = new Map<AgentId, number>();
    const isOpen = (agent: AgentId, time: number): boolean => {
      const at = settled.get(agent) ?? this.#settledAt(agent);
      settled.set(agent, at);
      return time > at;
    };
    const rows = this.#writes.db.prepare('SELECT path, agent, time FROM writes WHERE settled IS NULL').all();
    return grouped(rows.filter((row) => isOpen(String(row.agent), Number(row.time))));
  }

  #settledAt(agent: AgentId): number {
    const file = join(settledDirectory(this.#options.state), agent);
    return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  #inOneStep(work: () => void): void {
    inTransaction(this.#writes.db, work);
  }
}

function grouped(rows: readonly Record<string, unknown>[]): Map<string, Set<AgentId>> {
  const groups = new Map<string, Set<AgentId>>();
  for (const row of rows) note(groups, String(row.path), String(row.agent));
  return groups;
}

function note(groups: Map<string, Set<AgentId>>, path: string, agent: AgentId): void {
  const group = groups.get(path) ?? new Set();
  group.add(agent);
  groups.set(path, group);
}
