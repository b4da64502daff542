/** Runs the real command, as installed, in a fresh place. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const BIN: string = join(import.meta.dirname, '../packages/ramet/bin/ramet.js');

export interface BenchPlace extends Disposable {
  repository: string;
  /** A `$RAMET_HOME` that does not exist yet. */
  freshHome(): string;
}

export function benchPlace(): BenchPlace {
  const base = mkdtempSync(join(tmpdir(), 'ramet-bench-'));
  const repository = join(base, 'repository');
  execFileSync('git', ['init', '--quiet', repository]);
  writeFileSync(join(repository, 'file.txt'), 'a line of text\n'.repeat(20));
  let homes = 0;
  return {
    repository,
    freshHome: () => join(base, `home-${++homes}`),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** `ramet -p` with the built bundle and this Node, spawned without a shell. */
export function spawnPrint(place: BenchPlace, url: string, node: readonly string[] = []): ChildProcess {
  const home = place.freshHome();
  return spawn(process.execPath, [...node, BIN, '-p', 'read it', '--permission-mode', 'bypassPermissions'], {
    cwd: place.repository,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      RAMET_HOME: join(home, 'ramet'),
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'bench',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
