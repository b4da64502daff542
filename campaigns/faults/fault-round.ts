/**
 * One round of the fault campaign: a plan of the kill campaign is begun under a fault, then resumed without it until it
 * has ended, and held against an undisturbed run. Nothing may be doubled or lost without a word, and a run that fails
 * says why in one line.
 */
import type { Fault } from 'ramet/emulator';
import { problemsOf, type Undisturbed } from '../kill/checks.ts';
import { collect } from '../kill/evidence.ts';
import type { RoundPlan } from '../kill/plan.ts';
import { begunRound } from '../kill/recorded.ts';
import { type Asked, Stage } from '../kill/stage.ts';
import { endProcess, type RunEnd, World } from '../kill/world.ts';

export interface FaultScenario {
  name: string;
  /** Runs the command under another program. */
  under?: readonly string[];
  env?: Record<string, string>;
  fault?: (asked: Asked) => Fault | undefined;
  /** Kills the first run at this request. */
  killAt?: number;
  /** Done to the journal after the first run. */
  damage?: (file: string) => void;
  /** What a first run that fails may say. */
  says: RegExp;
  /** What the journal lost may be repeated, if the command says so. */
  losesEnd?: boolean;
}

const PROMPT = '[task root] Do the work.';
const ALLOWED = ['--permission-mode', 'bypassPermissions'];
const MOST_RESUMES = 4;
/** What is said along the way and is no failure. */
const NOTES =
  /attempt \d+ failed|waiting|warning|is back|no answer|the journal of|going on|cannot use the session index|cannot empty/;
const RAW = /TypeError|ReferenceError|SyntaxError|Cannot read prop|Unexpected token|^\s+at .*:\d+:\d+/m;

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
  const problems = first.signal === 'SIGKILL' && !first.hung ? [] : sayingProblems(first, scenario);
  stage.fault = null;
  const session = world.sessions().find((id) => begunRound(world.project, id) !== null);
  if (session !== undefined) scenario.damage?.(world.journalFile(session));
  const { end, said } = await finish(stage, world, first);
  // What was noted along the way is no part of the answer.
  const evidence = await collect({ plan: staged, stage, world }, { ...end, stderr: '' }, false);
  const found = problemsOf(evidence, { undisturbed, mayBeGivenUp: false });
  const told = scenario.losesEnd === true && /may be repeated|missing|lost/.test(said);
  return [...problems, ...(told ? found.filter(isNoRepetition) : found)];
}

/** Repeating is what a command that has lost its record does, once it has said so. */
function isNoRepetition(problem: string): boolean {
  return !/twice|asked for again|files are those|is one that the server gave|bill agree|reports what it reports/.test(
    problem,
  );
}

async function firstRun(stage: Stage, world: World, { under = [], killAt }: FaultScenario): Promise<RunEnd> {
  stage.run += 1;
  const run = world.startUnder(under, '-p', PROMPT, ...ALLOWED);
  using _ = stage.listen((what, asked) => {
    if (what === 'answered' && asked.number === killAt) endProcess(run.pid);
  });
  return run.ended;
}

function sayingProblems({ code, stderr, hung }: RunEnd, { says }: FaultScenario): string[] {
  if (hung) return [`the first run hangs; it had said ${JSON.stringify(stderr)}`];
  if (RAW.test(stderr)) return [`a raw error: ${JSON.stringify(stderr)}`];
  const lines = stderr.split('\n').filter((line) => line !== '' && !NOTES.test(line));
  if (code === 0) return [];
  if (lines.length === 1 && says.test(lines[0] ?? '')) return [];
  return [`it fails with ${code} and says ${JSON.stringify(lines)}, not one line like ${says}`];
}

async function finish(stage: Stage, world: World, first: RunEnd): Promise<{ end: RunEnd; said: string }> {
  let end = first;
  let said = '';
  for (let tries = 0; end.code !== 0 && tries < MOST_RESUMES; tries++) {
    stage.run += 1;
    const begun = world.sessions().some((id) => begunRound(world.project, id) !== null);
    end = await (begun ? world.start('resume') : world.start('-p', PROMPT, ...ALLOWED)).ended;
    said += end.stderr;
  }
  return { end, said };
}
