/**
 * `ramet demo`: the whole way of a task, offline. Repository, agent, tools, journal and HTTP are real; the model is
 * the recipe model behind the emulator. It checks what it shows, and fails with the reason when that is not as it
 * should be.
 */
import { startEmulator } from '../../emulator/server.ts';
import type { AgentResult } from '../../engine/agent-event.ts';
import { Cancelled, RametError } from '../../schema/errors.ts';
import { openSession } from '../../sdk/session.ts';
import { billOf, type DemoOutput, demoOutput } from '../demo/demo-output.ts';
import { DEMO_CHECK, DEMO_TASK } from '../demo/demo-project.ts';
import { DemoSandbox } from '../demo/demo-sandbox.ts';
import { duration } from '../format.ts';
import type { CommandIo } from '../io.ts';

export async function demo({ keep = false }: { keep?: boolean }, io: CommandIo): Promise<void> {
  const startedAt = performance.now();
  const output = demoOutput(io);
  using sandbox = new DemoSandbox(io.env, { keep });
  sandbox.prepare();
  expectThat(!sandbox.checkPasses(), `node ${DEMO_CHECK} passes before anything was done`);
  output.say('An agent mends a small repository. No key, no network, no charge.\n');
  output.say(`  repository  ${sandbox.repository}`);
  output.say(`              one commit, and \`node ${DEMO_CHECK}\` fails in it`);

  const { result, model } = await work(sandbox, output, io);
  output.heading('It reports');
  output.quote(result.text);
  expectSuccess(result, sandbox);
  output.heading('The change: git diff');
  output.quote(sandbox.git('diff', `--color=${io.isTerminal && !io.env.NO_COLOR ? 'always' : 'never'}`));
  output.heading(`The bill: what ${model} would have charged`);
  output.say(billOf(result, model).trimEnd());
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
  output.quote(DEMO_TASK);
  output.heading('The agent works');
  await using session = await openSession({
    cwd: repository,
    env: { ...env, ANTHROPIC_BASE_URL: emulator.url, ANTHROPIC_API_KEY: 'demo' },
    permissionMode: 'bypassPermissions',
  });
  const events = session.run(DEMO_TASK, { signal: io.signal });
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return { result: next.value, model: session.model };
    output.event(next.value);
  }
}

function expectSuccess(result: AgentResult, sandbox: DemoSandbox): void {
  if (result.status === 'interrupted') throw new Cancelled(result.message ?? undefined);
  expectThat(result.status === 'done', `the agent ended as ${result.status}: ${result.message}`);
  expectThat(sandbox.checkPasses(), `node ${DEMO_CHECK} still fails`);
  const changed = sandbox.git('status', '--short').trim();
  expectThat(changed === 'M leap-year.js', `more or less was changed than leap-year.js: ${changed}`);
  expectThat(result.usage.cache_read_input_tokens > 0, 'no prompt was read from the cache');
  expectThat(result.costUsd !== null, 'the cost is not known');
}

function expectThat(holds: boolean, otherwise: string): void {
  if (!holds) throw new RametError('demo_failed', 'terminal', `the demo failed: ${otherwise}`);
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
