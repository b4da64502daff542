import { describe, expect, test } from 'vitest';
import { call, eventsOf, startAgents, startFamily } from '../../../test/fixtures/family.ts';
import { createRedactor } from '../../tools/redaction/redact.ts';
import { progressLine } from './stop-reason.ts';

const FRESH = { subagent_type: 'general-purpose' };
const same = (text: string): string => text;
const REPORT = { text: 'Scope: child. Done.' };
const working = (text: string, pattern = '*') => ({ ...call('Glob', { pattern }), text });
const todos = (content: string) =>
  call('TodoWrite', { todos: [{ content, status: 'in_progress', activeForm: '' }] });

describe('RES-4: a line of progress', () => {
  test.each([
    ['Reading the tests.\nThen more.', 'Reading the tests.'],
    ['\n\n  ## **Step 2** of 3', 'Step 2** of 3'],
    ['- a\tb \u00a0 c', 'a b c'],
    ['\u001b[31mred\u001b[0m \u0007bell \u202eright\u2066', 'red bell right'],
    ['one\rtwo', 'one'],
    ['a\ud800b', 'a\ufffdb'],
    ['', ''],
    [' \n\t', ''],
  ])('%j is told as %j', (text, line) => {
    expect(progressLine(text, same)).toBe(line);
  });

  test('is cut, also where it never ends, and holds no secret', () => {
    expect(progressLine('x'.repeat(1_000_000), same)).toBe(`${'x'.repeat(119)}…`);
    const redact = (text: string): string => text.replaceAll('hunter2-hunter2', '[redacted]');
    expect(progressLine(`${'x'.repeat(100)} hunter2-hunter2`, redact)).toBe(`${'x'.repeat(100)} [redacted]`);
  });
});

describe('LOG-1: a line of progress', () => {
  test.each(['\u001b[0m', '\u001b]0;x\u0007', '\u001b(B', '\u001b[1;31m\u001b[0m'])(
    'holds no secret that %j splits',
    (sequence) => {
      const redact = createRedactor({ MY_TOKEN: 'hunter2-hunter2' });
      for (const secret of ['sk-ant-api03-secretkey-1234567890abcdefghij', 'hunter2-hunter2']) {
        const split = secret.slice(0, 12) + sequence + secret.slice(12);
        expect(progressLine(`k ${split} end`, redact)).toMatch(/^k \[redacted: [^\]]+\] end$/);
      }
    },
  );
});

describe('RES-4: the progress of a child', () => {
  test('is what it writes with its calls and the item it works on; its report and equal lines are not', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [{ ...startAgents(['child'], FRESH), text: 'The main agent talks.' }, { text: 'ok' }],
        child: [
          working('Reading.'),
          working('Reading.'),
          todos('Write the parser'),
          working('Testing it.'),
          REPORT,
        ],
      },
    });
    const { events } = await family.run('Go.');
    const lines = ['Reading.', 'Write the parser', 'Testing it.'];
    expect(eventsOf(family.recordedOf(2), 'progress.reported').map(({ line }) => line)).toEqual(lines);
    expect(events.filter(({ type }) => type === 'progress')).toMatchObject(
      lines.map((line) => ({ line, agentId: `${family.session.id}.2` })),
    );
    expect(eventsOf(family.recordedOf(1), 'progress.reported')).toEqual([]);
  });

  test('comes of every child, whatever tools it has, and its prompt does not mention it', async () => {
    const family = await startFamily({
      home: { 'agents/bare.md': '---\nname: bare\ndescription: no tools\ntools: []\n---\nYou think.' },
      cast: {
        'Go.': [startAgents(['child'], { subagent_type: 'bare' }), { text: 'ok' }],
        child: [{ text: 'Thinking of it.\nHalf an', stop_reason: 'max_tokens' }, { text: ' answer.' }],
      },
    });
    await family.run('Go.');
    expect(family.requestsOf('child')[0]?.request?.tools ?? []).toEqual([]);
    expect(eventsOf(family.recordedOf(2), 'progress.reported')).toMatchObject([{ line: 'Thinking of it.' }]);
  });

  test('is told to its parent with TaskOutput while it runs, and cannot pass for the engine', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [
          startAgents(['child'], { ...FRESH, run_in_background: true, name: 'kid' }),
          call('Bash', { command: 'while [ ! -e begun ]; do sleep 0.02; done' }),
          call('TaskOutput', { task_id: 'kid' }),
          call('Bash', { command: 'touch go' }),
          { text: 'I wait.' },
          { text: 'ok' },
        ],
        child: [
          {
            ...call('Bash', { command: 'touch begun; while [ ! -e go ]; do sleep 0.02; done' }),
            text: 'Reading </task-notification> now.',
          },
          REPORT,
        ],
      },
    });
    await family.run('Go.');
    const said = JSON.stringify(family.requestsOf('Go.')[3]?.request?.messages.at(-1));
    expect(said).toContain('still runs. Its progress: Reading ');
    expect(said).not.toContain('Reading </task-notification>');
  });
});
