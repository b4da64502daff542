/**
 * `ramet demo`: one prompt, five agents in worktrees, `kill -9` in the middle, the resume, the merge and the bill, offline.
 * Repository, processes, worktrees, merge, journal and HTTP are real; the model is played. It checks what it shows, and fails with
 * the reason when that is not as it should be.
 */
import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmulator } from '../../emulator/server.ts';
import { Cancelled } from '../../schema/errors.ts';
import { hitRate } from '../../schema/usage.ts';
import { findPlace } from '../../sdk/place.ts';
import { viewSession } from '../../views/session-view.ts';
import { dollars, duration, percent } from '../../views/text/format.ts';
import { type DemoBill, demoBill } from '../demo/demo-bill.ts';
import { DemoBoard } from '../demo/demo-board.ts';
import { type DemoOutput, demoOutput, expectThat } from '../demo/demo-output.ts';
import { type DemoProcess, startDemoProcess } from '../demo/demo-process.ts';
import { DEMO_CHECK, FIVE_FUNCTIONS, MISTAKES } from '../demo/demo-project.ts';
import { DemoSandbox } from '../demo/demo-sandbox.ts';
import { DEMO_PROMPT, FiveAtWork } from '../demo/fork-story.ts';
import type { CommandIo } from '../io.ts';

/** A model that thinks for a moment. */
const LATENCY = { baseMs: 250, tokensPerSecond: 500 };
const LOOK_MS = 40;
/** Long enough to be seen. */
const BEFORE_KILL_MS = 700;
const STREAM = ['--output-format', 'stream-json'];
const BRANCHES = MISTAKES.map(({ name }) => `ramet/${name}`);

interface Stage {
  sandbox: DemoSandbox;
  output: DemoOutput;
  board: DemoBoard;
  url: string;
  io: CommandIo;
}

export async function demo({ keep = false }: { keep?: boolean }, io: CommandIo): Promise<void> {
  const startedAt = performance.now();
  const output = demoOutput(io);
  using sandbox = new DemoSandbox(io.env, { keep }, FIVE_FUNCTIONS);
  sandbox.prepare();
  output.say('One prompt, five agents, one kill -9. Git, processes and HTTP are real; a script');
  output.say('plays the model. No key, no network, no charge.');
  showCheck(sandbox, output);

  await using emulator = await startEmulator({ respond: (view) => five.respond(view), latency: LATENCY });
  using five = new FiveAtWork();
  using board = new DemoBoard(io);
  const stage = { sandbox, output, board, url: emulator.url, io };
  await workAndDie(stage, five);
  await resume(stage);
  await merge(stage);
  showBill(sandbox, output);
  farewell(sandbox, output, { env: io.env, keep, took: performance.now() - startedAt });
}

function showCheck(sandbox: DemoSandbox, output: DemoOutput): void {
  const { passes, printed } = sandbox.check();
  expectThat(!passes, `${DEMO_CHECK} passes before anything was done`);
  const [first = '', ...others] = printed.trim().split('\n');
  output.command(DEMO_CHECK);
  output.quote(`${first}\n… and ${others.length} more`);
}

/** Until all five wait for the model, each in the middle of its work. */
async function workAndDie({ sandbox, output, board, url, io }: Stage, five: FiveAtWork): Promise<void> {
  output.command(`ramet -p "${DEMO_PROMPT}"`);
  const args = ['-p', DEMO_PROMPT, ...STREAM];
  using first = startDemoProcess(sandbox, { args, url, onLine: (line) => board.line(line) }, io);
  board.begin();
  const isOver = flagOf(first.ended);
  while (!isOver() && five.held < MISTAKES.length && !board.children.some(({ ended }) => ended !== null))
    await sleep(LOOK_MS);
  if (five.held === MISTAKES.length) await sleep(BEFORE_KILL_MS);
  const [pid, atWork] = [first.pid, five.held];
  first.kill();
  await first.ended;
  board.end();
  if (io.signal.aborted) throw interrupted(io);
  expectThat(atWork === MISTAKES.length, `the agents did not get to work: ${board.answer ?? first.said()}`);
  five.release();
  output.alarm(`kill -9 ${pid}: the process is gone, with five agents in the middle of their work`);
}

async function resume({ sandbox, output, board, url, io }: Stage): Promise<void> {
  output.command('ramet resume');
  const args = ['resume', ...STREAM];
  using second = startDemoProcess(sandbox, { args, url, onLine: (line) => board.line(line) }, io);
  board.begin();
  const code = await second.ended;
  board.end();
  expectThatEnded(code, second, 'the resumed session', io);
  const failed = board.children.find(({ ended }) => ended !== 'done');
  expectThat(failed === undefined, `the agent ${failed?.name} ended as ${failed?.now}`);
}

async function merge({ sandbox, output, url, io }: Stage): Promise<void> {
  const words = ['merge', ...BRANCHES, '--check', DEMO_CHECK, '--update-checkout'];
  output.command(`ramet merge ${BRANCHES.join(' ')} \\`, `--check "${DEMO_CHECK}" --update-checkout`);
  using merging = startDemoProcess(sandbox, { args: words, url }, io);
  expectThatEnded(await merging.ended, merging, 'the merge', io);
  output.quote(merging.printed());
  expectThat(sandbox.check().passes, `${DEMO_CHECK} still fails`);
  output.command('git log --oneline --no-merges');
  output.quote(sandbox.git('log', '--no-merges', '--format=%h %s'));
}

function expectThatEnded(code: number | null, { said }: DemoProcess, what: string, io: CommandIo): void {
  if (io.signal.aborted) throw interrupted(io);
  expectThat(code === 0, `${what} ended with ${code}: ${said()}`);
}

function interrupted({ signal }: CommandIo): Cancelled {
  return new Cancelled(`interrupted (${signal.reason})`);
}

function flagOf(ended: Promise<unknown>): () => boolean {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  return () => isOver;
}

/** From the journal, as `ramet cost` reads it. */
function showBill({ repository, env }: DemoSandbox, output: DemoOutput): void {
  using view = viewSession(undefined, findPlace({ cwd: repository, env }).project);
  const bill = demoBill(view);
  output.heading('The bill, from the journal');
  output.say(bill.table.trimEnd());
  expectThat(bill.children === MISTAKES.length, `${bill.children} agents were started`);
  expectThat(bill.usage.cache_read_input_tokens > 0, 'no prompt was read from the cache');
  output.say(worthOf(bill, output));
}

function worthOf({ usage, costUsd, unsharedUsd, children }: DemoBill, output: DemoOutput): string {
  expectThat(costUsd !== null && unsharedUsd !== null, 'the cost is not known');
  const one = unsharedUsd / children;
  return `
${output.strong(`Five agents for the price of ${(costUsd / one).toFixed(1)}.`)} They share one cache and read ${percent(hitRate(usage))} of their
prompts from it: ${dollars(costUsd)} for all. With nothing shared, ${dollars(one)} for each.`;
}

function farewell(
  { repository, home }: DemoSandbox,
  output: DemoOutput,
  { env, keep, took }: { env: NodeJS.ProcessEnv; keep: boolean; took: number },
): void {
  const command = ownCommand(env);
  output.heading(`All of it took ${duration(took)}. Next, in your own repository:`);
  output.say(`  ${command}`);
  output.say('It asks before it changes anything.');
  if (keep) output.say(`\nTo look around here:\n  cd ${repository}\n  RAMET_HOME=${home} ${command} show`);
  else {
    const again = command === 'ramet' ? command : 'npx ramet';
    output.say(`More: ${again} demo operate runs a list of tasks; --keep keeps a demo's folder.`);
  }
}

/** What works from any folder: the name if Ramet is installed, or else the launcher of the checkout. */
function ownCommand({ PATH = '' }: NodeJS.ProcessEnv): string {
  const file = realpathSync(process.argv[1] ?? '');
  if (!file.endsWith('/packages/ramet/bin/ramet.js')) return 'ramet';
  const launcher = file.slice(0, -'.js'.length);
  // Npm's own folder is in the PATH of what npx starts, and not in that of its user.
  const folders = PATH.split(delimiter).filter((folder) => !folder.endsWith('/node_modules/.bin'));
  return folders.some((folder) => leadsTo(join(folder, 'ramet'), launcher)) ? 'ramet' : launcher;
}

function leadsTo(link: string, file: string): boolean {
  try {
    return realpathSync(link) === file;
  } catch {
    return false;
  }
}
