/** What the readers of rules share: where a rule stands, and how a part of it comes out. */
export type RuleList = 'allow' | 'ask' | 'deny';

export interface RuleContext {
  list: RuleList;
  place: string;
  /** The directory that a path with one leading slash starts from. */
  base: string;
  /** What `~` stands for. */
  home: string | null;
  /** Names of tools that only this session has. */
  tools?: readonly string[] | undefined;
}

export type ParsedPart<Value> = { ok: true; value: Value } | { ok: false; reason: string };
