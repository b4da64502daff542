/**
 * Open questions, one after the other: agents ask, a person answers the first. A question goes away when its
 * turn is stopped, and is denied when nobody is there any more.
 */

import { Cancelled } from '../../../../schema/errors.ts';
import { ruleProblem, type SavedRulePlace, saveAllowRules } from '../../../../sdk/calls/allow-rules.ts';
import type {
  ElicitedAnswer,
  ElicitedQuestion,
  MemberPlan,
  PermissionAnswer,
  PermissionBroker,
  PermissionQuestion,
  PlanDecision,
} from '../../../../sdk/index.ts';
import { type CommandIo, callFrom } from '../../../io.ts';

/** Whether a call may run, or what an MCP server asks; null withdraws it. */
type OpenEntry =
  | { readonly question: PermissionQuestion; settle(answer: PermissionAnswer | null): void }
  | { readonly form: ElicitedQuestion; settle(answer: ElicitedAnswer | null): void };

export class QuestionDesk implements PermissionBroker {
  readonly modeAdvice = 'Shift-Tab or /permissions changes the mode';
  readonly #open: OpenEntry[] = [];
  readonly #onChange: (withdrawn: boolean) => void;

  /**
   * `onChange` is called whenever another question, or none, is the first, and told whether the one that was went away
   * without an answer.
   */
  constructor(onChange: (withdrawn: boolean) => void) {
    this.#onChange = onChange;
  }

  get isEmpty(): boolean {
    return this.#open.length === 0;
  }

  /** The first, if it is about permission. */
  get current(): PermissionQuestion | null {
    const [first] = this.#open;
    return first !== undefined && 'question' in first ? first.question : null;
  }

  /** The first, if a server asks it. */
  get form(): ElicitedQuestion | null {
    const [first] = this.#open;
    return first !== undefined && 'form' in first ? first.form : null;
  }

  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer> {
    return this.#put<PermissionAnswer>((settle) => ({ question, settle }), signal);
  }

  /** Shown as a call of the member's that waits for a yes. */
  async approvePlan({ agent, agentName, plan }: MemberPlan, signal: AbortSignal): Promise<PlanDecision> {
    const asker = { agent, agentName, parent: null, cwd: '' };
    const about = {
      tool: 'TeamPlan',
      summary: plan,
      isText: true,
      reason: 'it changes nothing before you approve its plan',
    };
    const answer = await this.ask({ ...asker, ...about, suggestedRules: [], input: { plan } }, signal);
    return answer.kind === 'denied'
      ? { approve: false, feedback: answer.reason || 'The user said no.' }
      : { approve: true };
  }

  /** A question of a server that is withdrawn has been answered by nobody. */
  async elicit(form: ElicitedQuestion, signal: AbortSignal): Promise<ElicitedAnswer> {
    try {
      return await this.#put<ElicitedAnswer>((settle) => ({ form, settle }), signal);
    } catch (error) {
      if (signal.aborted) return { action: 'cancel' };
      throw error;
    }
  }

  #put<Answer>(
    entryWith: (settle: (answer: Answer | null) => void) => OpenEntry,
    signal: AbortSignal,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => entry.settle(null);
      const entry = entryWith((answer) => {
        signal.removeEventListener('abort', onAbort);
        this.#remove(entry, answer === null);
        if (answer === null) reject(new Cancelled());
        else resolve(answer);
      });
      if (signal.aborted) {
        reject(new Cancelled());
        return;
      }
      this.#open.push(entry);
      signal.addEventListener('abort', onAbort);
      if (this.#open[0] === entry) this.#onChange(false);
    });
  }

  /** Answers the first question, if it is about permission. */
  answer(answer: PermissionAnswer): void {
    const [first] = this.#open;
    if (first !== undefined && 'question' in first) first.settle(answer);
  }

  /** Answers the first question, if a server asks it. */
  answerForm(answer: ElicitedAnswer): void {
    const [first] = this.#open;
    if (first !== undefined && 'form' in first) first.settle(answer);
  }

  #remove(entry: OpenEntry, withdrawn: boolean): void {
    const at = this.#open.indexOf(entry);
    if (at === -1) return;
    this.#open.splice(at, 1);
    if (at === 0) this.#onChange(withdrawn);
  }
}

/** A mode that asks less would answer an open question, one that asks nobody would deny it: neither is meant for it. */
export const MODE_STAYS = 'the permission mode stays while a question is open: answer it first';

/** Does it after that many milliseconds, unless what it returns is called before. */
export function afterwards(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
}

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
