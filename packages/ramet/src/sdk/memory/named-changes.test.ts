import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import type { ChangeKind } from '../../memory/files/memory-history.ts';
import { storeOf } from '../../memory/files/memory-places.ts';
import { MemoryStore } from '../../memory/files/memory-store.ts';
import { changesOf, lastUndoable, undoable } from './named-changes.ts';

test('MEM-2: the last change that can be undone is no removal of old notes, no undo, and not by hand', async () => {
  const [home, project] = [temporaryDirectory(), temporaryDirectory()];
  const place = { home, project, root: project };
  using store = new MemoryStore(storeOf(place, 'project'), () => 1_000);
  const change = (kind: ChangeKind, path: string, text: string | null) =>
    store.change({ kind, session: null, agent: null, turn: null }, () => new Map([[path, text]]));
  await change('session-notes', 'sessions/old.md', '- old\n');
  await change('note', 'MEMORY.md', '- a\n');
  await change('pruning', 'sessions/old.md', null);
  expect(lastUndoable(place)).toEqual({ name: 'project', id: 2 });
  await change('undo', 'MEMORY.md', '- b\n');
  await change('hand', 'MEMORY.md', '- c\n');
  expect(undoable(place)).toEqual(['p2', 'p1']);
});

test('MEM-2: where the clock jumps back, the last change is still the one that was made last', async () => {
  const [home, project] = [temporaryDirectory(), temporaryDirectory()];
  const place = { home, project, root: project };
  let now = 5_000;
  const note = async (scope: 'project' | 'user', text: string): Promise<void> => {
    using store = new MemoryStore(storeOf(place, scope), () => now);
    const source = { kind: 'note', session: null, agent: null, turn: null } as const;
    await store.change(source, (read) => new Map([['MEMORY.md', `${read('MEMORY.md') ?? ''}- ${text}\n`]]));
  };
  await note('user', 'one');
  now = 6_000;
  await note('project', 'one');
  now = 1_000;
  await note('project', 'two');
  expect(undoable(place)).toEqual(['p2', 'p1', 'u1']);
  expect(changesOf(place).map(({ id, at }) => [id, at])).toEqual([
    ['p2', '1970-01-01T00:00:01.000Z'],
    ['p1', '1970-01-01T00:00:06.000Z'],
    ['u1', '1970-01-01T00:00:05.000Z'],
  ]);
});

test('MEM-2: where nothing is left to undo, the answer tells no changes from changes that are undone', async () => {
  const [home, project] = [temporaryDirectory(), temporaryDirectory()];
  const place = { home, project, root: project };
  expect(() => lastUndoable(place)).toThrow('there is nothing to undo: memory has no changes yet');
  using store = new MemoryStore(storeOf(place, 'project'));
  const by = { session: null, agent: null, turn: null };
  await store.change({ kind: 'note', ...by }, () => new Map([['MEMORY.md', '- a\n']]));
  await store.undo(by, null);
  expect(() => lastUndoable(place)).toThrow(
    'nothing is left to undo; name a change to take back that one: ramet memory show --changes lists them',
  );
});
