/** How the user's check command ended on a merged tree. */
export interface CheckOutcome {
  passed: boolean;
  /** In words, such as `exit code 1`. */
  ending: string;
  /** The file that holds what it printed. */
  output: string;
  /** What would make it pass, where that can be told from how it ended. */
  hint?: string | undefined;
}

export function describeCheck({ ending, output, hint }: CheckOutcome): string {
  return `(${ending}); its output: ${output}${hint === undefined ? '' : `; ${hint}`}`;
}
