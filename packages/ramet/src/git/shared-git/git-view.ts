/** What a checkout looks like to git, for a command line that was given in it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export interface GitAnswer {
  code: number;
  stdout: string;
  stderr: string;
}

export interface GitViewOptions {
  /** The real git. */
  program: string;
  /** Options before the command. */
  globals: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
}

const LOCK_ATTEMPTS = 40;
const LOCK_PAUSE_MS = 50;
const LARGEST_ANSWER = 256 << 20;

export class GitView {
  readonly #options: GitViewOptions;
  readonly root: string;
  /** Null before the first commit. */
  readonly head: string | null;

  constructor(options: GitViewOptions) {
    this.#options = options;
    this.root = this.ask(['rev-parse', '--show-toplevel']).stdout.replace(/\n$/, '');
    const head = this.ask(['rev-parse', '--verify', '--quiet', 'HEAD']);
    this.head = head.code === 0 ? head.stdout.trim() : null;
  }

  /** As the caller would have run it; its exit code, or 128 and the signal's number. */
  run(words: readonly string[], env: Readonly<Record<string, string>> = {}): number {
    const { program, globals } = this.#options;
    const { status, error } = spawnSync(program, [...globals, ...words], {
      env: { ...this.#options.env, ...env },
      stdio: 'inherit',
    });
    if (error !== undefined) throw error;
    return status ?? 255;
  }

  ask(
    words: readonly string[],
    { input, env = {} }: { input?: string; env?: Readonly<Record<string, string>> } = {},
  ): GitAnswer {
    const { program, globals } = this.#options;
    const { status, stdout, stderr, error } = spawnSync(program, [...globals, ...words], {
      env: { ...this.#options.env, ...env },
      encoding: 'utf8',
      maxBuffer: LARGEST_ANSWER,
      ...(input === undefined ? {} : { input }),
    });
    if (error !== undefined) throw error;
    return { code: status ?? 255, stdout, stderr };
  }

  /** On exactly these paths, counted from the root; git's complaint when it fails. */
  onPaths(
    words: readonly string[],
    paths: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): string | null {
    if (paths.length === 0) return null;
    const line = ['-C', this.root, ...words, '--pathspec-from-file=-', '--pathspec-file-nul'];
    const details = { input: paths.join('\0'), env: { ...env, GIT_LITERAL_PATHSPECS: '1' } };
    for (let attempt = 1; ; attempt++) {
      const { code, stderr } = this.ask(line, details);
      if (code === 0) return null;
      // A person's git takes no lock of ours; it is done in a moment.
      if (!stderr.includes('index.lock') || attempt === LOCK_ATTEMPTS) return stderr.trim();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_PAUSE_MS);
    }
  }

  /** Paths that differ from HEAD, in the index or on disk, counted from the root. */
  dirty(pathspecs: readonly string[], untracked: 'all' | 'no'): string[] {
    const words = ['status', '--porcelain=v1', '-z', '--no-renames', `--untracked-files=${untracked}`];
    const answer = this.ask([...words, ...limited(pathspecs)], { env: { GIT_OPTIONAL_LOCKS: '0' } });
    return split(answer).map((entry) => entry.slice(3));
  }

  /** What the index has and HEAD has not: mode and object by path; a path that is gone has an object of zeros. */
  staged(pathspecs: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Map<string, string> {
    const words =
      this.head === null
        ? ['ls-files', '-s', '-z', '--full-name']
        : ['diff', '--cached', '--raw', '--no-abbrev', '--no-renames', '--no-relative', '-z'];
    const fields = split(this.ask([...words, ...limited(pathspecs)], { env }));
    return this.head === null ? listedEntries(fields) : changedEntries(fields);
  }

  /** Paths that a restore from `source` would overwrite on disk. */
  differing(source: string | null, pathspecs: readonly string[]): string[] {
    const from = source === null ? [] : [source];
    const words = [
      'diff',
      '--name-only',
      '--no-renames',
      '--no-relative',
      '-z',
      ...from,
      ...limited(pathspecs),
    ];
    return split(this.ask(words));
  }

  isCommit(name: string): boolean {
    return this.ask(['rev-parse', '--verify', '--quiet', `${name}^{commit}`]).code === 0;
  }

  absolute(path: string): string {
    return join(this.root, path);
  }

  relative(path: string): string {
    return path.slice(this.root.length + 1);
  }
}

/** `mode object stage<tab>path` */
function listedEntries(fields: readonly string[]): Map<string, string> {
  return new Map(
    fields.map((field) => {
      const tab = field.indexOf('\t');
      return [field.slice(tab + 1), field.slice(0, tab).split(' ').slice(0, 2).join(' ')];
    }),
  );
}

/** `:mode mode object object status`, then the path. */
function changedEntries(fields: readonly string[]): Map<string, string> {
  const entries = new Map<string, string>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [, mode, , object] = (fields[index] ?? '').split(' ');
    entries.set(fields[index + 1] ?? '', `${mode} ${object}`);
  }
  return entries;
}

function limited(pathspecs: readonly string[]): string[] {
  return pathspecs.length === 0 ? [] : ['--', ...pathspecs];
}

/** A question that git could not answer is no empty answer. */
function split({ code, stdout, stderr }: GitAnswer): string[] {
  if (code !== 0) throw new GitRefused(stderr.trim(), code);
  return stdout.split('\0').filter((entry) => entry !== '');
}

/** Git's own refusal; its words are shown as they are. */
export class GitRefused extends Error {
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.name = 'GitRefused';
    this.code = code;
  }
}
