/**
 * `ramet demo operate`: eight tasks become merged and checked commits, offline. The operator is a process of its own, which is
 * killed in the middle and resumed. Repository, agents, worktrees, merges and journal are real; the model is played.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmulator } from '../../emulator/server.ts';
import { costOfTask, type OperatorState, taskOf, tasksOf } from '../../operator/run/operator-state.ts';
import { Cancelled } from '../../schema/errors.ts';
import { addCost, addUsage, hitRate, NO_USAGE } from '../../schema/usage.ts';
import { findPlace } from '../../sdk/place.ts';
import { dollars, duration, percent } from '../../views/text/format.ts';
import { type DemoOutput, demoOutput, expectThat } from '../demo/demo-output.ts';
import { startDemoProcess } from '../demo/demo-process.ts';
import { DemoSandbox } from '../demo/demo-sandbox.ts';
import { STORY_IDS, STORY_LIST, STORY_PROJECT, storyAnswer } from '../demo/operate-story.ts';
import { OperatorWatch } from '../demo/operate-watch.ts';
import type { CommandIo } from '../io.ts';

/** A model that thinks for a moment. */
const LATENCY = { baseMs: 200, tokensPerSecond: 500 };
const AT_ONCE = 4;

export async function demoOperate({ keep = false }: { keep?: boolean }, io: CommandIo): Promise<void> {
  const startedAt = performance.now();
  const output = demoOutput(io);
  using sandbox = new DemoSandbox(io.env, { keep }, STORY_PROJECT);
  sandbox.prepare();
  writeFileSync(join(sandbox.folder, 'tasks.md'), STORY_LIST);
  output.say('Eight tasks become merged and checked commits. No key, no network, no charge.\n');
  output.say(`  repository  ${sandbox.repository}`);
  output.heading('tasks.md');
  output.quote(STORY_LIST.split('\n').slice(2).join('\n'));

  const watch = new OperatorWatch(
    findPlace({ cwd: sandbox.repository, env: sandbox.env }).project,
    output.say,
  );
  const report = await operateTwice(sandbox, output, watch, io);
  showResult(sandbox, output, watch.state, report);
  output.heading(`All of it took ${duration(performance.now() - startedAt)}.`);
  if (keep)
    output.say(
      `To look around, with ramet on your path:\n  cd ${sandbox.repository}\n  RAMET_HOME=${sandbox.home} ramet stats`,
    );
  else output.say('The folder is gone again: ramet demo operate --keep leaves it for you.');
  output.say('Next: ramet operate --help, then ramet operate FILE in your own repository.');
}

/** The first process is killed while agents work, the second resumes. Returns what that one prints. */
async function operateTwice(
  sandbox: DemoSandbox,
  output: DemoOutput,
  watch: OperatorWatch,
  io: CommandIo,
): Promise<string> {
  await using emulator = await startEmulator({ respond: storyAnswer, latency: LATENCY });
  const order = [
    '../tasks.md',
    '--parallel',
    String(AT_ONCE),
    '--check',
    `node ${STORY_PROJECT.check}`,
    '--update-checkout',
  ];
  output.heading(`ramet operate tasks.md --parallel ${AT_ONCE} --check "node ${STORY_PROJECT.check}"`);
  using first = operator(sandbox, emulator.url, order, io);
  await watch.follow(first.ended, ({ order: ids }) => ids.length > 0 && watch.running >= AT_ONCE);
  if (io.signal.aborted) throw new Cancelled();
  expectThat(watch.running >= AT_ONCE, `the operator ended too early: ${first.said()}`);
  output.heading(`kill -9 ${first.pid}: the operator dies, with ${watch.running} agents at work`);
  first.kill();
  await first.ended;
  output.heading('ramet operate --resume');
  using second = operator(sandbox, emulator.url, ['--resume', '--update-checkout'], io);
  await watch.follow(second.ended, () => false);
  if (io.signal.aborted) throw new Cancelled();
  expectThat((await second.ended) === 0, `the operator did not finish: ${second.said()}`);
  return second.printed();
}

function operator(
  sandbox: DemoSandbox,
  url: string,
  args: readonly string[],
  io: CommandIo,
): ReturnType<typeof startDemoProcess> {
  return startDemoProcess(sandbox, { args: ['operate', ...args], url }, io);
}

function showResult(sandbox: DemoSandbox, output: DemoOutput, state: OperatorState, report: string): void {
  const tasks = tasksOf(state);
  output.heading('The report');
  output.quote(tableOf(report));
  output.heading('The result: git log --first-parent --oneline main');
  output.quote(sandbox.git('log', '--first-parent', '--format=%h %s', 'main'));
  output.heading('The bill');
  const usage = tasks
    .flatMap(({ attempts }) => attempts.map((attempt) => attempt.usage))
    .reduce(addUsage, NO_USAGE);
  const attempts = tasks.reduce((sum, task) => sum + task.attempts.length, 0);
  const cost = tasks.map(costOfTask).reduce(addCost, 0);
  output.say(
    `  ${attempts} agents for ${tasks.length} tasks would have cost ${dollars(cost)}; ${percent(hitRate(usage))} of what they`,
  );
  output.say('  were sent was read from the cache.');
  expectThat(
    tasks.length === STORY_IDS.length && tasks.every(({ status }) => status === 'done'),
    'not every task is done',
  );
  expectThat(state.resumed === 1, 'the run was not resumed');
  expectThat((taskOf(state, 'T004')?.attempts.length ?? 0) > 1, 'no task was tried again');
  expectThat(
    tasks.some(({ conflict }) => conflict !== null),
    'nothing conflicted',
  );
  expectThat(sandbox.check().passes, 'the check fails on the result');
}

/** Its progress was shown already, and its file goes with the folder. */
function tableOf(report: string): string {
  const start = Math.max(0, report.search(/^TASK +STATUS/m));
  return report.slice(start).replace(/^report: .*\n/m, '');
}
