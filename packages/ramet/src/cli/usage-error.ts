/** What the parser says of wrong use, as one line; and what to do where a prompt was taken for a flag. */

const PRINTS = /^(?:-[a-zA-Z]*p|--print)$/;

export function usageError(text: string, args: readonly string[]): string {
  const line = text
    .replace(/^error: /, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ');
  const mayBePrompt = /^unknown option '/.test(line) && args.some((word) => PRINTS.test(word));
  return mayBePrompt
    ? `${line}; a prompt that begins with - goes behind --, as in ramet -p -- '- fix it'`
    : line;
}
