/**
 * The program that the shim runs in git's place while a second agent lives in the checkout (WORK-1), under the
 * checkout's lock: refuses what would harm the others, and lets `add` and `commit` take the agent's own paths only.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describeError } from '../../schema/errors.ts';
import { addOwn } from './add-own.ts';
import { Claims } from './claims.ts';
import { commitOwn } from './commit-own.ts';
import { GitRefused, GitView } from './git-view.ts';
import { type GitWords, gitWords, refusalText, refusedBesideOthers } from './git-words.ts';
import { pathRefusal } from './guard-paths.ts';
import { livingAgents } from './living-agents.ts';
import { absoluteEntries, directoryOf } from './take-paths.ts';

const { env } = process;
const agent = env.RAMET_AGENT ?? '';
const state = env.RAMET_CHECKOUT_STATE ?? '';
const gitDirectory = env.RAMET_CHECKOUT ?? '';
const LOCK_WAIT_MS = 300_000;

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** An alias of a plain command counts as that command. */
function withoutAlias(view: GitView, words: GitWords): GitWords {
  if (words.command === 'stage') return { ...words, command: 'add' };
  const alias = view.ask(['config', '--get', `alias.${words.command}`]).stdout.trim();
  const [command, ...rest] = alias.split(/\s+/);
  if (command === undefined || command === '' || command.startsWith('!')) return words;
  return { ...words, command, rest: [...rest, ...words.rest] };
}

function carryOut(words: readonly string[]): number {
  const { globals, ...asked } = gitWords(words);
  const view = new GitView({ program: env.RAMET_REAL_GIT ?? 'git', globals, env });
  const others = livingAgents(state, agent);
  if (others.length === 0) return view.run(words.slice(globals.length));
  const command = withoutAlias(view, { globals, ...asked });
  using claims = new Claims({ project: dirname(dirname(state)), state, agent, others });
  const choice = { view, claims, directory: directoryOf(globals, process.cwd()) };
  const harm = refusedBesideOthers(command) ?? pathRefusal(choice, command.command, command.rest);
  if (harm !== null) {
    tell(`ramet: ${refusalText(harm, others)}`);
    return 1;
  }
  if (command.command === 'add') return addOwn(choice, command.rest, tell);
  if (command.command === 'commit')
    return commitOwn({ ...choice, gitDirectory, agent, scratch: state }, command.rest, tell);
  const before = view.staged();
  const code = view.run([command.command, ...command.rest]);
  if (code === 0 && ['rm', 'mv'].includes(command.command))
    claimStaged(view, claims, before, command.command);
  return code;
}

function claimStaged(
  view: GitView,
  claims: Claims,
  before: ReadonlyMap<string, string>,
  command: string,
): void {
  const paths = [...view.staged()]
    .filter(([path, entry]) => before.get(path) !== entry)
    .map(([path]) => view.absolute(path));
  claims.stage(paths, { add: () => null, entries: () => absoluteEntries(view) });
  claims.recordRemoved(paths, `git ${command}`);
}

/** Where there is no `flock`: SQLite's lock on a file of the checkout's folder, given back by the system as well. */
function takeLock(): DatabaseSync {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(state, 'git-lock.sqlite'), { timeout: LOCK_WAIT_MS });
  lock.exec('BEGIN EXCLUSIVE');
  env.RAMET_GIT_LOCK = `${process.pid} ${gitDirectory}`;
  return lock;
}

function main(words: readonly string[]): number {
  try {
    if (words[0] !== '--take-lock') return carryOut(words);
    using _lock = takeLock();
    return carryOut(words.slice(1));
  } catch (error) {
    tell(error instanceof GitRefused ? error.message : `ramet: git was not run: ${describeError(error)}`);
    return error instanceof GitRefused ? error.code : 128;
  }
}

process.exitCode = main(process.argv.slice(2));
