/** How the user's check command ended on a merged tree. */
export interface CheckOutcome {
  passed: boolean;
  /** In words, such as `exit code 1`. */
  ending: string;
  /** The file that holds what it printed. */
  output: string;
  /** Where it ran. */
  directory?: string | undefined;
  /** What would make it pass, where that can be told from how it ended. */
  hint?: string | undefined;
}

export function describeCheck({ ending, output, directory, hint }: CheckOutcome): string {
  const where = directory === undefined ? '' : `; it ran in ${directory}`;
  return `(${ending}); its output: ${output}${where}${hint === undefined ? '' : `; ${hint}`}`;
}
