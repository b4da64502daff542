/**
 * What git says about a working tree, for the agent's first message. It asks once, takes no lock, runs nothing the
 * repository configures, and gives up in a second: what could not be learned is unknown, never clean.
 */
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describeError } from '../schema/errors.ts';
import { findRepository, readOrNull } from './repository.ts';

export type GitState =
  | {
      known: true;
      /** Null when HEAD is detached. */
      branch: string | null;
      /** Commit id; null before the first commit. */
      head: string | null;
      /** `XY path`, in git's order, at most `maxLines`. */
      changes: string[];
      /** How many changes are not listed. */
      more: number;
    }
  | { known: false; reason: string };

export interface GitStateOptions {
  directory: string;
  env: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  maxLines?: number;
  timeoutMs?: number;
}

const SETTINGS = ['core.fsmonitor=false', 'core.quotePath=false'];
/** Submodules are not entered: their own configuration would count there. */
const STATUS = ['status', '--porcelain=v2', '--branch', '--ignore-submodules=dirty'];

/** Variables that would point git at another repository than the directory's. */
const REPOSITORY_VARIABLES = /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX|NAMESPACE|OBJECT_DIRECTORY)$/;

export async function gitState(options: GitStateOptions): Promise<GitState> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? 1_000);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
  const collector = createCollector(options.maxLines ?? 20);
  const settings = [...SETTINGS, ...(await withoutFilters(options).catch(() => []))];
  const git = spawn('git', [...settings.flatMap((setting) => ['-c', setting]), ...STATUS], {
    cwd: options.directory,
    env: gitEnvironment(options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | null>((settle, fail) => git.once('error', fail).once('close', settle));
  let complaint = '';
  git.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(0, 500);
  });
  createInterface({ input: git.stdout }).on('line', collector.take);
  try {
    const code = await ended;
    return code === 0
      ? collector.state()
      : { known: false, reason: firstLine(complaint) || `git exited with ${code}` };
  } catch (error) {
    const reason = timeout.aborted ? 'git did not answer in time' : describeError(error);
    return { known: false, reason };
  }
}

/**
 * Git compares a touched file through the `clean` filter that the repository's configuration names, a program. Each
 * one is switched off by name. The names are read from the file itself; only when that includes others is git asked.
 */
async function withoutFilters({ directory, env }: GitStateOptions): Promise<string[]> {
  const repository = findRepository(directory);
  const files = ['config', 'config.worktree'].map((name) => join(repository?.commonDirectory ?? '', name));
  const text = files.map((path) => readOrNull(path) ?? '').join('\n');
  const names = /^\s*\[\s*include/im.test(text) ? await configuredFilters(directory, env) : filtersIn(text);
  return names.flatMap((name) => {
    const driver = `filter.${name}`;
    return [`${driver}.clean=`, `${driver}.process=`, `${driver}.required=false`];
  });
}

function filtersIn(config: string): string[] {
  const sections = config.matchAll(/^\s*\[\s*filter\s+"((?:[^"\\\n]|\\.)+)"/gim);
  return Array.from(sections, ([, name = '']) => name.replace(/\\(.)/g, '$1'));
}

async function configuredFilters(
  directory: string,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const { stdout } = await execute('git', ['config', '--name-only', '-z', '--get-regexp', '^filter\\.'], {
    cwd: directory,
    env: gitEnvironment(env),
  });
  const names = stdout.split('\0').map((key) => /^filter\.(.+)\.[^.]+$/.exec(key)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

const execute = promisify(execFile);

function gitEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !REPOSITORY_VARIABLES.test(name));
  return { ...Object.fromEntries(kept), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
}

function createCollector(maxLines: number): { take(line: string): void; state(): GitState } {
  const changes: string[] = [];
  const header = new Map<string, string>();
  let total = 0;
  return {
    take(line) {
      const named = /^# branch\.(\w+) (.*)$/.exec(line);
      if (named?.[1] !== undefined && named[2] !== undefined) header.set(named[1], named[2]);
      const change = shortChange(line);
      if (change === null) return;
      total++;
      if (changes.length < maxLines) changes.push(change);
    },
    state() {
      const head = header.get('oid');
      const branch = header.get('head');
      if (head === undefined || branch === undefined)
        return { known: false, reason: 'git printed no branch' };
      return {
        known: true,
        branch: branch === '(detached)' ? null : branch,
        head: head === '(initial)' ? null : head,
        changes,
        more: total - changes.length,
      };
    },
  };
}

/** How many fields stand before the path, by kind of line: ordinary, renamed, unmerged. */
const FIELDS_BEFORE_PATH: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10 };

function shortChange(line: string): string | null {
  const kind = line.charAt(0);
  if (kind === '?') return `?? ${line.slice(2)}`;
  const count = FIELDS_BEFORE_PATH[kind];
  if (count === undefined) return null;
  const fields = line.split(' ');
  const [path = '', from] = fields.slice(count).join(' ').split('\t');
  return `${fields[1] ?? '..'} ${from === undefined ? path : `${from} -> ${path}`}`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
