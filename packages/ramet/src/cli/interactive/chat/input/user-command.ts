/** `!` at the prompt: runs a command of the user, shows its output as it comes, and keeps it for the next prompt. */
import { UserMistake } from '../../../../schema/errors.ts';
import { safeText } from '../../../../views/text/format.ts';
import type { TextStyle } from '../../screen/text-style.ts';
import type { Chat } from '../chat.ts';

export interface UserCommandParts {
  readonly chat: Pick<Chat, 'command'>;
  readonly style: TextStyle;
  print(text: string): void;
}

export async function runUserCommand(
  command: string,
  { chat, print, style }: UserCommandParts,
  signal: AbortSignal,
): Promise<void> {
  if (command === '') throw new UserMistake('no_command', 'write a command behind the !, as in !npm test');
  let shown = '';
  const onOutput = (text: string): void => {
    shown += text;
    print(safeText(text));
  };
  const { output, isError } = await chat.command(command, { signal, onOutput });
  const rest = safeText(output.slice(sharedStart(shown, output))).trimEnd();
  print(rest === '' ? '' : `${isError ? style.red(rest) : rest}\n`);
  print(`${style.dim('(goes with your next prompt)')}\n`);
}

/** How long both begin alike: what the result leaves out in the middle was shown as it came. */
function sharedStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** `!ls` is a command of the user; null for anything else. */
export function shellCommand(line: string | null): string | null {
  return line?.startsWith('!') === true ? line.slice(1).trim() : null;
}
