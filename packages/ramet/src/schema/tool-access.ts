/** What a tool says about one call, as plain data: what it reaches, for permissions, and what views show of it. */

/** Paths are as the call gives them. A field that is absent is not touched. */
export interface ToolAccess {
  /** Files, or directories whose files it looks through. */
  readonly reads?: readonly string[];
  /** It looks through many files: those that rules keep from being read are left out. */
  readonly searches?: true;
  readonly writes?: readonly string[];
  /** What it gives to a shell. */
  readonly command?: string;
  /** The address it asks: what an agent has read can leave in it. */
  readonly url?: string;
  /** The agent type or the skill that rules know it by. */
  readonly named?: string;
}

/** Whatever of it is absent, views take from the call itself. */
export interface CallDetails {
  /** What it is about, in a few words. */
  readonly title?: string;
  /** The text that it changes in one file. */
  readonly change?: CallChange;
  /** It starts an agent, and views tell of that agent by itself. */
  readonly startsAgent?: true;
}

export interface CallChange {
  readonly path: string;
  /** What is replaced; null when it is the whole file. */
  readonly before: string | null;
  readonly after: string;
  /** Every occurrence of `before` is replaced. */
  readonly everywhere: boolean;
}
