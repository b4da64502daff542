/**
 * `ramet demo`: the whole way of a task, offline. Repository, agents, tools, journal and HTTP are real; the model is
 * the recipe model behind the emulator. It checks what it shows, and fails with the reason when that is not as it
 * should be.
 */

import { relative } from 'node:path';
import { startEmulator } from '../../emulator/server.ts';
import { Cancelled } from '../../schema/errors.ts';
import { drain } from '../../schema/generators.ts';
import type { AgentId } from '../../schema/ids.ts';
import { hitRate } from '../../schema/usage.ts';
import type { AgentResult } from '../../sdk/index.ts';
import { findPlace } from '../../sdk/place.ts';
import { openSession } from '../../sdk/session/session.ts';
import { agentTree } from '../../views/agent-label.ts';
import { type SessionView, viewSession } from '../../views/session-view.ts';
import { dollars, duration, excerpt, percent, table } from '../../views/text/format.ts';
import { type DemoBill, demoBill } from '../demo/demo-bill.ts';
import { type DemoOutput, demoOutput, expectThat } from '../demo/demo-output.ts';
import { DEMO_CHANGED, DEMO_CHECK, DEMO_TASK, DEMO_TASK_SHOWN } from '../demo/demo-project.ts';
import { DemoSandbox } from '../demo/demo-sandbox.ts';
import type { CommandIo } from '../io.ts';

export async function demo({ keep = false }: { keep?: boolean }, io: CommandIo): Promise<void> {
  const startedAt = performance.now();
  const output = demoOutput(io);
  using sandbox = new DemoSandbox(io.env, { keep });
  sandbox.prepare();
  expectThat(!sandbox.checkPasses(), `node ${DEMO_CHECK} passes before anything was done`);
  output.say('An agent forks into five, which mend a small repository. No key, no network,\nno charge.\n');
  output.say(`  repository  ${sandbox.repository}`);
  output.say(`              one commit, and \`node ${DEMO_CHECK}\` fails in it`);

  const { result, model } = await work(sandbox, output, io);
  output.heading('The main agent reports');
  output.quote(result.text);
  expectSuccess(result, sandbox);
  output.heading('The change: git diff --stat');
  output.quote(sandbox.git('diff', '--stat=72'));
  showRecord(sandbox, output, model);
  farewell(sandbox, output, { keep, took: performance.now() - startedAt });
}

async function work(
  { repository, env }: DemoSandbox,
  output: DemoOutput,
  io: CommandIo,
): Promise<{ result: AgentResult; model: string }> {
  await using emulator = await startEmulator({ scenario: { rules: [{ recipe: true }] } });
  output.say(`  model       the recipe model, which carries out the blocks of a task,`);
  output.say(`              served by the emulator at ${emulator.url}`);
  output.heading('The task');
  output.quote(DEMO_TASK_SHOWN);
  output.heading('The agents work');
  await using session = await openSession({
    cwd: repository,
    env: { ...env, ANTHROPIC_BASE_URL: emulator.url, ANTHROPIC_API_KEY: 'demo' },
    permissionMode: 'bypassPermissions',
  });
  const events = session.run(DEMO_TASK, { signal: io.signal });
  const result = await drain(events, (event) => output.event(event));
  return { result, model: session.model };
}

function expectSuccess(result: AgentResult, sandbox: DemoSandbox): void {
  if (result.status === 'interrupted') throw new Cancelled(result.message ?? undefined);
  expectThat(result.status === 'done', `the agent ended as ${result.status}: ${result.message}`);
  expectThat(sandbox.checkPasses(), `node ${DEMO_CHECK} still fails`);
  const changed = sandbox.git('diff', '--name-only').trim().split('\n');
  const expected = DEMO_CHANGED.join(', ');
  expectThat(changed.join(', ') === expected, `changed were ${changed.join(', ')}, not ${expected}`);
}

/** What the journal says about the agents: the same as `ramet show` and `ramet cost` read. */
function showRecord({ repository, env }: DemoSandbox, output: DemoOutput, model: string): void {
  using view = viewSession(undefined, findPlace({ cwd: repository, env }).project);
  const bill = demoBill(view);
  output.heading('The agents, from the journal');
  output.say(demoTree(view, repository).trimEnd());
  output.heading(`The bill: what ${model} would have charged`);
  output.say(bill.table.trimEnd());
  expectThat(
    view.agents.every(({ status }) => status === 'done'),
    'not every agent is done',
  );
  expectThat(bill.children === DEMO_CHANGED.length, `${bill.children} agents were started`);
  expectThat(bill.usage.cache_read_input_tokens > 0, 'no prompt was read from the cache');
  output.say(worthOf(bill));
}

function worthOf({ usage, costUsd, unsharedUsd, children }: DemoBill): string {
  expectThat(costUsd !== null && unsharedUsd !== null, 'the cost is not known');
  const one = unsharedUsd / children;
  return `
  The forks continue one conversation and share its cache: ${percent(hitRate(usage))} of what they
  were sent was read from it. The ${children} cost ${dollars(costUsd)}. With nothing shared it would
  have been ${dollars(unsharedUsd)}, ${dollars(one)} each: ${children} agents for the price of ${(costUsd / one).toFixed(1)}.`;
}

function farewell(
  { repository, home }: DemoSandbox,
  output: DemoOutput,
  { keep, took }: { keep: boolean; took: number },
): void {
  output.heading(`All of it took ${duration(took)}, and the check passes now.`);
  if (keep)
    output.say(
      `To look around, with ramet on your path:\n  cd ${repository}\n  RAMET_HOME=${home} ramet show`,
    );
  else output.say('The folder is gone again: ramet demo --keep leaves it for you to look around.');
  output.say('Next: "Use it in your own repository" in README.md.');
}

/** The agents of `ramet demo` as the journal knows them: who started whom, how each ended, which files it changed. */
function demoTree({ agents, reader }: SessionView, repository: string): string {
  const files = new Map<AgentId, Set<string>>();
  for (const { agent, event } of reader.events()) {
    if (agent === null || event.type !== 'file.changed') continue;
    files.set(agent, (files.get(agent) ?? new Set()).add(relative(repository, event.path)));
  }
  const places = agentTree(agents);
  const rows = places.map(({ agent, level }, index) => {
    const isLast = !places.slice(index + 1).some((other) => other.level === level);
    const branch = level === 0 ? '' : `${'   '.repeat(level - 1)}${isLast ? '└─ ' : '├─ '}`;
    const took = duration(agent.lastEventAt - agent.startedAt);
    return [
      `  ${branch}${agent.type}${agent.description === null ? '' : `: ${excerpt(agent.description, 30)}`}`,
      agent.status,
      `${agent.turns} turns`,
      took.padStart(6),
      [...(files.get(agent.id) ?? [])].join(', '),
    ];
  });
  return table(rows);
}
