/** One run of tasks, a plan for another of the same kind, and that run: how far is the plan off? */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmulator } from '../../packages/ramet/src/emulator/index.ts';
import { tasksOf } from '../../packages/ramet/src/operator/run/operator-state.ts';
import { operateTasks } from '../../packages/ramet/src/sdk/operator/operate.ts';
import { planTasks } from '../../packages/ramet/src/sdk/operator/planning/plan-tasks.ts';
import { runStatistics } from '../../packages/ramet/src/sdk/operator/planning/run-statistics.ts';
import { IDENTITY } from '../../packages/ramet/test/fixtures/merge-repository.ts';
import { makeRepository } from '../../packages/ramet/test/fixtures/repository-template.ts';

export interface PlanTrial {
  width: number;
  /** Of every response. */
  latencyMs: number;
  /** Tasks of the first run, which wait for nothing, and of the second, in chains. */
  before: number;
  after: number;
}

export interface PlanTrialResult {
  predictedSeconds: number;
  seconds: number;
  predictedUsd: number;
  usd: number;
}

const FILES = 200;

export async function runPlanTrial({ width, latencyMs, before, after }: PlanTrial): Promise<PlanTrialResult> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-plan-')));
  try {
    const [repository, home] = [join(folder, 'work'), join(folder, 'home')];
    for (const path of [repository, home]) mkdirSync(path);
    writeFileSync(
      join(home, 'settings.json'),
      JSON.stringify({ sandbox: { readOnly: 'off', worktree: 'off' } }),
    );
    makeRepository(repository, repositoryFiles());
    const lists = [taskList(100, before, before), taskList(500, after, width)] as const;
    for (const [index, text] of lists.entries()) writeFileSync(join(folder, `${index}.md`), text);
    await using emulator = await startEmulator({
      respond: worker,
      latency: { baseMs: latencyMs, uncachedMsPer1k: 20, cachedMsPer1k: 2, tokensPerSecond: 150 },
    });
    const at = {
      cwd: repository,
      env: {
        ...{ PATH: process.env.PATH, HOME: folder, RAMET_HOME: home, ...IDENTITY },
        ...{ ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: emulator.url },
      },
    };
    const run = async (file: string): Promise<void> => {
      const { state } = await operateTasks(file, { ...at, parallel: width, updateCheckout: true });
      const left = tasksOf(state).filter(({ status }) => status !== 'done');
      if (left.length > 0)
        throw new Error(`${left.length} tasks of ${file} are not done: ${left[0]?.message}`);
    };
    await run('../0.md');
    const plan = await planTasks('../1.md', at);
    if (plan.history?.tasks !== before) throw new Error('the plan does not rest on the first run');
    await run('../1.md');
    const compared = runStatistics(at).predictions.compared[0];
    if (compared === undefined) throw new Error('the second run was not compared');
    const { predictedSeconds, seconds, predictedUsd, usd } = compared;
    return { predictedSeconds, seconds, predictedUsd: predictedUsd ?? 0, usd: usd ?? 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function repositoryFiles(): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: FILES }, (_, n) => [`src/d${n % 10}/f${n}.txt`, `line of file ${n}\n`.repeat(20)]),
  );
}

/** `chains` begin at once; every other task waits for the one before it in its chain. */
function taskList(first: number, count: number, chains: number): string {
  const lines = Array.from({ length: count }, (_, n) => {
    const after = n < chains ? '\n  - Depends on: none' : ` (depends on T${first + n - chains})`;
    return `- [ ] T${first + n} [P] Write ${first + n}.txt${after}\n`;
  });
  return `# Tasks\n\n${lines.join('')}`;
}

function worker({ opening, turn }: { opening: string; turn: number }): object {
  const name = /Task \S+: Write (\d+\.txt)/.exec(opening)?.[1] ?? 'unknown.txt';
  if (turn === 0) return call('I look at a file first. ', 'Read', { file_path: 'src/d0/f0.txt' });
  if (turn === 1)
    return call('Now I write mine. ', 'Write', { file_path: name, content: `${name}\n`.repeat(30) });
  return { text: 'It is written. '.repeat(20) };
}

function call(text: string, name: string, input: Record<string, unknown>): object {
  return { text: text.repeat(10), tool_use: [{ name, input }] };
}
