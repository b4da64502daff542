/** The measurements, and those that the command line names. Those that take long run only when they are named. */
import * as agentMemory from './agent-memory.ts';
import * as background from './background.ts';
import * as cost from './cost.ts';
import * as definitions from './definitions.ts';
import * as extensions from './extensions.ts';
import * as footprint from './footprint.ts';
import * as hooks from './hooks.ts';
import * as house from './house.ts';
import * as interactive from './interactive.ts';
import * as isolatedSpawn from './isolated-spawn.ts';
import * as journal from './journal.ts';
import * as largeRepository from './large-repository.ts';
import * as launch from './launch.ts';
import * as manyAgents from './many-agents.ts';
import * as mcp from './mcp.ts';
import * as memoryServer from './memory-server.ts';
import * as memorySync from './memory-sync.ts';
import * as merge from './merge.ts';
import * as mergeMany from './merge-many.ts';
import * as operator from './operator.ts';
import * as processExecutor from './process-executor.ts';
import * as resume from './resume.ts';
import * as sandbox from './sandbox.ts';
import * as secrets from './secrets.ts';
import * as siblings from './siblings.ts';
import * as spawn from './spawn.ts';
import * as startUp from './start-up.ts';
import * as teamClaims from './team-claims.ts';
import * as teamCost from './team-cost.ts';
import * as teamIdle from './team-idle.ts';
import * as teamLatency from './team-latency.ts';
import * as teamMessages from './team-messages.ts';
import * as turn from './turn.ts';
import * as views from './views.ts';
import * as which from './which.ts';
import * as worktrees from './worktrees.ts';

type Measurements = Record<string, { run(): Promise<void> }>;

const MEASUREMENTS: Measurements = {
  'start-up': startUp,
  turn,
  journal,
  footprint,
  interactive,
  cost,
  launch,
  spawn,
  siblings,
  'agent-memory': agentMemory,
  merge,
  'merge-many': mergeMany,
  operator,
  definitions,
  extensions,
  'process-executor': processExecutor,
  resume,
  sandbox,
  hooks,
  mcp,
  secrets,
  'memory-server': memoryServer,
  'memory-sync': memorySync,
  views,
};
const LONG: Measurements = {
  'siblings-5000': { run: siblings.runLargest },
  'many-agents': manyAgents,
  worktrees,
  'worktrees-together': { run: worktrees.runTogether },
  'isolated-spawn': isolatedSpawn,
  'large-repository': largeRepository,
  'team-claims': teamClaims,
  'team-messages': teamMessages,
  background,
  'team-cost': teamCost,
  'team-latency': teamLatency,
  'team-idle': teamIdle,
  'team-idle-10000': { run: teamIdle.runLargest },
  which,
  house,
};

const wanted = process.argv.slice(2);
const all = { ...MEASUREMENTS, ...LONG };
const unknown = wanted.filter((name) => !(name in all));
if (unknown.length > 0) {
  console.error(`no measurement ${unknown.join(', ')}; there are ${Object.keys(all).join(', ')}`);
  process.exit(2);
}
for (const [name, measurement] of Object.entries(wanted.length === 0 ? MEASUREMENTS : all)) {
  if (wanted.length === 0 || wanted.includes(name)) await measurement.run();
}
