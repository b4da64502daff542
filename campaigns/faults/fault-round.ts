/**
 * One round of the fault campaign: a plan of the kill campaign is begun under a fault, then resumed without it until it
 * has ended, and held against an undisturbed run. Nothing may be doubled or lost without a word, and a run that fails
 * says why in one line.
 */
import type { Fault } from 'ramet/emulator';
import type { Undisturbed } from '../kill/checks.ts';
import { collect } from '../kill/evidence.ts';
import type { RoundPlan } from '../kill/plan.ts';
import { endProcess } from '../kill/processes.ts';
import { begunRound } from '../kill/recorded.ts';
import { type Asked, Stage } from '../kill/stage.ts';
import { type RunEnd, World } from '../kill/world.ts';
import { type FaultExpectation, outcomeProblems, sayingProblems } from './fault-checks.ts';

export interface FaultScenario extends FaultExpectation {
  name: string;
  /** Runs the command under another program. */
  under?: readonly string[];
  env?: Record<string, string>;
  fault?: (asked: Asked) => Fault | undefined;
  /** Kills the first run at this request. */
  killAt?: number;
  /** Done to the journal after the first run. */
  damage?: (file: string) => void;
}

const PROMPT = '[task root] Do the work.';
const ALLOWED = ['--permission-mode', 'bypassPermissions'];
const MOST_RESUMES = 4;

/** What did not hold, one line each. */
export async function faultRound(
  plan: RoundPlan,
  undisturbed: Undisturbed,
  scenario: FaultScenario,
): Promise<string[]> {
  const staged = { ...plan, env: { ...plan.env, ...scenario.env } };
  await using stage = await Stage.open(staged);
  await using world = new World(staged, stage.emulator.url);
  stage.fault = scenario.fault ?? null;
  const first = await firstRun(stage, world, scenario);
  stage.fault = null;
  const session = world.sessions().find((id) => begunRound(world.project, id) !== null);
  if (session !== undefined) scenario.damage?.(world.journalFile(session));
  const runs = await finish(stage, world, first);
  const problems = sayingProblems(runs, scenario);
  // What was said is judged already, and is no part of the answer.
  const end = { ...(runs.at(-1) ?? first), stderr: '' };
  const evidence = await collect({ plan: staged, stage, world }, end, false);
  const said = runs.map(({ stderr }) => stderr).join('\n');
  return [...problems, ...outcomeProblems(evidence, undisturbed, scenario, said)];
}

async function firstRun(stage: Stage, world: World, { under = [], killAt }: FaultScenario): Promise<RunEnd> {
  stage.run += 1;
  const run = world.startUnder(under, '-p', PROMPT, ...ALLOWED);
  using _ = stage.listen((what, asked) => {
    if (what === 'answered' && asked.number === killAt) endProcess(run.pid);
  });
  return run.ended;
}

/** Every run of the round, until one ends well. */
async function finish(stage: Stage, world: World, first: RunEnd): Promise<RunEnd[]> {
  const runs = [first];
  while (runs.at(-1)?.code !== 0 && runs.length <= MOST_RESUMES) {
    stage.run += 1;
    const begun = world.sessions().some((id) => begunRound(world.project, id) !== null);
    runs.push(await (begun ? world.start('resume') : world.start('-p', PROMPT, ...ALLOWED)).ended);
  }
  return runs;
}
