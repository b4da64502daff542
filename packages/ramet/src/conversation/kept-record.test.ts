import { describe, expect, test } from 'vitest';
import { type KeptRecord, recordText } from './compacted.ts';

function record(fields: Partial<KeptRecord>): string {
  return recordText({
    prompts: [],
    promptRoom: 1_000,
    todos: [],
    summary: 'It went well.',
    changedFiles: [],
    readFiles: [],
    ...fields,
  });
}

describe("RES-7: the user's instructions survive a compaction", () => {
  test('word for word while they fit', () => {
    const text = record({ prompts: ['Fix it.\nUse tabs.', 'Now the tests.'] });
    expect(text).toContain('- Fix it.\nUse tabs.\n- Now the tests.');
  });

  test('the task and the latest ones when not all fit, and it says how many are missing', () => {
    const prompts = ['The task.', ...Array.from({ length: 20 }, (_, n) => `wish ${n} ${'x'.repeat(90)}`)];
    const text = record({ prompts, promptRoom: 300 });
    expect(text).toContain('- The task.\n(18 more are left out here; the summary covers them)\n- wish 18');
    expect(text).toContain('wish 19');
    expect(text).not.toContain('wish 17');
  });

  test('a prompt that is too long by itself keeps its beginning and its end', () => {
    const text = record({ prompts: [`First ${'x'.repeat(5_000)} last.`], promptRoom: 500 });
    expect(text).toMatch(/- First x+\n\[\d+ characters left out\]\nx+ last\./);
  });
});

describe('RES-7: the record of what was replaced', () => {
  test('has todos, summary and files, and no section that is empty', () => {
    const text = record({ todos: ['- [pending] test it'], changedFiles: ['a.ts'], readFiles: [] });
    expect(text).toContain('<open-todos>\n- [pending] test it\n</open-todos>');
    expect(text).toContain('<summary>\nIt went well.\n</summary>');
    expect(text).toContain('<files-changed>\na.ts\n</files-changed>');
    expect(text).not.toContain('files-read');
    expect(text).not.toContain('user-messages');
  });

  test('names the latest files when there are many', () => {
    const text = record({ readFiles: Array.from({ length: 50 }, (_, n) => `file-${n}.ts`) });
    expect(text).toContain('file-49.ts');
    expect(text).not.toContain('file-29.ts');
  });
});
