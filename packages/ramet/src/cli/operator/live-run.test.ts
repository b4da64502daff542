import { describe, expect, test } from 'vitest';
import { MIXED_RUN, madeRun, madeTask, startedRun, taskChange } from '../../../test/fixtures/operator-run.ts';
import { VirtualTerminal } from '../../../test/fixtures/virtual-terminal.ts';
import type { CommandIo } from '../io.ts';
import { LiveRun } from './live-run.ts';

interface Seen {
  io: CommandIo;
  out: string;
  notes: string[];
  progress: string[];
}

function seen(fields: Partial<CommandIo> = {}, write?: (text: string) => void): Seen {
  const found: Seen = {
    ...{ out: '', notes: [], progress: [] },
    io: {
      out: (text) => {
        found.out += text;
        write?.(text);
      },
      ...{ isTerminal: false, columns: null, env: {}, cwd: '/', signal: new AbortController().signal },
      note: (line) => void found.notes.push(line),
      progress: (line) => void found.progress.push(line),
      ...fields,
    },
  };
  return found;
}

const STARTED = startedRun([madeTask('a', { title: 'Write it' }), madeTask('b')]);
const RUNNING = taskChange('a', 'running', { attempt: { number: 1, agent: 's.2' } });

describe('UI-1: a run while it works', () => {
  test('is lines where standard output is no terminal, from its first event on', () => {
    const found = seen();
    using live = new LiveRun(found.io, 'text');
    live.record(null, STARTED);
    expect(found.out).toBe('');
    live.begin('k3v9x2ab', madeRun(STARTED));
    live.record(null, RUNNING);
    expect(found.out).toBe('operator started: 2 tasks into main (best-effort)\n[0/2] a running: Write it\n');
    expect(live.state.order).toEqual(['a', 'b']);
  });

  test('of formats for programs, standard output has JSON alone', () => {
    const json = seen();
    using one = new LiveRun(json.io, 'json');
    const stream = seen();
    using other = new LiveRun(stream.io, 'stream-json');
    for (const live of [one, other]) {
      live.record(null, STARTED);
      live.begin('k3v9x2ab', madeRun(STARTED));
      live.record(null, RUNNING);
      live.record(null, { type: 'progress.reported', line: 'no event of the run' });
    }
    expect(json.out).toBe('');
    expect(json.progress).toEqual([
      'operator started: 2 tasks into main (best-effort)',
      '[0/2] a running: Write it',
    ]);
    const lines = stream.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ subtype, session_id, event }) => [subtype, session_id, event.type])).toEqual([
      ['operator_event', 'k3v9x2ab', 'operator.started'],
      ['operator_event', 'k3v9x2ab', 'task.changed'],
    ]);
  });

  test.each([[{ columns: 100, rows: 24 }], [{ columns: 40, rows: 10 }]])(
    'is one block on a terminal of %o, below what is said, and gone at the end',
    (size) => {
      const terminal = new VirtualTerminal(size.columns, size.rows);
      const { io } = seen({ isTerminal: true, ...size, env: { NO_COLOR: '1' } }, (text) =>
        terminal.write(text),
      );
      using live = new LiveRun(io, 'text');
      live.begin('k3v9x2ab', madeRun(...MIXED_RUN));
      live.note('first');
      live.note('second');
      expect(terminal.text).toMatch(/^ramet: first\nramet: second\n1 of 4 tasks done/);
      expect(terminal.text.match(/1 of 4 tasks done/g)).toHaveLength(1);
      expect(terminal.text).toContain('T003');
      live[Symbol.dispose]();
      expect(terminal.text).toBe('ramet: first\nramet: second');
    },
  );

  test('has colours only where they are wanted, and no block on a terminal that cannot draw', () => {
    const screen = { isTerminal: true, columns: 80, rows: 24 };
    const outOf = (env: NodeJS.ProcessEnv): string => {
      const found = seen({ ...screen, env });
      using live = new LiveRun(found.io, 'text');
      live.begin('k3v9x2ab', madeRun(...MIXED_RUN));
      live.note('said');
      return found.out;
    };
    expect(outOf({})).toContain('\u001b[32m✓ T001');
    expect(outOf({ NO_COLOR: '1' })).not.toContain('\u001b[32m');
    expect(outOf({ TERM: 'dumb' })).toBe('');
  });
});
