import { describe, expect, test } from 'vitest';
import { type KeptRecord, recordText } from './compacted.ts';

function record(fields: Partial<KeptRecord>): string {
  return recordText({
    prompts: [],
    promptRoom: 1_000,
    whole: 'ramet show k3v9x2ab --full',
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

  test('a short one whole, and of each long one the beginning and the end, while only the long ones have to give', () => {
    const long = (n: number): string => `rule-${n} first ${'x'.repeat(900)} rule-${n} last.`;
    const text = record({ prompts: [long(1), 'Use tabs.', long(2), long(3), 'Go on.'], promptRoom: 1_000 });
    for (const n of [1, 2, 3]) {
      expect(text).toContain(`- rule-${n} first xxx`);
      expect(text).toContain(`x rule-${n} last.`);
    }
    expect(text).toContain('- Use tabs.\n- rule-2');
    expect(text).toContain('- Go on.\n');
    expect(text).toContain('characters left out]');
    expect(text).toContain('(ramet show k3v9x2ab --full prints what is left out of these messages)');
  });

  test('where all are whole, nothing is said to be missing', () => {
    expect(record({ prompts: ['Fix it.', 'Use tabs.'] })).not.toContain('left out');
  });

  test('hundreds fit, each with its beginning', () => {
    const prompts = Array.from({ length: 400 }, (_, n) => `wish ${n}: ${'長い文 '.repeat(300)}`);
    const promptRoom = 100_000;
    const text = record({ prompts, promptRoom });
    const missing = [...prompts.keys()].filter((n) => !text.includes(`- wish ${n}: `));
    expect(missing).toEqual([]);
    expect(Buffer.byteLength(text)).toBeLessThan(promptRoom * 1.02);
  });

  test('where not even that fits, the task and the latest ones, and it says how many are missing', () => {
    const prompts = [
      'The task.',
      ...Array.from({ length: 2_000 }, (_, n) => `wish ${n}. ${'x'.repeat(900)}`),
    ];
    const text = record({ prompts, promptRoom: 10_000 });
    const left = Number(/- The task\.\n\((\d+) more are left out here\)\n- wish/.exec(text)?.[1]);
    expect(left).toBeGreaterThan(1_900);
    const kept = Array.from(text.matchAll(/^- wish (\d+)\. x/gm), ([, n]) => Number(n));
    expect(kept).toEqual(Array.from({ length: 2_000 - left }, (_, n) => left + n));
    expect(text).not.toContain(`wish ${left - 1}.`);
    expect(Buffer.byteLength(text)).toBeLessThan(10_500);
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
