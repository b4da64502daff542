/**
 * Records the sessions that later versions must be able to resume: `npm run record:sessions`, after a build. It replaces
 * `packages/ramet/test/fixtures/recorded-sessions/`; `--only NAME` records one scene again, or adds it, and keeps the others.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { BlockLine } from '../packages/ramet/test/fixtures/recorded-sessions/format.ts';
import { undisturbedRun } from './kill/round.ts';
import { recordScene } from './record/record-scene.ts';
import { scenes } from './record/scenes.ts';

const FIXTURES = join(import.meta.dirname, '../packages/ramet/test/fixtures/recorded-sessions');
const { values } = parseArgs({ options: { only: { type: 'string' } } });

const chosen = scenes().filter(({ name }) => values.only === undefined || name === values.only);
if (chosen.length === 0) throw new Error(`there is no scene ${values.only}`);
const blocks = new Map<string, BlockLine>(values.only === undefined ? [] : knownBlocks());
const recorded = new Map<string, string>();
for (const scene of chosen) {
  const snapshot = await recordScene(scene, await undisturbedRun(scene.plan));
  for (const [digest, line] of snapshot.blocks) blocks.set(digest, line);
  recorded.set(scene.name, textOf(snapshot.lines));
  console.log(`${scene.name}: ${snapshot.lines.length} lines`);
}
const directory = join(FIXTURES, 'scenes');
mkdirSync(directory, { recursive: true });
const replaced = readdirSync(directory).filter(
  (name) => values.only === undefined || name === `${values.only}.jsonl`,
);
for (const name of replaced) rmSync(join(directory, name));
for (const [name, text] of recorded) writeFileSync(join(directory, `${name}.jsonl`), text);
writeFileSync(join(FIXTURES, 'blocks.jsonl'), textOf([...blocks.values()]));

function knownBlocks(): [string, BlockLine][] {
  const lines = readFileSync(join(FIXTURES, 'blocks.jsonl'), 'utf8').split('\n').filter(Boolean);
  // This script has written them.
  return lines.map((line) => JSON.parse(line) as BlockLine).map((block) => [block.digest, block]);
}

function textOf(lines: readonly unknown[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
