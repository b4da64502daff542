/** What the parser says of wrong use, as one line; and what to do where a prompt was taken for a flag or a command. */
import { nearWord } from './near-word.ts';

const PRINTS = /^(?:-[a-zA-Z]*p|--print)$/;

/** `below` names the commands below a command. */
export function usageError(
  text: string,
  args: readonly string[],
  below: (command: string) => readonly string[] = () => [],
): string {
  const line = text
    .replace(/^error: /, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ');
  const [, command = ''] = /^too many arguments for '(\w+)'/.exec(line) ?? [];
  const known = below(command);
  if (known.length > 0) return unknownBelow(command, args, known);
  const mayBePrompt = /^unknown option '/.test(line) && args.some((word) => PRINTS.test(word));
  return mayBePrompt
    ? `${line}; a prompt that begins with - goes behind --, as in ramet -p -- '- fix it'`
    : line;
}

function unknownBelow(command: string, args: readonly string[], known: readonly string[]): string {
  const word = args.slice(args.indexOf(command) + 1).find((arg) => !arg.startsWith('-')) ?? '';
  const meant = nearWord(word, known);
  const hint = meant === null ? `there are ${known.join(', ')}` : `did you mean ${meant}?`;
  return `there is no command "${command} ${word}": ${hint}`;
}
