/** Plays a scene with the built command, ends its processes as it says, and takes a snapshot of what they left. */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileHistoryOf } from '../../packages/ramet/src/journal/projections/file-history.ts';
import {
  type AskedLine,
  repeatedPart,
  type SceneLine,
} from '../../packages/ramet/test/fixtures/recorded-sessions/format.ts';
import type { Undisturbed } from '../kill/checks.ts';
import { phasesOf } from '../kill/phase.ts';
import { endProcess } from '../kill/processes.ts';
import { begunRound, type RecordedRound, readRound } from '../kill/recorded.ts';
import { ALLOWED, PROMPT } from '../kill/round.ts';
import { type Asked, Stage } from '../kill/stage.ts';
import { type Run, World } from '../kill/world.ts';
import type { Scene, SceneRun } from './scenes.ts';
import { type Snapshot, snapshotOf } from './snapshot.ts';

/** Conversations name the folder they were recorded in: a neutral one, the same for everybody who records. */
const ROOT = '/tmp/ramet-recorded';
const STOPPING = join(import.meta.dirname, 'stopping-program.ts');
const UNDO = join(import.meta.dirname, '../../packages/ramet/test/crash/undo-runner.ts');
const MOST_TRIES = 60;

/** Null when the process was not ended in the phase that the scene is about. */
async function tryScene(scene: Scene, undisturbed: Undisturbed, tries: number): Promise<Snapshot | null> {
  mkdirSync(ROOT);
  await using stage = await Stage.open(scene.plan);
  await using world = new World(scene.plan, stage.emulator.url, { root: ROOT });
  for (const run of scene.runs) await play(run, stage, world);
  const left = await world.leftProcesses();
  const recorded = recordedIn(world);
  const hadAsked = stage.asked.some(({ run }) => run === stage.run);
  const phases = phasesOf(recorded, { resumed: scene.runs.length > 1, hadAsked });
  const isWanted = scene.phases.every((phase) => phases.includes(phase));
  if (recorded === null || !isWanted || left.length > 0) return null;
  if (scene.isUndone === true && !undoInPart(world, recorded.session, tries)) return null;
  const snapshot = snapshotOf(ROOT, world.project);
  const line = { ...(await viewsOf(world)), phases, recorded, undisturbed };
  return {
    ...snapshot,
    lines: [
      { scene: sceneLine(scene, line) },
      ...stage.asked.map((asked) => ({ asked: askedLine(asked) })),
      ...snapshot.lines,
    ],
  };
}

export async function recordScene(scene: Scene, undisturbed: Undisturbed): Promise<Snapshot> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const snapshot = await tryScene(scene, undisturbed, tries);
    if (snapshot !== null) return snapshot;
  }
  throw new Error(
    `${scene.name}: ${MOST_TRIES} processes were ended, and none of them ${scene.phases.join(', ')}`,
  );
}

/** Whether an undo that is killed before that step is on record as begun, and not as ended. */
function undoInPart(world: World, session: string, step: number): boolean {
  spawnSync(process.execPath, [UNDO, world.project, session, 'undo', String(step)], { stdio: 'inherit' });
  const { events } = readRound(world.project, session);
  return fileHistoryOf(events).unfinished !== null;
}

function recordedIn(world: World): RecordedRound | null {
  return (
    world
      .sessions()
      .map((session) => begunRound(world.project, session))
      .find((one) => one !== null) ?? null
  );
}

async function play(scene: SceneRun, stage: Stage, world: World): Promise<void> {
  stage.run += 1;
  const from = stage.asked.length;
  const { fault } = scene;
  stage.fault = fault === undefined ? null : (asked) => fault(asked, stage.asked.slice(from));
  const session = stage.run === 1 ? null : (recordedIn(world)?.session ?? '');
  const args = session === null ? ['-p', PROMPT, ...ALLOWED] : ['resume', session];
  const under = scene.isLibrary === true ? [process.execPath, STOPPING] : [];
  const run = world.startUnder(under, ...args);
  if (scene.isLibrary === true)
    await sleepUntil(
      () =>
        phasesOf(recordedIn(world), { resumed: false, hadAsked: true }).includes(
          'between response and tools',
        ),
      run,
    );
  const { until } = scene;
  if (until !== undefined)
    await sleepUntil(
      () => until({ asked: stage.asked.slice(from), world, recorded: recordedIn(world) }),
      run,
    );
  if (until !== undefined || scene.isLibrary === true) endProcess(run.pid, scene.signal ?? 'SIGKILL');
  await run.ended;
  stage.fault = null;
}

async function sleepUntil(holds: () => boolean, run: Run): Promise<void> {
  while (!run.isOver && !holds()) await sleep(1);
}

interface Found {
  shown: SceneLine['shown'];
  billed: number;
  phases: string[];
  recorded: RecordedRound;
  undisturbed: Undisturbed;
}

function sceneLine(
  { name, plan }: Scene,
  { shown, billed, phases, recorded, undisturbed }: Found,
): SceneLine {
  const { session } = recorded;
  const { reports, files } = undisturbed;
  const time = recorded.events.at(-1)?.time ?? 0;
  return { name, phases, session, time, plan, reports: Object.fromEntries(reports), files, shown, billed };
}

async function viewsOf(world: World): Promise<Pick<Found, 'shown' | 'billed'>> {
  const [ps, cost] = [await world.look('ps', '--json'), await world.look('cost', '--json')];
  const shown: { id: string; status: string }[] = JSON.parse(ps.text);
  return {
    shown: shown.map(({ id, status }) => ({ id, status })),
    billed: JSON.parse(cost.text).total.usage.output_tokens,
  };
}

function askedLine({ record, ...asked }: Asked): AskedLine {
  const part = record === null ? null : repeatedPart(record.body);
  return {
    ...asked,
    outcome: record?.outcome ?? null,
    usage: record?.usage === undefined ? null : { ...record.usage },
    sent: part === null ? null : { length: part.length, sha256: hash('sha256', part) },
  };
}
