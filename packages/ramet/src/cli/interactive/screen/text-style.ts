/** Colours where a terminal shows them; with NO_COLOR or elsewhere the text stays as it is. */
export interface TextStyle {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
  cyan(text: string): string;
  yellow(text: string): string;
  inverse(text: string): string;
}

export function textStyle(colours: boolean): TextStyle {
  const paint = (on: number, off: number) => (text: string) =>
    colours && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    dim: paint(2, 22),
    bold: paint(1, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    cyan: paint(36, 39),
    yellow: paint(33, 39),
    inverse: paint(7, 27),
  };
}

/** https://no-color.org: any value but the empty one turns colours off. */
export function wantsColours(env: Readonly<Record<string, string | undefined>>): boolean {
  return (env.NO_COLOR ?? '') === '';
}
