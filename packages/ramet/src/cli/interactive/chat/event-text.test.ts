import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../engine/agent/agent-event.ts';
import { builtInTools, detailsOfCall, findTool } from '../../../tools/registry.ts';
import { textStyle } from '../screen/text-style.ts';
import { createEventView, type EventView } from './event-text.ts';

/** The view, and everything in the order in which a person sees it; the answer as it came. */
function viewOf({ colours = false, now = (): number => 0 } = {}): {
  view: EventView;
  show(event: AgentEvent): void;
  out: string[];
} {
  const out: string[] = [];
  let answering = false;
  const view = createEventView(
    textStyle(colours),
    {
      print: (text) => void out.push(text),
      answer(text) {
        out.push(answering ? text : `\n${text}`);
        answering = true;
      },
      endAnswer() {
        out.push('\n');
        answering = false;
      },
    },
    now,
  );
  const agent = { agentId: 'x.1', parentAgentId: null };
  return { view, out, show: (event) => void out.push(view.text({ ...event, ...agent }, 60)) };
}

function shown(events: readonly AgentEvent[], options: { colours?: boolean } = {}): string {
  const { view, show, out } = viewOf(options);
  for (const event of events) show(event);
  out.push(view.end());
  return out.join('');
}

function completed(
  name: string,
  input: unknown,
  result: { content: string; is_error?: boolean },
): AgentEvent {
  const tool = findTool(builtInTools({ fork: true, types: [] }), name);
  const details = tool && detailsOfCall(tool, input);
  return {
    type: 'tool_completed',
    name,
    isError: result.is_error === true,
    call: { type: 'tool_use', id: 'c', name, input },
    result: { type: 'tool_result', tool_use_id: 'c', ...result },
    durationMs: 1_234,
    ...(details && { details }),
  };
}

const delta = (text: string): AgentEvent => ({ type: 'text_delta', text });

describe('UI-1: what is shown of a turn', () => {
  test('text as it streams, then one line for each call', () => {
    const events = [
      delta('I will '),
      delta('look.'),
      completed('Bash', { command: 'npm test' }, { content: 'fine' }),
      delta('Done.'),
    ];
    expect(shown(events)).toBe('\nI will look.\n• Bash npm test 1.2 s\n    fine\n\nDone.\n');
  });

  test('AGENT-3: a call that started an agent shows nothing, one that could not says why', () => {
    const input = { prompt: 'a long task', description: 'look' };
    expect(shown([completed('Agent', input, { content: 'report' })])).toBe('');
    const refused = completed('Agent', input, { content: 'No agent was started.', is_error: true });
    expect(shown([refused])).toBe('✗ Agent look 1.2 s\n    No agent was started.\n');
  });

  test('AGENT-3: a line about something else waits until the answer is over', () => {
    const { view, show, out } = viewOf();
    out.push(view.aside('before'));
    show(delta('I am'));
    out.push(view.aside('✓ one'), view.aside('✓ two'));
    show(delta(' here.'));
    out.push(view.end());
    expect(out.join('')).toBe('before\n\nI am here.\n✓ one\n✓ two\n');
  });

  test('an edit with its diff, in colours', () => {
    const edit = completed(
      'Edit',
      { file_path: 'a.ts', old_string: 'one\ntwo', new_string: 'one\n2' },
      { content: 'Edited a.ts.' },
    );
    expect(shown([edit])).toBe('• Edit a.ts 1.2 s\n      one\n    - two\n    + 2\n');
    expect(shown([edit], { colours: true })).toContain('\u001b[31m- two\u001b[39m');
  });

  test('a long new file in part', () => {
    const content = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
    const lines = shown([completed('Write', { file_path: 'a', content }, { content: 'Created a' })]).split(
      '\n',
    );
    expect(lines).toHaveLength(1 + 16 + 1 + 1);
    expect(lines.at(-2)).toBe('    (24 more lines)');
  });

  test('a failed call with the first line of why', () => {
    const failed = completed('Read', { file_path: 'x' }, { content: 'no such file\nmore', is_error: true });
    expect(shown([failed])).toBe('✗ Read x 1.2 s\n    no such file more\n');
  });

  test('nothing that a model or a tool writes can move the cursor or turn the text around', () => {
    const hostile = 'a\u001b[2J\u001b]0;title\u0007b\u009b31mc\rd\u202ee\u0008';
    const events = [
      { type: 'thinking_delta', text: hostile } as const,
      completed('Bash', { command: hostile }, { content: hostile, is_error: true }),
      completed('Write', { file_path: hostile, content: hostile }, { content: 'ok' }),
    ];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be shown
    expect(shown(events)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  test.for([null, 'text', { old_string: 1 }, { file_path: 'x', content: 'y'.repeat(300_000) }])(
    'a call with an input that is none of a change shows none',
    (input) => {
      expect(shown([completed('Write', input, { content: 'x' })])).not.toMatch(/^ +[+-] /m);
    },
  );

  test('the end of the output of a call, and all of it when a person asks', () => {
    const { view, show, out } = viewOf();
    const lines = Array.from({ length: 9 }, (_, line) => `line ${line}`);
    show(completed('Bash', { command: 'ls' }, { content: lines.join('\n') }));
    expect(out.join('')).toBe(
      '• Bash ls 1.2 s\n    (6 more lines: Ctrl-O)\n    line 6\n    line 7\n    line 8\n',
    );
    show(completed('Read', { file_path: 'a' }, { content: '1 x\n2 y' }));
    expect(out.at(-1)).toBe('• Read a 1.2 s\n    2 lines (Ctrl-O)\n');
    expect(view.expanded()).toBe('\nRead a\n  1 x\n  2 y\n');
    expect(view.expanded()).toBe(`\nBash ls\n${lines.map((line) => `  ${line}\n`).join('')}`);
    expect(view.expanded()).toBe('nothing more to show in full\n');
  });

  test('the end of why a command failed', () => {
    const failed = completed(
      'Bash',
      { command: 'x' },
      { content: 'a\nb\nc\nd\nExit code 1.', is_error: true },
    );
    expect(shown([failed])).toBe(
      '✗ Bash x 1.2 s\n    (2 more lines: Ctrl-O)\n    c\n    d\n    Exit code 1.\n',
    );
  });

  test('thinking is one line with its time, before what follows it; all of it when a person asks', () => {
    let time = 0;
    const { view, show, out } = viewOf({ now: () => time });
    show({ type: 'thinking_delta', text: 'I wonder\n' });
    time = 2_000;
    show({ type: 'thinking_delta', text: 'whether.' });
    time = 3_000;
    show(delta('Yes.'));
    out.push(view.end());
    expect(out.join('')).toBe('∴ thought for 3.0 s\n\nYes.\n');
    expect(view.expanded()).toBe('\nthought for 3.0 s\n  I wonder\n  whether.\n');
  });

  test('an answer that breaks off and begins again says so where it was cut', () => {
    const failed: AgentEvent = {
      ...{ type: 'request_failed', request: 'x/1', attempt: 1, code: 'stream_cut', status: null },
      ...{ message: 'the stream is broken', retryInMs: 500, usage: null, costUsd: 0 },
    };
    const cut = 'attempt 1 failed: the stream is broken; trying again in 0.5 s';
    expect(shown([failed])).toBe(`${cut}\n`);
    expect(shown([delta('One.'), failed, delta('One. Two.')])).toBe(
      `\nOne.\n${cut}; the answer above was cut off here and begins again\n\nOne. Two.\n`,
    );
  });

  test('a todo list is no line of its own: it stays below', () => {
    const todos = [{ content: 'one', status: 'pending' }];
    expect(shown([completed('TodoWrite', { todos }, { content: 'Todos: 1 pending.' })])).toBe('');
  });
});
