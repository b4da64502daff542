/** What becomes of the rules that a person chooses with "always". */
import { ruleProblem, type SavedRulePlace, saveAllowRules } from '../../../sdk/calls/allow-rules.ts';
import { type CommandIo, callFrom } from '../../io.ts';

/** Rules that a person chooses. */
export interface RuleDesk {
  /** Why they cannot be read; null when they can. */
  problem(rules: readonly string[]): string | null;
  /** Says where they are kept now. */
  save(where: SavedRulePlace, rules: readonly string[]): Promise<string>;
}

export function ruleDesk(io: CommandIo): RuleDesk {
  return {
    problem: (rules) => ruleProblem(rules, callFrom(io)),
    save: (where, rules) => saveAllowRules(where, rules, callFrom(io)),
  };
}
