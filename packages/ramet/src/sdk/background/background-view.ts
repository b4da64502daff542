/** What the opener of a session sees of its work in the background. Shapes only. */

export interface BackgroundView {
  /** Resolves when none of it runs. */
  idle(): Promise<void>;
  /** Prompts that may follow, the likeliest first, if `onSuggestions` asks for them. */
  readonly suggestions: readonly string[];
  /** The user writes something else. */
  dropSuggestions(): void;
  /** Work ahead of the user so far; null for a session that does none. */
  readonly speculation: SpeculationTally | null;
}

export interface SpeculationTally {
  readonly tries: number;
  /** How many of them the user has asked for. */
  readonly hits: number;
  /** Null when unknown. */
  readonly costUsd: number | null;
}
