/** One process of the campaign, with a session and agents of its own. Its plan is its argument; it prints its report. */
import { join } from 'node:path';
import { createFileAccess } from '../../packages/ramet/src/files/create-file-access.ts';
import { createFileLedger } from '../../packages/ramet/src/files/file-ledger.ts';
import { SharedWrites } from '../../packages/ramet/src/files/shared-writes.ts';
import { createCheckouts } from '../../packages/ramet/src/git/shared-git/checkout.ts';
import { createSession } from '../../packages/ramet/src/journal/sessions.ts';
import { systemClock } from '../../packages/ramet/src/schema/clock.ts';
import { agentId } from '../../packages/ramet/src/schema/ids.ts';
import { findPlace } from '../../packages/ramet/src/sdk/place.ts';
import { builtInTools } from '../../packages/ramet/src/tools/registry.ts';
import { BackgroundTasks } from '../../packages/ramet/src/tools/shell/background-tasks.ts';
import type { ToolContext } from '../../packages/ramet/src/tools/tool.ts';
import { chanceOf } from '../kill/random.ts';
import { act, type CampaignAgent, plainAgent, rametAgent, type UseTool } from './agent.ts';
import type { CheckoutPlan, WorkerReport } from './plan.ts';

const TOOLS = builtInTools({ fork: true, types: [] });

const plan = JSON.parse(process.argv[2] ?? '') as CheckoutPlan & { worker: number }; // `run.ts` wrote it
const { root, home, way, agents, worker, seed } = plan;
const chance = chanceOf(seed * 1_000 + worker);
const project = findPlace({ cwd: root, env: { ...process.env, RAMET_HOME: home } }).project;
const journal = await createSession({ project, cwd: root });
const releases: (() => void)[] = [];

function useTools(id: string): UseTool {
  const checkout = createCheckouts({ home, environment: stringsOf(process.env) }).at(root);
  if (checkout === null) throw new Error(`${root} is no checkout`);
  releases.push(checkout.enter(id));
  const files = createFileAccess({
    agent: id,
    cwd: root,
    ledger,
    onChange: ({ path, before, after }) =>
      journal.append(id, {
        type: 'file.changed',
        call: '',
        path,
        before: before?.version ?? null,
        after: after.version,
      }),
  });
  const env = {
    ...checkout.environment,
    ...(process.env.CAMPAIGN_HELPER && { RAMET_GIT_HELPER: process.env.CAMPAIGN_HELPER }),
  };
  const context = { agent: id, cwd: root, env, files, outputDirectory: join(project, journal.session) };
  let calls = 0;
  return async (name, input) => {
    const tool = TOOLS.find((each) => each.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    const { content, isError } = await tool.run(input, contextOf(context, `${id}-${++calls}`));
    return { text: typeof content === 'string' ? content : '', isError: isError === true };
  };
}

/** What these tools use of a context, and no more. */
function contextOf(
  parts: Pick<ToolContext, 'agent' | 'cwd' | 'env' | 'files' | 'outputDirectory'>,
  call: string,
): ToolContext {
  const unused = (): never => {
    throw new Error('not part of this campaign');
  };
  return {
    ...parts,
    call,
    signal: new AbortController().signal,
    clock: systemClock,
    registerGroup: () => () => {},
    tasks: new BackgroundTasks(() => {}),
    agents: { spawn: unused, send: unused, look: unused, stop: unused },
    root: unused,
    directory: { enter: unused, exit: unused },
    setTodos: unused,
    onAgentEnd: () => {},
    redact: (text) => text,
  };
}

function stringsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

const ledger = createFileLedger({ openShared: () => SharedWrites.open(project) });
const made = Array.from({ length: agents }, (_, index): CampaignAgent => {
  const id = agentId(journal.session, index + 1);
  return way === 'ramet' ? rametAgent(id, useTools(id), chance) : plainAgent(id, root, process.env, chance);
});
const share = Math.ceil(plan.steps / (agents * plan.processes));
const attempts = (await Promise.all(made.map((agent) => act(agent, share, plan.commits, chance)))).flat();
for (const release of releases) release();
ledger.close();
await journal.close();
const report: WorkerReport = { session: journal.session, attempts };
process.stdout.write(JSON.stringify(report));
