import { expect, test } from 'vitest';
import type { SessionEvent } from '../../sdk/session/session.ts';
import { DenialNotes, Denials } from './result-output.ts';

function completed(path: string, denied: boolean): SessionEvent {
  const call = { type: 'tool_use', id: `call-${path}`, name: 'Edit', input: { file_path: path } } as const;
  const content =
    'Edit is not permitted: it changes files, and nobody can be asked in this run. Do not try to get around this; ' +
    'do the rest, and say in your report what was left undone. (For the user: --allowedTools "Edit" allows it.)';
  const result = { type: 'tool_result', tool_use_id: call.id, content, is_error: true } as const;
  const main = { agentId: 'x.1', parentAgentId: null };
  const about = { name: call.name, isError: true, durationMs: 1 };
  return { type: 'tool_completed', call, result, ...about, ...(denied && { denied }), ...main };
}

test('UI-4: the result lists the calls that were not permitted, and no other that failed', () => {
  const denials = new Denials();
  denials.saw(completed('a', true));
  denials.saw(completed('b', false));
  expect(denials.list).toEqual([
    { tool_name: 'Edit', tool_use_id: 'call-a', tool_input: { file_path: 'a' } },
  ]);
});

test('UI-4: a denial is told in one line, with what would allow the call and nothing meant for the model', () => {
  const notes = new DenialNotes();
  expect(notes.line(completed('a', true), 'Edit a')).toBe(
    'denied: Edit a: it changes files, and nobody can be asked in this run. (--allowedTools "Edit" allows it.)',
  );
  expect(notes.line(completed('a', true), 'Edit a')).toBeNull();
  expect(notes.line(completed('a', false), 'Edit a')).toBeNull();
  expect(notes.rest).toBeNull();
});

test('UI-4: of very many denials the rest is counted', () => {
  const notes = new DenialNotes();
  const lines = Array.from({ length: 22 }, (_, index) => notes.line(completed('a', true), `Edit ${index}`));
  expect(lines.filter((line) => line !== null)).toHaveLength(20);
  expect(notes.rest).toBe('denied: 2 more calls (ramet show has them)');
});
