/** A synthetic repository in memory, with branches that touch nothing in common. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const FILES = 51_431;
const DIRECTORIES = 200;
const TOUCHED = 5;
const SIZE: BenchSize = { files: FILES, branches: 16 };

interface BenchSize {
  files: number;
  branches: number;
}

export interface MergeBenchRepository extends Disposable {
  directory: string;
  project: string;
  branches: string[];
  base: string;
  env: Record<string, string>;
  git(...args: string[]): string;
}

/** HEAD is on `plain`, checked out, so that `main` is free. */
export function mergeBenchRepository({ files, branches: count }: BenchSize = SIZE): MergeBenchRepository {
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ramet-merge-'));
  const directory = join(root, 'repository');
  const who = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'Bench'],
    [`GIT_${role}_EMAIL`, 'bench@example.invalid'],
  ]);
  const env = { PATH: process.env.PATH ?? '', HOME: root, ...Object.fromEntries(who) };
  const run = (args: readonly string[], cwd: string, input?: string): string =>
    execFileSync('git', args, {
      cwd,
      env,
      encoding: 'utf8',
      input,
      stdio: 'pipe',
      maxBuffer: 1 << 28,
    }).trim();
  run(['init', '-q', '-b', 'plain', directory], root);
  const branches = Array.from({ length: count }, (_, index) => `agent-${index + 1}`);
  run(['fast-import', '--quiet'], directory, importOf(branches, files));
  run(['reset', '-q', '--hard', 'main'], directory);
  return {
    directory,
    project: join(root, 'project'),
    branches,
    base: run(['rev-parse', 'main'], directory),
    env,
    git: (...args) => run(args, directory),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function importOf(branches: readonly string[], count: number): string {
  const paths = Array.from({ length: count }, (_, index) => `d${index % DIRECTORIES}/f${index}.txt`);
  const files = paths.map((path) => fileOf(path, `${path}\n${'line of text\n'.repeat(8)}`));
  const works = branches.flatMap((branch, index) => [
    commitOf(branch, 'from refs/heads/main\n'),
    ...Array.from({ length: TOUCHED }, (_, file) =>
      fileOf(`d${index}/f${index + file * DIRECTORIES}.txt`, `${branch}\n`),
    ),
  ]);
  return [commitOf('main', ''), ...files, ...works].join('');
}

function commitOf(branch: string, from: string): string {
  return `commit refs/heads/${branch}\ncommitter Bench <bench@example.invalid> 1700000000 +0000\n${textOf(`work on ${branch}`)}${from}`;
}

function fileOf(path: string, text: string): string {
  return `M 100644 inline ${path}\n${textOf(text)}`;
}

function textOf(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
