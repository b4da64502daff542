import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../engine/agent/agent-event.ts';
import { builtInTools, detailsOfCall, findTool } from '../../../tools/registry.ts';
import { textStyle } from '../screen/text-style.ts';
import { createEventView } from './event-text.ts';

function shown(events: readonly AgentEvent[], { columns = 60, colours = false } = {}): string {
  const view = createEventView(textStyle(colours));
  const agent = { agentId: 'x.1', parentAgentId: null };
  return events.map((event) => view.text({ ...event, ...agent }, columns)).join('') + view.end();
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
    expect(shown(events)).toBe('\nI will look.\n• Bash npm test 1.2 s\n\nDone.\n');
  });

  test('AGENT-3: a call that started an agent shows nothing, one that could not says why', () => {
    const input = { prompt: 'a long task', description: 'look' };
    expect(shown([completed('Agent', input, { content: 'report' })])).toBe('');
    const refused = completed('Agent', input, { content: 'No agent was started.', is_error: true });
    expect(shown([refused])).toBe('✗ Agent look 1.2 s\n    No agent was started.\n');
  });

  test('AGENT-3: a line about something else waits until the answer is over', () => {
    const view = createEventView(textStyle(false));
    const agent = { agentId: 'x.1', parentAgentId: null };
    expect(view.aside('before')).toBe('before\n');
    const parts = [
      view.text({ ...delta('I am'), ...agent }, 60),
      view.aside('✓ one'),
      view.aside('✓ two'),
      view.text({ ...delta(' here.'), ...agent }, 60),
      view.end(),
    ];
    expect(parts.join('')).toBe('\nI am here.\n✓ one\n✓ two\n');
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
      delta(hostile),
      completed('Bash', { command: hostile }, { content: hostile, is_error: true }),
      completed('Write', { file_path: hostile, content: hostile }, { content: 'ok' }),
    ];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be shown
    expect(shown(events)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(shown([delta(hostile)])).toContain('ab');
  });

  test.for([null, 'text', { old_string: 1 }, { file_path: 'x', content: 'y'.repeat(300_000) }])(
    'a call with an input that is none of a change shows none',
    (input) => {
      expect(shown([completed('Write', input, { content: 'x' })]).split('\n')).toHaveLength(2);
    },
  );
});
