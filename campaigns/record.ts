/**
 * Records the sessions that later versions must be able to resume: `npm run record:sessions`, after a build. It replaces
 * `packages/ramet/test/fixtures/recorded-sessions/`; `--only NAME` prints whether one scene can be recorded, and writes nothing.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { BlockLine } from '../packages/ramet/test/fixtures/recorded-sessions/format.ts';
import { undisturbedRun } from './kill/round.ts';
import { recordScene } from './record/record-scene.ts';
import { scenes } from './record/scenes.ts';

const FIXTURES = join(import.meta.dirname, '../packages/ramet/test/fixtures/recorded-sessions');
const { values } = parseArgs({ options: { only: { type: 'string' } } });

const chosen = scenes().filter(({ name }) => values.only === undefined || name === values.only);
const blocks = new Map<string, BlockLine>();
const recorded = new Map<string, string>();
for (const scene of chosen) {
  const snapshot = await recordScene(scene, await undisturbedRun(scene.plan));
  for (const [digest, line] of snapshot.blocks) blocks.set(digest, line);
  recorded.set(scene.name, textOf(snapshot.lines));
  console.log(`${scene.name}: ${snapshot.lines.length} lines`);
}
if (values.only === undefined) {
  const directory = join(FIXTURES, 'scenes');
  mkdirSync(directory, { recursive: true });
  for (const name of readdirSync(directory)) rmSync(join(directory, name));
  for (const [name, text] of recorded) writeFileSync(join(directory, `${name}.jsonl`), text);
  writeFileSync(join(FIXTURES, 'blocks.jsonl'), textOf([...blocks.values()]));
}

function textOf(lines: readonly unknown[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
