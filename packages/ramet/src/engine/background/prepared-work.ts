/**
 * What a fork has done ahead of the user (BG-2), as a value: its answer, the files it changed and the versions that all of it is
 * built on. It is taken out of the worktree when the fork has ended, so that the worktree can go back to the pool at once.
 */
import { readFileSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { PreparedFile } from '../../files/undo.ts';
import { counterpart } from '../../sandbox/write-fence.ts';
import { RametError } from '../../schema/errors.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { SessionMode } from '../../schema/status.ts';
import { landingPath } from '../../system/landing-path.ts';
import type { Agent } from '../agent/agent.ts';
import { modeInForce } from '../agent/agent-spec.ts';

/** It is held in memory until the next prompt. */
const MOST_BYTES = 10 << 20;

export interface PreparedWork {
  readonly agent: AgentId;
  readonly task: string;
  /** The prompt that it answers. */
  readonly prompt: string;
  readonly answer: string;
  readonly files: readonly PreparedFile[];
  /** By real path in the checkout. */
  readonly reads: ReadonlyMap<string, string>;
  /** Whether the checkout is as the fork saw it; null if all it has seen are these files. */
  readonly isCurrent: (() => Promise<boolean>) | null;
  /** Of the conversation that it continues, and the mode that its edits were allowed in. */
  readonly begunAt: string;
  readonly mode: SessionMode;
}

/** Notes which files a fork touches, and in which versions it found them. */
export class TouchedFiles {
  readonly #read = new Map<string, string>();
  readonly #changed = new Map<string, string | null>();
  /** Files that it wanted to read. Of those that its parent had read in the same version, no read is recorded. */
  readonly #wanted = new Set<string>();
  /** By a search or a command. */
  #hasSeenMore = false;

  /** Told of every call that may run. */
  allow({ spec, directory: { cwd } }: Agent, name: string, input: unknown): void {
    const {
      reads = [],
      writes,
      searches,
      command,
    } = spec.tools.find((tool) => tool.name === name)?.access?.(input) ?? {};
    if (searches === true || command !== undefined || (reads.length === 0 && writes === undefined))
      this.#hasSeenMore = true;
    for (const path of reads) this.#wanted.add(resolve(cwd, path));
  }

  /** Told of everything that is recorded of the fork. */
  note(event: JournalEvent): void {
    if (event.type === 'file.read' && !this.#isKnown(event.path)) this.#read.set(event.path, event.version);
    if (event.type !== 'file.changed' || this.#changed.has(event.path)) return;
    this.#changed.set(event.path, event.before);
    this.#read.delete(event.path);
  }

  #isKnown(path: string): boolean {
    return this.#read.has(path) || this.#changed.has(path);
  }

  /** Throws where it is too much to hold. */
  filesOf(fork: Agent): Pick<PreparedWork, 'files' | 'reads' | 'isCurrent'> {
    const { fence, isAsCarried = null } = fork.directory.workspace ?? {};
    const placeOf = (path: string): string => (fence && counterpart(path, fence.root, fence.from)) ?? path;
    let bytes = 0;
    const files = Array.from(this.#changed, ([path, before]): PreparedFile => {
      bytes += statSync(path).size;
      if (bytes > MOST_BYTES)
        throw new RametError('too_large', 'terminal', 'it has changed too much to be held');
      const mode = statSync(path).mode & 0o7777;
      return { path: placeOf(path), before, bytes: readFileSync(path), mode };
    });
    const isWhole = this.#findReads(fork);
    const reads = new Map(Array.from(this.#read, ([path, version]) => [placeOf(path), version]));
    return { files, reads, isCurrent: isWhole ? null : isAsCarried };
  }

  /** Whether all that it has seen are files that are known with their versions. */
  #findReads({ files }: Agent): boolean {
    let isWhole = !this.#hasSeenMore;
    for (const wanted of this.#wanted) {
      const path = landingPath(wanted);
      const version = path === null ? undefined : files.lastSeen(path);
      // Such as a file that was not there.
      if (path === null || version === undefined) isWhole = false;
      else if (!this.#isKnown(path)) this.#read.set(path, version);
    }
    return isWhole;
  }
}

/** What the fork was told about its worktree is of no use to the user: paths are those of the checkout. */
export function answerOfFork({ directory: { workspace } }: Agent, answer: string): string {
  const text = answer.replace(/^\s*Scope:.*\n?/i, '').trim();
  return workspace === null ? text : text.replaceAll(workspace.fence.root, workspace.fence.from);
}

/** One line for the user and the model: who has done it, and which files it is about. */
export function adoptedText({ agent, answer, files }: PreparedWork, cwd: string): string {
  const names = files.map(({ path }) => relative(cwd, path));
  const changed = names.length === 0 ? 'No file was changed.' : `Changed: ${names.join(', ')}.`;
  return `${answer}\n\n(Prepared in advance by ${agent}. ${changed})`;
}

/** Where the main agent is now, for `begunAt` and `mode`. */
export function standOf(agent: Agent): Pick<PreparedWork, 'begunAt' | 'mode'> {
  return { begunAt: agent.conversation.digest, mode: modeInForce(agent) };
}
