/**
 * Sessions that an earlier version recorded and was killed in (`fixtures/recorded-sessions/`): this version reads them,
 * resumes them, and comes to the end that an undisturbed run of the recording version came to.
 */
import { hash } from 'node:crypto';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { problemsOf } from '../../../../campaigns/kill/checks.ts';
import { collect } from '../../../../campaigns/kill/evidence.ts';
import { type Asked, Stage } from '../../../../campaigns/kill/stage.ts';
import { type RunEnd, World } from '../../../../campaigns/kill/world.ts';
import { SUMMARISE } from '../../src/engine/compaction/compaction-summary.ts';
import {
  type AskedLine,
  repeatedPart,
  type SceneLine,
  type SnapshotLine,
} from '../fixtures/recorded-sessions/format.ts';
import { readScene, restoreScene, sceneNames } from '../fixtures/recorded-sessions/restore.ts';
import { RECORDED_SUMMARY_REQUEST } from '../fixtures/recorded-sessions/summary-request.ts';

/** Its undo was killed. */
const UNDONE = 'undo-unfinished';
const NOTHING: RunEnd = { code: 0, signal: null, stdout: '', stderr: '', hung: false, ms: 0 };

function sceneOf(lines: readonly SnapshotLine[]): SceneLine {
  const [scene] = lines.flatMap((line) => ('scene' in line ? [line.scene] : []));
  if (scene === undefined) throw new Error('a recorded session begins with its scene');
  return scene;
}

function askedOf({ outcome, usage, sent: _, ...asked }: AskedLine): Asked {
  if (outcome === null) return { ...asked, record: null };
  // Only what the checks of the campaign read: the body itself is not kept.
  const record = { outcome, usage: usage ?? undefined, body: '' } as Asked['record'];
  return { ...asked, record };
}

/** Whatever an agent sends first continues, byte for byte, what it sent last before the kill. */
function expectContinued(before: readonly AskedLine[], after: readonly Asked[]): void {
  for (const first of firstOfEach(after)) {
    const last = before.findLast(({ task, sent }) => task === first.task && sent !== null)?.sent;
    if (last === undefined || last === null) continue;
    const part = repeatedPart(inRecordedWords(first.record?.body ?? '')).slice(0, last.length);
    expect({ task: first.task, sha256: hash('sha256', part) }).toEqual({
      task: first.task,
      sha256: last.sha256,
    });
  }
}

function inRecordedWords(body: string): string {
  const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
  return body.replace(inJson(SUMMARISE), () => inJson(RECORDED_SUMMARY_REQUEST));
}

function firstOfEach(asked: readonly Asked[]): Asked[] {
  return [...Map.groupBy(asked, ({ task }) => task).values()].flatMap((all) => all.slice(0, 1));
}

interface Restored extends AsyncDisposable {
  scene: SceneLine;
  before: AskedLine[];
  stage: Stage;
  world: World;
}

/** In a fresh folder, with a server that knows what was asked; views show it as the recording version did. */
async function restored(name: string): Promise<Restored> {
  const lines = readScene(name);
  const scene = sceneOf(lines);
  const before = lines.flatMap((line) => ('asked' in line ? [line.asked] : []));
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-recorded-')));
  restoreScene(lines, root, scene.time);
  const stage = await Stage.open(scene.plan, before.map(askedOf));
  const world = new World(scene.plan, stage.emulator.url, { root });
  stage.run = Math.max(0, ...before.map(({ run }) => run)) + 1;
  const { shown, billed, session } = scene;
  expect(await viewsOf(world)).toEqual({ shown, billed, session });
  const dispose = async (): Promise<void> => {
    await world[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
  };
  return { scene, before, stage, world, [Symbol.asyncDispose]: dispose };
}

async function isResumed(name: string): Promise<void> {
  await using session = await restored(name);
  const { scene, before, stage, world } = session;
  const { plan, phases, reports, files } = scene;
  const isOver = phases.includes('ended');
  const end = isOver ? NOTHING : await world.start('resume', scene.session).ended;
  const evidence = await collect({ plan, stage, world }, end, isOver);
  const undisturbed = { reports: new Map(Object.entries(reports)), files };
  expect(problemsOf(evidence, { undisturbed, mayBeGivenUp: false })).toEqual([]);
  expectContinued(before, stage.asked.slice(before.length));
}

async function isUndone(name: string): Promise<void> {
  await using session = await restored(name);
  const { scene, world } = session;
  expect(await world.start('undo', scene.session).ended).toMatchObject({ code: 0 });
  const written = ([path]: [string, string]): boolean => path.endsWith('.txt');
  const others = Object.entries(scene.files).filter((file) => !written(file));
  expect(world.files()).toEqual(Object.fromEntries(others));
  expect(await world.start('undo', '--redo', scene.session).ended).toMatchObject({ code: 0 });
  expect(Object.entries(world.files()).filter(written)).toEqual(Object.entries(scene.files).filter(written));
}

async function viewsOf(world: World): Promise<Pick<SceneLine, 'shown' | 'billed' | 'session'>> {
  const look = async (...args: string[]) => JSON.parse((await world.look(...args, '--json')).text);
  const shown: SceneLine['shown'] = await look('ps');
  return {
    shown: shown.map(({ id, status }) => ({ id, status })),
    billed: (await look('cost')).total.usage.output_tokens,
    session: (await look('show')).session_id,
  };
}

describe.concurrent('LOG-1, AGENT-5: a session that an earlier version was killed in', () => {
  test.each(sceneNames().filter((name) => name !== UNDONE))('%s: is resumed to the same end', isResumed);

  test(`${UNDONE}: is undone to the end, and can be redone`, () => isUndone(UNDONE));
});
