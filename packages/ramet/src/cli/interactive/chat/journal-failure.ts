import type { AgentResult } from '../../../sdk/index.ts';

/** What is removed or damaged does not come back by opening it again. */
export function isJournalFailure({ status, cause }: AgentResult): boolean {
  if (status !== 'failed' || cause === null) return false;
  return /^journal_(?:disk_full|write_failed|not_writable|busy)$/.test(cause);
}
