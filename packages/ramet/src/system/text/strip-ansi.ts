/** Colours, cursor moves and titles that programs print for terminals. Bounded repeats: linear on any text. */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are control characters
  /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|[()*+][0-9A-Za-z]|[@-Z\\^_=>78c])/g;

export function stripAnsi(text: string): string {
  return text.includes('\u001b') ? text.replace(ESCAPES, '') : text;
}
