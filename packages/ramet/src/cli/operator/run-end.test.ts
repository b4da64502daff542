import { join } from 'node:path';
import { expect, test } from 'vitest';
import { madeRun, madeTask, startedRun, taskChange } from '../../../test/fixtures/operator-run.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { gitVariables } from '../../../test/fixtures/worktrees.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { showEnd } from './run-end.ts';

test('OP-2: a run that Ctrl-C ends before its result has landed exits with 130, also if all tasks are done', () => {
  const stop = new AbortController();
  stop.abort('SIGINT');
  const io = {
    ...{ out: () => {}, note: () => {}, progress: () => {}, isTerminal: false, columns: null },
    ...{ cwd: temporaryRepository({ a: '1\n' }), signal: stop.signal },
    env: { ...gitVariables(), RAMET_HOME: join(temporaryDirectory(), 'home') },
  };
  const integrated = 'c0ffee1111111111';
  const none = { before: null, after: null, message: null };
  const landing = { type: 'operator.landed', state: 'intended', commit: integrated, ...none } as const;
  const moved = { ...landing, state: 'moved', after: integrated } as const;
  const stopped = {
    type: 'operator.changed',
    status: 'draining',
    cause: 'interrupted',
    message: 'SIGINT',
  } as const;
  const code = (...events: JournalEvent[]): number => {
    const state = madeRun(startedRun([madeTask('a')]), taskChange('a', 'done'), ...events, stopped);
    return showEnd({ session: 's', state }, 'json', io);
  };
  const failed = { ...landing, state: 'failed', message: 'stopped' } as const;
  expect([code(landing), code(landing, failed), code(landing, moved)]).toEqual([130, 130, 0]);
});
