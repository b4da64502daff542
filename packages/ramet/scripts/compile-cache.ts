/**
 * Runs the fresh bundle, so that V8's compiled code is on disk before anybody waits for it. What runs decides what is kept,
 * for good: so it is what people wait for, a prompt whose agent reads a file, then starts a fork in a worktree and another
 * agent. The cache belongs to this Node and these paths, which is why it is made where the command will run and never
 * published; another Node ignores it. A failure here only costs the saving.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as Emulator from '../src/emulator/index.ts';

const LONGEST_MS = 20_000;

export async function warmCompileCache(packageRoot: string): Promise<void> {
  const cache = join(packageRoot, 'dist', '.compile-cache');
  rmSync(cache, { recursive: true, force: true });
  if (!existsSync(join(packageRoot, 'dist', 'cli', 'main.cjs'))) return;
  await runPrompts(packageRoot, cache).catch(() => {});
  const env = { ...process.env, NODE_COMPILE_CACHE: cache };
  await run([join(packageRoot, 'dist/executors/child-main.js')], { env }).catch(() => {});
}

/** The launcher uses the cache if there is one: the first prompt only fills the pool of worktrees for the second. */
async function runPrompts(packageRoot: string, cache: string): Promise<void> {
  const { startEmulator }: typeof Emulator = await import(join(packageRoot, 'dist/emulator/index.js'));
  const place = mkdtempSync(join(tmpdir(), 'ramet-build-'));
  try {
    await using emulator = await startEmulator({ scenario: SCENARIO });
    const { PATH } = process.env;
    const home = join(place, 'home');
    const keys = { ANTHROPIC_BASE_URL: emulator.url, ANTHROPIC_API_KEY: 'build' };
    const options = { cwd: join(place, 'repository'), env: { PATH, HOME: place, RAMET_HOME: home, ...keys } };
    await makeRepository(options);
    const launcher = join(packageRoot, 'bin', 'ramet.js');
    const prompt = [launcher, '-p', 'Go.', '--permission-mode', 'bypassPermissions'];
    await run(prompt, options);
    mkdirSync(cache);
    await run(prompt, options);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

interface RunOptions {
  cwd?: string;
  env: NodeJS.ProcessEnv;
}

async function makeRepository({ cwd = '', env }: RunOptions): Promise<void> {
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'notes.txt'), 'a line of text\n'.repeat(20));
  const identity = ['-c', 'user.name=Build', '-c', 'user.email=build@example.invalid'];
  const steps = [
    ['init', '--quiet'],
    ['add', '--all'],
    [...identity, 'commit', '--quiet', '--message=start'],
  ];
  for (const args of steps)
    await once(spawn('git', args, { cwd, env, stdio: 'ignore', timeout: LONGEST_MS }), 'exit');
}

async function run(args: readonly string[], options: RunOptions): Promise<void> {
  await once(spawn(process.execPath, args, { ...options, stdio: 'ignore', timeout: LONGEST_MS }), 'exit');
}

const READ = { respond: { tool_use: [{ name: 'Read', input: { file_path: 'notes.txt' } }] } };

const SCENARIO: Emulator.Scenario = {
  rules: [
    { match: { task: '/^Look/', fork: true, turn: 0 }, ...READ },
    { match: { task: '/^Look/', turn: 0 }, ...READ },
    { match: { task: '/^Look/' }, respond: { text: 'It has twenty lines.' } },
    { match: { turn: 0 }, ...READ },
    {
      match: { turn: 1 },
      respond: {
        text: 'Two agents look at it.',
        tool_use: [
          { name: 'Agent', input: { description: 'look', prompt: 'Look at it.', isolation: 'worktree' } },
          {
            name: 'Agent',
            input: { description: 'look', prompt: 'Look at it.', subagent_type: 'general-purpose' },
          },
        ],
      },
    },
    { match: {}, respond: { text: 'Both have looked.' } },
  ],
};
