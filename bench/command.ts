/** Runs the real command, as installed, in a fresh place. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
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

export interface PrintOptions {
  prompt?: string;
  /** Further arguments of the command. */
  args?: readonly string[];
  /** Arguments of Node itself. */
  node?: readonly string[];
  env?: Record<string, string>;
  /** Instead of the place's own repository. */
  cwd?: string;
  /** Instead of the checkout's launcher. */
  bin?: string;
  /** Instead of a fresh one. */
  home?: string;
}

/** `ramet -p` with the built bundle and this Node, spawned without a shell. */
export function spawnPrint(place: BenchPlace, url: string, options: PrintOptions = {}): ChildProcess {
  const { prompt = 'read it', args = [], node = [], env = {}, cwd = place.repository, bin = BIN } = options;
  const home = options.home ?? place.freshHome();
  const fixed = ['-p', prompt, '--permission-mode', 'bypassPermissions'];
  return spawn(process.execPath, [...node, bin, ...fixed, ...args], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      RAMET_HOME: join(home, 'ramet'),
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'bench',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** The same, to its end: what it printed. */
export async function runPrint(place: BenchPlace, url: string, options: PrintOptions = {}): Promise<string> {
  const child = spawnPrint(place, url, options);
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`ramet -p ended with ${code}: ${output.slice(0, 500)}`);
  return output;
}
