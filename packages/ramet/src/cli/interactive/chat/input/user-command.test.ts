import { describe, expect, test } from 'vitest';
import type { SharedCommand } from '../../../../sdk/session/session-type.ts';
import { textStyle } from '../../screen/text-style.ts';
import { goodbye } from '../run-on-terminal.ts';
import { runUserCommand } from './user-command.ts';

async function printed(pieces: readonly string[], output: string, isError = false): Promise<string> {
  const lines: string[] = [];
  const chat = {
    async command(_: string, { onOutput }: { onOutput?: (text: string) => void }): Promise<SharedCommand> {
      for (const piece of pieces) onOutput?.(piece);
      return { output, isError, block: { type: 'text', text: output } };
    },
  };
  const parts = { chat, style: textStyle(false), print: (text: string) => void lines.push(text) };
  await runUserCommand('x', parts, new AbortController().signal);
  return lines.join('');
}

describe('UI-3: the output of a command of the user', () => {
  test('is shown as it comes, and nothing of it twice', async () => {
    const end = '(goes with your next prompt)\n';
    expect(await printed(['one\n', 'two\n'], 'one\ntwo\nthree')).toBe(`one\ntwo\nthree\n${end}`);
    expect(await printed(['one\n'], 'one')).toBe(`one\n${end}`);
    expect(await printed([], 'one\nExit code 3.', true)).toBe(`one\nExit code 3.\n${end}`);
    expect(await printed(['a\n', 'b\n', 'c\n'], 'a\n[... left out ...]\nz')).toBe(
      `a\nb\nc\n[... left out ...]\nz\n${end}`,
    );
  });

  test('that waits for a prompt when its user leaves is told to be lost', () => {
    const session = { id: 'abcd1234' };
    expect(goodbye({ session, hasUnsent: true })).toMatch(
      /^the output .* was not sent and is not kept.*\nsession abcd1234;/,
    );
    expect(goodbye({ session, hasUnsent: false })).toMatch(/^session abcd1234; resume with/);
  });
});
