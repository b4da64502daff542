import { describe, expect, test } from 'vitest';
import {
  agentStarted,
  messageAppended,
  recorded,
  responseCompleted,
  toolStarted,
} from '../../../test/recorded-events.ts';
import type { EventOf } from '../../schema/events.ts';
import { fileHistoryOf } from './file-history.ts';

const changed = (path: string, before: string | null, after: string): EventOf<'file.changed'> => ({
  type: 'file.changed',
  call: 'c',
  path,
  before,
  after,
  ...(before === null ? {} : { mode: 0o644 }),
});
const restored = (kind: 'undo' | 'redo', turn: number): EventOf<'files.restored'> => ({
  type: 'files.restored',
  kind,
  turn,
  files: [],
});

describe('UI-1: what a session changed in files, for ramet undo', () => {
  const work = recorded(
    ['s.1', agentStarted()],
    ['s.1', messageAppended()],
    ['s.1', responseCompleted()],
    ['s.1', changed('/a', null, '1')],
    ['s.2', agentStarted({ parent: 's.1' })],
    ['s.2', messageAppended()],
    ['s.2', responseCompleted()],
    ['s.2', changed('/b', '0', '1')],
    ['s.2', toolStarted('c', 'Bash')],
    ['s.1', messageAppended({ cause: 'tool_results' })],
    ['s.1', responseCompleted()],
    ['s.1', messageAppended()],
    ['s.1', responseCompleted()],
    ['s.1', changed('/a', '1', '2')],
  );
  const turns = (events: typeof work): number[] => fileHistoryOf(events).changes.map(({ turn }) => turn);

  test('is told by turns and prompts of the main agent, also what its children changed', () => {
    const history = fileHistoryOf(work);
    expect(history).toMatchObject({ turn: 3, prompt: 2, commands: [1], undone: [] });
    expect(history.changes).toEqual([
      { turn: 1, prompt: 1, path: '/a', before: null, after: '1', mode: null },
      { turn: 1, prompt: 1, path: '/b', before: '0', after: '1', mode: 0o644 },
      { turn: 3, prompt: 2, path: '/a', before: '1', after: '2', mode: 0o644 },
    ]);
  });

  test('loses what was undone, gets it back by a redo, and forgets that way once something new is changed', () => {
    const [one, two, redo] = recorded(
      [null, restored('undo', 3)],
      [null, restored('undo', 1)],
      [null, restored('redo', 1)],
    );
    if (one === undefined || two === undefined || redo === undefined) throw new Error('three events');
    expect(turns([...work, one])).toEqual([1, 1]);
    expect(turns([...work, one, two])).toEqual([]);
    expect(turns([...work, one, two, redo])).toEqual([1, 1]);
    expect(turns([...work, one, two, redo, redo])).toEqual([1, 1, 3]);
    expect(turns([...work, redo])).toEqual([1, 1, 3]);
    const after = recorded(['s.1', changed('/c', null, '1')]);
    expect(fileHistoryOf([...work, one, ...after]).undone).toEqual([]);
  });

  test('is brought back whole after an undo that was killed and continued', () => {
    const file = (path: string, before: string | null): EventOf<'files.restored'>['files'][number] => ({
      ...{ path, before, after: null, mode: 0o644 },
    });
    const killed = [file('/a', '2'), file('/b', '1')];
    // The first part had put back /a before it was killed.
    const rest = [file('/a', null), file('/b', '1')];
    const { undone, unfinished } = fileHistoryOf([
      ...work,
      ...recorded(
        [null, { ...restored('undo', 1), files: killed, settles: true }],
        [null, { ...restored('undo', 1), files: rest, settles: true, continues: true }],
        [null, { type: 'files.settled', failed: [] }],
      ),
    ]);
    expect(unfinished).toBeNull();
    expect(undone.map(({ restored: { files } }) => files)).toEqual([killed]);
  });
});
