import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import type { SessionId } from '../../schema/ids.ts';
import { type MemoryPlace, storeOf } from '../files/memory-places.ts';
import { MemoryStore } from '../files/memory-store.ts';
import { keepLines } from './keep-lines.ts';
import { notesParts } from './session-notes.ts';

function placeIn(home: string): MemoryPlace {
  return { home, project: join(home, 'project'), root: home };
}

function note(place: MemoryPlace, session: SessionId, answer: string, prompts = 1) {
  return keepLines({
    ...{ kind: 'keep-lines', answer, typed: ['Always answer briefly.'], seen: [], place },
    ...{ session, agent: `${session}.2`, prompts, today: '2026-11-19', keeps: { facts: true, notes: true } },
  });
}

test('BG-5: a file of notes begins with the first note', async () => {
  const place = placeIn(temporaryDirectory());
  const file = join(storeOf(place, 'project'), 'sessions/k3v9x2ab.md');
  expect(await note(place, 'k3v9x2ab', 'NOTHING')).toEqual([]);
  expect((await note(place, 'k3v9x2ab', 'USER: Always answer briefly.')).map(({ kind }) => kind)).toEqual([
    'extraction',
  ]);
  expect(existsSync(file)).toBe(false);
  await note(place, 'k3v9x2ab', 'NOTE: The parser is half done.', 3);
  const text = '# Session k3v9x2ab, up to prompt 3 (2026-11-19)\n- The parser is half done.\n';
  expect(readFileSync(file, 'utf8')).toBe(text);
  await note(place, 'k3v9x2ab', 'NOTHING', 5);
  expect(readFileSync(file, 'utf8')).toBe(text.replace('prompt 3', 'prompt 5'));
});

test('BG-5: a file without a note takes no place of one, and goes', async () => {
  const place = placeIn(temporaryDirectory());
  await note(place, 'real0001', 'NOTE: The parser is half done.');
  using store = new MemoryStore(storeOf(place, 'project'));
  // As earlier versions wrote them.
  for (const [index, name] of ['empty001', 'empty002'].entries()) {
    const path = `sessions/${name}.md`;
    const text = `# Session ${name}, up to prompt 2 (2026-11-19)\n`;
    const by = { session: null, agent: null, turn: null };
    await store.change({ ...by, kind: 'session-notes' }, () => new Map([[path, text]]));
    utimesSync(join(store.root, path), 4_000_000_000 + index, 4_000_000_000 + index);
  }
  expect(notesParts(place, null).map(({ path }) => basename(path))).toEqual(['real0001.md']);
  await note(place, 'real0002', 'NOTE: The printer is done.');
  expect(store.files()).toEqual(['sessions/real0001.md', 'sessions/real0002.md']);
});
