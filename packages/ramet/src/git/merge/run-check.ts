/** Runs the user's check command on a merged commit. What it changes there changes nothing of what lands. */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { basename, join } from 'node:path';
import { LONGEST_TIMER_MS } from '../../schema/clock.ts';
import { describeError, RametError } from '../../schema/errors.ts';
import { newSessionId } from '../../schema/ids.ts';
import { type CheckSlots, type HeldSlot, takeSlot } from '../../system/check-slots.ts';
import { makePrivateDirectory } from '../../system/home.ts';
import { endMarked } from '../../system/processes/marked-processes.ts';
import {
  type ProcessEnd,
  type ProcessGroup,
  startProcessGroup,
} from '../../system/processes/process-group.ts';
import {
  AGENT_VARIABLE,
  createProcessRegister,
  processDirectory,
  reapOrphans,
} from '../../system/processes/process-register.ts';
import { type DiskRoom, fullDisk, fullDiskFrom, saysFull } from './full-disk.ts';
import type { IntegrationHead } from './integration.ts';
import { targetKey } from './integration-refs.ts';
import { type MergeRepository, treeOf } from './merge-repository.ts';
import { lookAtWorktree, openPrivateWorktree, type WorktreeLook } from './private-worktree.ts';

export interface CheckCommand {
  command: string;
  timeoutMs: number;
}

/** A check that has just begun. */
export interface BegunCheck extends CheckCommand {
  /** The file that gets what it prints. */
  output: string;
  directory: string;
}

export interface CheckPlace {
  /** The directory that Ramet keeps for the repository. */
  project: string;
  target: string;
  repository: MergeRepository;
  /** Where its working tree is; in `project` when absent. */
  worktrees?: string | undefined;
  /** The places that checks of this machine share; without, none is waited for. */
  slots?: CheckSlots | undefined;
  /** Called if it has to wait for a place, while this many checks run. */
  onWait?: ((running: number) => void) | undefined;
  /** Called when a command begins. */
  onStart?: ((begun: BegunCheck) => void) | undefined;
  /** A check comes for sure: git reads its working tree before the commit is known. */
  isSoon?: boolean | undefined;
  /** What is known of trees that were checked in this run. */
  known: Map<string, CheckOutcome>;
  /** What is free on a disk; the system is asked when absent. */
  room?: DiskRoom | undefined;
  /** Makes its working tree ready; returns what it lacks, one sentence each. */
  prepare(worktree: string, run: CommandRunner): Promise<string[]>;
}

/** Runs a command in the working tree of a check, its output before that of the check. */
export type CommandRunner = (command: CheckCommand) => Promise<CommandEnd>;

export interface CommandEnd {
  passed: boolean;
  /** `exit code 1`. */
  ending: string;
  code: number | null;
}

/** What marks the processes of a check. */
const CHECKER = 'merge-check';
/** One that prints without end must not fill the disk. */
const MOST_OUTPUT = 64_000_000;
const SIZE_POLL_MS = 50;
const HINT_BYTES = 16_384;
const MISSING =
  /^.*(?:: (?:command )?not found$|Cannot find (?:module|package)|No module named|ERR_MODULE_NOT_FOUND|could not determine executable|spawn \S+ ENOENT|node_modules\S*: No such file).*$/m;
/** What a shell says about a program that it does not find. */
const NOT_FOUND = 127;

/** The same tree is checked once in a run, however often what is merged is computed again. */
export function createChecker(
  { command, timeoutMs }: CheckCommand,
  place: CheckPlace,
): (head: IntegrationHead) => Promise<CheckOutcome> {
  // A check that a killed run left at work would find its files changed by ours, and ours by its.
  const alone = (): Promise<void> => endLeftChecks(place.project);
  let looking = place.isSoon === true ? alone().then(() => lookThere(place)) : null;
  // Told when it is wanted.
  looking?.catch(() => {});
  return async (head) => {
    looking ??= alone().then(() => null);
    const look = await looking;
    // True once: a check may leave anything.
    looking = Promise.resolve(null);
    const tree = await treeOf(head, place.repository);
    const { commit } = head;
    const outcome =
      place.known.get(tree) ?? (await runCheck({ commit, tree, look }, { command, timeoutMs }, place));
    place.known.set(tree, outcome);
    return outcome;
  };
}

function lookThere(place: CheckPlace): WorktreeLook | null {
  try {
    return lookAtWorktree(checkTree(place), place.repository);
  } catch {
    // It is made ready without: that says what is wrong.
    return null;
  }
}

async function endLeftChecks(project: string): Promise<void> {
  const ended = await reapOrphans(processDirectory(project));
  const checkers = ended.map(({ agent }) => agent).filter((agent) => agent.startsWith(`${CHECKER}.`));
  for (const checker of checkers) await endMarked(`${AGENT_VARIABLE}=${checker}`);
}

function checkDirectory({ project, target }: Pick<CheckPlace, 'project' | 'target'>): string {
  return join(project, 'merge', targetKey(target));
}

/** Others keep trees in a directory that a user has named: its name says whose it is. */
function checkTree({ worktrees, ...place }: CheckPlace): string {
  const name = `check-${targetKey(place.target)}`;
  if (worktrees === undefined) return join(checkDirectory(place), name);
  return join(worktrees, `ramet-${basename(place.project)}-${name}`);
}

function dotHint(worktree: string): string | undefined {
  if (!/\/\.[^/]/.test(worktree)) return undefined;
  return 'some programs refuse a path with a folder that begins with a dot: the setting worktree.directory moves it';
}

async function runCheck(
  { commit, tree, look }: { commit: string; tree: string; look: WorktreeLook | null },
  check: CheckCommand,
  place: CheckPlace,
): Promise<CheckOutcome> {
  const directory = checkDirectory(place);
  makePrivateDirectory(directory);
  const worktree = checkTree(place);
  try {
    await openPrivateWorktree(worktree, commit, place.repository, look);
  } catch (error) {
    throw fullDiskFrom(error, [worktree], place.room) ?? error;
  }
  const output = join(directory, `check-${tree.slice(0, 12)}.log`);
  const descriptor = openSync(output, 'w', 0o600);
  try {
    const { slots, onWait, repository } = place;
    using slot = slots === undefined ? null : await takeSlot(slots, { signal: repository.signal, onWait });
    const run: CommandRunner = (command) => runToEnd(command, { worktree, descriptor, slot }, place);
    const lacks = await place.prepare(worktree, run);
    place.onStart?.({ ...check, output, directory: worktree });
    const { code, ...end } = await run(check);
    const full = end.passed ? null : fullDisk([worktree, directory], place.room);
    if (full !== null) throw full;
    const hint = end.passed ? undefined : (hintFor(output, code, lacks[0]) ?? dotHint(worktree));
    return { ...end, output, directory: worktree, hint };
  } catch (error) {
    place.repository.signal?.throwIfAborted();
    const full = fullDiskFrom(error, [worktree], place.room);
    if (full !== null) throw full;
    throw new RametError('check_unusable', 'terminal', `the check cannot be run: ${describeError(error)}`);
  } finally {
    closeSync(descriptor);
  }
}

/** Whatever the command leaves running is ended with it, also what has left its group. */
async function runToEnd(
  check: CheckCommand,
  { worktree, descriptor, slot }: { worktree: string; descriptor: number; slot: HeldSlot | null },
  { project, repository }: CheckPlace,
): Promise<CommandEnd> {
  const register = createProcessRegister(processDirectory(project), () => {});
  const checker = `${CHECKER}.${newSessionId()}`;
  const group = await startProcessGroup({
    program: '/bin/sh',
    arguments: ['-c', check.command],
    cwd: worktree,
    env: { ...repository.env, ...slot?.environment, [AGENT_VARIABLE]: checker },
    output: descriptor,
    expect: () => register.expect(checker),
    register: (id) => register.enter(id, checker),
  });
  try {
    return await endOf(group, { ...check, descriptor }, repository.signal);
  } finally {
    await endMarked(`${AGENT_VARIABLE}=${checker}`);
  }
}

async function endOf(
  group: ProcessGroup,
  { timeoutMs, descriptor }: Pick<CheckCommand, 'timeoutMs'> & { descriptor: number },
  signal: AbortSignal | undefined,
): Promise<CommandEnd> {
  const flood = new AbortController();
  const poll = setInterval(() => {
    if (fstatSync(descriptor).size > MOST_OUTPUT) flood.abort();
  }, SIZE_POLL_MS);
  const limits = [AbortSignal.timeout(Math.min(timeoutMs, LONGEST_TIMER_MS)), flood.signal];
  const stop = AbortSignal.any([...limits, ...(signal === undefined ? [] : [signal])]);
  const stopped = Promise.withResolvers<null>();
  stop.addEventListener('abort', () => stopped.resolve(null));
  const end = await Promise.race([group.ended, stopped.promise]);
  clearInterval(poll);
  await group.terminate();
  signal?.throwIfAborted();
  if (fstatSync(descriptor).size > MOST_OUTPUT) ftruncateSync(descriptor, MOST_OUTPUT);
  if (flood.signal.aborted)
    return { passed: false, ending: `stopped: it printed over ${MOST_OUTPUT / 1_000_000} MB`, code: null };
  if (end === null)
    return { passed: false, ending: `not done after ${Math.round(timeoutMs / 1_000)} s`, code: null };
  return { passed: end.code === 0, ending: endingOf(end), code: end.code };
}

/** The check's worktree holds what is committed; the first thing that is missing there is what nobody commits. */
function hintFor(output: string, code: number | null, lacks: string | undefined): string | undefined {
  const text = lastPart(output);
  const full = saysFull(text);
  if (full !== undefined) return full;
  const missing = MISSING.exec(text)?.[0];
  // A check that fails for another reason would fail with the packages too.
  if (lacks !== undefined && (missing !== undefined || code === NOT_FOUND)) return lacks;
  if (missing === undefined) return undefined;
  return `it says ${JSON.stringify(missing.trim().slice(0, 100))}: the check runs in a worktree of its own, so let its command install what it needs, such as --check "npm ci && npm test"`;
}

function lastPart(output: string): string {
  const descriptor = openSync(output, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.min(size, HINT_BYTES));
    readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString();
  } finally {
    closeSync(descriptor);
  }
}

function endingOf({ code, signal }: ProcessEnd): string {
  return code === null ? `ended by ${signal}` : `exit code ${code}`;
}

/** How the user's check command ended on a merged tree. */
export interface CheckOutcome {
  passed: boolean;
  /** In words, such as `exit code 1`. */
  ending: string;
  /** The file that holds what it printed. */
  output: string;
  /** Where it ran. */
  directory?: string | undefined;
  /** What would make it pass, where that can be told from how it ended. */
  hint?: string | undefined;
}

export function describeCheck({ ending, output, directory, hint }: CheckOutcome): string {
  const where = directory === undefined ? '' : `; it ran in ${directory}`;
  return `(${ending}); its output: ${output}${where}${hint === undefined ? '' : `; ${hint}`}`;
}
