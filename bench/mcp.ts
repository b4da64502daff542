/**
 * What MCP servers cost: twenty agents with the same two servers (how many processes there are, and how many are left);
 * a spawn in a session with two servers beside one in a session without, in turns; the bill of five children in a session
 * with a server of forty tools beside the bill of the same five without.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSession, type Session, type SessionOptions } from 'ramet';
import { type Emulator, type RequestView, startEmulator } from 'ramet/emulator';
import { LINE_SERVER } from '../packages/ramet/test/fixtures/mcp/servers.ts';
import { openBenchSession, runPrompt } from './bench-session.ts';
import { type BenchPlace, benchPlace } from './command.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const AGENTS = 20;
const SPAWNS = 60;
const CHILDREN = 5;
const TYPE = 'general-purpose';

export async function run(): Promise<void> {
  using place = benchPlace();
  const emulator = await startEmulator({ respond });
  try {
    await processes(place, emulator);
    await spawns(place, emulator);
    await bills(place, emulator);
  } finally {
    await emulator.close();
  }
}

/** Children call both servers where they are told to, and report. */
function respond({ task, turn }: RequestView): object {
  if (task.startsWith('Start')) {
    const names = Array.from({ length: AGENTS }, (_, index) => `use ${index}`);
    const start = (prompt: string): object => ({
      name: 'Agent',
      input: { description: prompt, prompt, subagent_type: TYPE, run_in_background: false },
    });
    return turn === 0 ? { tool_use: names.map(start) } : { text: 'Done.' };
  }
  if (task.startsWith('Look') && turn === 0)
    return { tool_use: [{ name: 'McpSearch', input: { query: '*' } }] };
  const server = ['a', 'b'][turn];
  if (!task.startsWith('use') || server === undefined) return { text: 'Scope: bench. Done.' };
  return {
    tool_use: [{ name: 'McpCall', input: { tool: `mcp__${server}__echo`, arguments: { text: 'x' } } }],
  };
}

function lineServer(manner: string, option: string, env: Record<string, string> = {}): object {
  return { command: process.execPath, args: [LINE_SERVER, manner, option], env };
}

function open(place: BenchPlace, { url }: Emulator, servers?: Record<string, object>): Promise<Session> {
  const mcpServers = servers as SessionOptions['mcpServers'];
  return openBenchSession(place, url, mcpServers && { mcpServers }, openSession);
}

async function processes(place: BenchPlace, emulator: Emulator): Promise<void> {
  const file = join(place.repository, 'pids');
  const session = await open(place, emulator, {
    a: lineServer('good', 'a', { PID_FILE: file }),
    b: lineServer('good', 'b', { PID_FILE: file }),
  });
  const since = performance.now();
  await runPrompt(session, 'Start the agents.');
  const took = performance.now() - since;
  await session[Symbol.asyncDispose]();
  const pids = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
  if (pids.length === 0) throw new Error('no server was started');
  console.log(`\n${AGENTS} agents, each with a call to each of two servers: ${Math.round(took)} ms in all`);
  console.log(`  ${verdict('processes of servers', pids.length, 2, '')}`);
  console.log(`  ${verdict('left after the session', pids.filter(isAlive).length, 0, '')}`);
}

async function spawns(place: BenchPlace, emulator: Emulator): Promise<void> {
  const plain = await open(place, emulator);
  const served = await open(place, emulator, { a: lineServer('good', 'a'), b: lineServer('good', 'b') });
  const [without, having]: [number[], number[]] = [[], []];
  for (let round = 0; round < SPAWNS; round++) {
    without.push(await spawned(plain));
    having.push(await spawned(served));
  }
  const [floor, cost] = [spreadOf(without), spreadOf(having)];
  console.log(
    `\na child from its spawn to its report, ${SPAWNS} times, with two servers and without, in turns`,
  );
  console.log(`  without  ${showSpread(floor, 'ms')}`);
  console.log(`  with     ${showSpread(cost, 'ms')}`);
  console.log(`  ${verdict('slower with servers', cost.median - floor.median, 5, 'ms')}`);
  await plain[Symbol.asyncDispose]();
  await served[Symbol.asyncDispose]();
}

async function spawned(session: Session): Promise<number> {
  const since = performance.now();
  const handle = await session.spawn({ prompt: 'report', description: 'report', subagent_type: TYPE });
  await handle.result;
  return performance.now() - since;
}

/** The server was used before, so agents are told the names of its tools. */
async function bills(place: BenchPlace, emulator: Emulator): Promise<void> {
  const many = { many: lineServer('many', '40') };
  const home = place.freshHome();
  const known = { ...place, freshHome: () => home };
  const first = await open(known, emulator, many);
  await runPrompt(first, 'Look for tools.');
  await first[Symbol.asyncDispose]();
  const without = await bill(await open(place, emulator));
  const having = await bill(await open(known, emulator, many));
  console.log(`\n${CHILDREN} children, with a server of 40 tools and without`);
  console.log(`  without  $${without.toFixed(4)}\n  with     $${having.toFixed(4)}`);
  console.log(`  ${verdict('dearer with the server', (100 * (having - without)) / without, 10, '%')}`);
}

async function bill(session: Session): Promise<number> {
  let sum = 0;
  for (let index = 0; index < CHILDREN; index++) {
    const handle = await session.spawn({
      prompt: `report ${index}`,
      description: 'report',
      subagent_type: TYPE,
    });
    const { costUsd } = await handle.result;
    if (costUsd === null) throw new Error('the cost is unknown');
    sum += costUsd;
  }
  await session[Symbol.asyncDispose]();
  return sum;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
