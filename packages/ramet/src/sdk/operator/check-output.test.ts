import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { createRedactor } from '../../tools/redaction/redact.ts';
import { endOfOutput } from './check-output.ts';

const BOUNDS = { lines: 3, characters: 200, redact: (text: string) => text };

describe('OP-4: the end of what a check printed', () => {
  test('has its last lines without colours, and every other control is written out', () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'check.log');
    writeFileSync(file, '\u001b[31mone\u001b[0m\r\n\u001b]0;title\u0007two\u001b[2J\n\n');
    expect(endOfOutput(file, BOUNDS)).toBe('one\n\\x1b]0;title\\x07two\\x1b[2J');
    writeFileSync(file, 'a\nb\nc\nd\n');
    expect(endOfOutput(file, BOUNDS)).toBe('(more before this)\nb\nc\nd');
    writeFileSync(file, `${'x'.repeat(100_000)}\n${'y'.repeat(1_000)}\nend`);
    expect(endOfOutput(file, BOUNDS)).toBe(`(more before this)\n${'y'.repeat(196)}\nend`);
    writeFileSync(file, ' \n');
    expect(endOfOutput(file, BOUNDS)).toBeNull();
    expect(endOfOutput(join(directory, 'gone'), BOUNDS)).toBeNull();
  });

  test('has no secret, not even one that colours cut in two', () => {
    const file = join(temporaryDirectory(), 'check.log');
    const redact = createRedactor({ NPM_TOKEN: 'hunter2-Zq81xw' });
    writeFileSync(file, 'with hunter2-Zq81xw\nand hunter2\u001b[1m-Zq81xw\n');
    const end = endOfOutput(file, { ...BOUNDS, redact });
    expect(end).toBe('with [redacted: NPM_TOKEN]\nand [redacted: NPM_TOKEN]');
  });
});
