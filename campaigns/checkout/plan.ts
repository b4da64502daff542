/** What one run of the campaign is: who works where, how much, and by which chance. */
export interface CheckoutPlan {
  /** The checkout. */
  root: string;
  /** `$RAMET_HOME`; unused the plain way. */
  home: string;
  /** With Ramet's tools and its shim, or with plain files and plain git. */
  way: 'ramet' | 'plain';
  /** Of one process. */
  agents: number;
  processes: number;
  /** Edits and commits, of all agents together. */
  steps: number;
  /** The share of commits. */
  commits: number;
  seed: number;
}

/** What one agent tried and what came of it. */
export interface Attempt {
  agent: string;
  kind: 'edit' | 'commit';
  /** The line that was added, or the subject of the commit. */
  name: string;
  /** The file of an edit. */
  path: string | null;
  outcome: 'done' | 'refused' | 'nothing' | 'lock' | 'failed';
  /** What was said when it was not done. */
  said: string;
}

export interface WorkerReport {
  session: string;
  attempts: Attempt[];
}

export const FILES: readonly string[] = Array.from(
  { length: 24 },
  (_, number) => `${number % 3 === 0 ? 'src/deep/' : ''}file-${number}.txt`,
);

export const END: string = 'END';
export const FIRST_TEXT: string = `first\n${END}\n`;
