/**
 * How long it takes from the end of the parent's answer to the first request of the last of five children, at a server
 * without latency: both times are the server's. `ramet -p`, a fresh process each round, as a user has it; then the
 * second fan-out of the same processes, when the code is warm. The floor is a bare client that opens five connections.
 *
 * Then the fork itself: what it takes to make five agents that continue a conversation of 500 KB, journal on, until each
 * could send its first request. The first of them also takes the prefix that all share. The floor is copying the
 * conversation as a value, which a program without frozen blocks does for each fork.
 */
import {
  Conversation,
  type FrozenMessage,
  freezeHead,
} from '../packages/ramet/src/conversation/conversation.ts';
import { contentOf, freezeBlock } from '../packages/ramet/src/conversation/frozen-block.ts';
import { Agent } from '../packages/ramet/src/engine/agent/agent.ts';
import type { AgentRuntime, AgentSpec } from '../packages/ramet/src/engine/agent/runtime.ts';
import { newAgentState } from '../packages/ramet/src/journal/projections/agent-state.ts';
import { createSession } from '../packages/ramet/src/journal/sessions.ts';
import { systemClock } from '../packages/ramet/src/schema/clock.ts';
import { agentId } from '../packages/ramet/src/schema/ids.ts';
import { BareClient } from './bare-client.ts';
import { type BenchPlace, benchPlace, runPrint } from './command.ts';
import { msBetween, ofChildren, ofParent, type PlayRecord } from './play-record.ts';
import { startCacheServer } from './start-cache-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const ROUNDS = 20;
const CHILDREN = 5;
const GOAL = 25;
/** What the best-known peer takes, measured the same way on the same machine (2026-11-15). */
const PEER = '143-317 ms';

export async function run(): Promise<void> {
  using place = benchPlace();
  await measureForks(place);
  using server = await startCacheServer();
  console.log(
    `\nparent's answer to the last of ${CHILDREN} children's requests, ${ROUNDS} processes; best peer ${PEER}`,
  );
  const kinds = [
    ['forks', {}],
    ['general-purpose', { subagent_type: 'general-purpose' }],
  ] as const;
  const floor: number[] = [];
  const samples = kinds.map(() => ({ first: [] as number[], second: [] as number[] }));
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(await bareSpread(server.url));
    for (const [index, [, input]] of kinds.entries()) {
      await server.play({ input, fanOuts: 2, call: null });
      await runPrint(place, server.url, { prompt: 'Go.', args: ['--launch', 'parallel'] });
      const [first, second] = spawnTimes(await server.records());
      samples[index]?.first.push(first ?? Number.NaN);
      samples[index]?.second.push(second ?? Number.NaN);
    }
  }
  console.log(`  ${CHILDREN} requests of a bare client  ${showSpread(spreadOf(floor), 'ms')}`);
  for (const [index, [name]] of kinds.entries()) {
    const { first = [], second = [] } = samples[index] ?? {};
    console.log(`  ${name}, first fan-out   ${showSpread(spreadOf(first), 'ms')}`);
    console.log(`  ${name}, second fan-out  ${showSpread(spreadOf(second), 'ms')}`);
    console.log(
      `  ${verdict(`spawn of ${CHILDREN}, ${name}, first fan-out`, spreadOf(first).median, GOAL, 'ms')}`,
    );
  }
}

/** For each answer of the parent with calls: when the last first request of its children came. */
function spawnTimes(records: readonly PlayRecord[]): number[] {
  const firsts = new Map<number, PlayRecord>();
  for (const record of ofChildren(records)) {
    if (record.child !== null && !firsts.has(record.child)) firsts.set(record.child, record);
  }
  return ofParent(records)
    .slice(0, -1)
    .map(({ endedAt }, fanOut) => {
      const own = [...firsts.values()].filter(
        ({ child }) => Math.ceil((child ?? 0) / CHILDREN) === fanOut + 1,
      );
      return Math.max(...own.map(({ at }) => msBetween(endedAt, at)));
    });
}

async function bareSpread(url: string): Promise<number> {
  using client = new BareClient(url);
  const body = Buffer.alloc(12_000, 'x');
  const started = performance.now();
  await Promise.all(Array.from({ length: CHILDREN }, () => client.send(body)));
  return performance.now() - started;
}

const FORK_ROUNDS = 200;
const FORK_WARM_UP = 50;
const FORK_GOAL = 0.2;
/** 100 turns of one call each: a result of 5 KB, as of a file that was read. */
const HISTORY = { turns: 100, resultBytes: 5_000 };

async function measureForks(place: BenchPlace): Promise<void> {
  const first: number[] = [];
  const further: number[] = [];
  const floor: number[] = [];
  const messages = history();
  const value = messages.map(({ role, blocks }) => ({ role, content: blocks.map(contentOf) }));
  const journal = await createSession({ project: place.freshHome(), cwd: place.repository });
  // A fork asks its runtime for nothing else before it runs.
  const runtime = { journal, clock: systemClock } as unknown as AgentRuntime;
  const head = freezeHead({ model: 'claude-sonnet-5', thinking: null, tools: [], system: [] });
  let agents = 0;
  const spec = (): AgentSpec => specOf(place, agentId(journal.session, ++agents));
  for (let round = -FORK_WARM_UP; round < FORK_ROUNDS; round++) {
    const own = spec();
    const conversation = new Conversation(head, messages);
    const parent = new Agent(runtime, own, { state: newAgentState(own.id), conversation });
    const times = Array.from({ length: CHILDREN }, () => timeOf(() => parent.fork(spec(), 'Do it.')));
    const copied = timeOf(() => structuredClone(value));
    await journal.commit('written');
    if (round < 0) continue;
    first.push(times[0] ?? Number.NaN);
    further.push(...times.slice(1));
    floor.push(copied);
  }
  await journal.close();
  const bytes = Buffer.byteLength(JSON.stringify(value));
  console.log(`\nfork of a conversation of ${Math.round(bytes / 1_000)} KB, ${messages.length} messages`);
  console.log(`  copied as a value    ${showSpread(spreadOf(floor), 'ms')}`);
  console.log(`  first of ${CHILDREN} forks     ${showSpread(spreadOf(first), 'ms')}`);
  console.log(`  each further fork    ${showSpread(spreadOf(further), 'ms')}`);
  console.log(`  ${verdict('fork of 500 KB, the first', spreadOf(first).median, FORK_GOAL, 'ms')}`);
  console.log(`  ${verdict('fork of 500 KB, a further one', spreadOf(further).median, FORK_GOAL, 'ms')}`);
}

function history(): FrozenMessage[] {
  const messages: FrozenMessage[] = [said('user', { type: 'text', text: 'Look at everything.' })];
  for (let turn = 0; turn < HISTORY.turns; turn++) {
    const id = `toolu_${turn}`;
    const input = { file_path: `file-${turn}.txt` };
    const content = `${turn} `.repeat(HISTORY.resultBytes).slice(0, HISTORY.resultBytes);
    messages.push(said('assistant', { type: 'tool_use', id, name: 'Read', input }));
    messages.push(said('user', { type: 'tool_result', tool_use_id: id, content }));
  }
  const calls = Array.from({ length: CHILDREN }, (_, call) => ({
    type: 'tool_use' as const,
    id: `toolu_fork_${call}`,
    name: 'Agent',
    input: { prompt: 'Do it.', description: 'task' },
  }));
  return [...messages, said('assistant', ...calls)];
}

function said(role: FrozenMessage['role'], ...blocks: Parameters<typeof freezeBlock>[0][]): FrozenMessage {
  return { role, blocks: blocks.map(freezeBlock), shared: 0 };
}

function specOf({ repository }: BenchPlace, id: string): AgentSpec {
  return {
    id,
    parent: null,
    type: 'main',
    name: null,
    model: 'claude-sonnet-5',
    fallbackModel: null,
    thinking: null,
    system: [],
    tools: [],
    permissionMode: 'bypassPermissions',
    maxTurns: 20,
    maxTokens: 1_000,
    budget: {},
    cwd: repository,
  };
}

function timeOf(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

if (import.meta.main) await run();
