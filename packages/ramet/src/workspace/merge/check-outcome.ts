/** How the user's check command ended on a merged tree. */
export interface CheckOutcome {
  passed: boolean;
  /** In words, such as `exit code 1`. */
  ending: string;
  /** The file that holds what it printed. */
  output: string;
}
