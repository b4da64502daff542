import { describe, expect, test } from 'vitest';
import {
  agentStarted,
  messageAppended,
  recorded,
  responseCompleted,
  toolStarted,
} from '../../../test/recorded-events.ts';
import type { EventOf, JournalEvent } from '../../schema/events.ts';
import { type FileHistory, fileHistoryOf } from './file-history.ts';

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

describe('BG-2: work that was adopted', () => {
  const origin = { kind: 'fork', call: null, description: 'x', background: false, depth: 1 } as const;
  const files = [{ path: '/w/a', before: null, after: 'v', mode: null }];
  const adopted = messageAppended({
    ...{ role: 'assistant', cause: 'adopted', adopted: { agent: 's.2', files } },
  });
  const tried: [string, JournalEvent][] = [
    ['s.1', agentStarted()],
    ['s.1', messageAppended()],
    ['s.1', responseCompleted()],
    ['s.2', agentStarted({ parent: 's.1', origin: { ...origin, source: 'speculation' } })],
    ['s.2', { type: 'file.changed', call: 'c', path: '/worktree/a', before: null, after: 'v' }],
    ['s.1', messageAppended()],
  ];
  const history = (...more: JournalEvent[]): FileHistory =>
    fileHistoryOf(recorded(...tried, ...more.map((event): [string, JournalEvent] => ['s.1', event])));

  test('counts as a turn of its own; what its agent changed elsewhere does not', () => {
    expect(history().changes).toEqual([]);
    const { changes, adopting } = history(adopted);
    expect(changes).toMatchObject([{ turn: 2, prompt: 2, path: '/w/a', before: null, after: 'v' }]);
    expect(adopting).toEqual({ agent: 's.2', files });
  });

  test('is carried out when its files are settled, or undone; what failed is not the session\u2019s', () => {
    const settled = (failed: { path: string; reason: string }[]): JournalEvent => ({
      type: 'files.settled',
      failed,
    });
    expect(history(adopted, settled([]))).toMatchObject({ adopting: null, changes: [{ path: '/w/a' }] });
    expect(history(adopted, settled([{ path: '/w/a', reason: 'x' }]))).toMatchObject({
      adopting: null,
      changes: [],
    });
    const undo: JournalEvent = { type: 'files.restored', kind: 'undo', turn: 2, files, settles: true };
    expect(history(adopted, undo)).toMatchObject({ adopting: null, changes: [] });
  });
});
