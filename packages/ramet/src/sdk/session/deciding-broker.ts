/**
 * A function of the caller in the place of a person: it is asked what rules and mode leave open, call by call. It cannot
 * allow what a rule denies, since that is never asked.
 */

import type { ForkOverrides } from '../../engine/shapes.ts';
import { askingOnce } from '../../permission/asking-once.ts';
import {
  denyingUnder,
  type ElicitedAnswer,
  type ElicitedQuestion,
  type PermissionAnswer,
  type PermissionBroker,
  type PermissionQuestion,
} from '../../permission/broker.ts';
import { type ClosedWays, parseRules } from '../../permission/policy.ts';
import { describeError, UserMistake } from '../../schema/errors.ts';
import { currentAgentId } from '../../system/current-agent.ts';
import { checkOptions, FLAG, type Kinds, NAMES, OBJECT, TEXT } from '../calls/argument-kinds.ts';

/** A call that rules and mode leave open. */
export interface ToolCallQuestion extends Omit<PermissionQuestion, 'agent' | 'parent'> {
  readonly agentId: string;
  readonly parentAgentId: string | null;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export type ToolCallDecision =
  /**
   * `rules` hold for the rest of the session: `suggestedRules` of the question, or others. With `updatedInput` the call
   * runs with that instead of its own input, if no rule denies it; the model is told.
   */
  | {
      readonly allowed: true;
      readonly rules?: readonly string[];
      readonly updatedInput?: Readonly<Record<string, unknown>>;
    }
  /** The model is told the reason. */
  | { readonly allowed: false; readonly reason: string };

export type DecideToolCall = (
  call: ToolCallQuestion,
) => ToolCallDecision | boolean | Promise<ToolCallDecision | boolean>;

type CanUseTool = NonNullable<ForkOverrides['canUseTool']>;
type ToolVerdict = Awaited<ReturnType<CanUseTool>>;

/** A call of a fork, or of an agent below it, before rules and mode are asked. */
export type ForkToolCall = Pick<ToolCallQuestion, 'agentId' | 'tool' | 'input'>;

/** What a fork may do is narrowed: a yes leaves the call to rules and mode, and changes nothing of either. */
export type ForkToolDecision =
  | { readonly allowed: true; readonly rules?: never; readonly updatedInput?: never }
  | { readonly allowed: false; readonly reason: string };

/** Narrows what a fork and agents below it may do; it cannot widen it. */
export type NarrowToolCall = (
  call: ForkToolCall,
) => ForkToolDecision | boolean | Promise<ForkToolDecision | boolean>;

/** What a server of the session asks the person. Its words are not to be trusted. */
export type AnswerServer = (
  question: ElicitedQuestion,
  signal: AbortSignal,
) => ElicitedAnswer | Promise<ElicitedAnswer>;

/** Who answers questions about permission: a broker, a function, or nobody. Questions of servers have their own function. */
export function brokerOf(
  broker: PermissionBroker | undefined,
  decide: DecideToolCall | undefined,
  elicit?: AnswerServer | undefined,
  { closed, tools = [] }: AnsweredRules = {},
): PermissionBroker {
  if (broker?.elicit !== undefined && elicit !== undefined)
    throw new UserMistake('bad_argument', 'openSession: give elicit or a broker with elicit, not both');
  const answering = permissionBroker(broker, decide, { closed, tools });
  return elicit === undefined ? answering : { ...answering, elicit: safely(elicit) };
}

interface AnsweredRules {
  readonly closed?: ClosedWays | undefined;
  /** Names of tools that only this session has: rules may be about them. */
  readonly tools?: readonly string[];
}

/** What is no answer is a no: a program without types may return anything. */
function safely(elicit: AnswerServer): NonNullable<PermissionBroker['elicit']> {
  return async (question, signal) => {
    try {
      const answer = await elicit(question, signal);
      const isAnswer = ['accept', 'decline', 'cancel'].includes(answer?.action);
      return isAnswer ? answer : { action: 'decline' };
    } catch {
      return { action: signal.aborted ? 'cancel' : 'decline' };
    }
  };
}

function permissionBroker(
  broker: PermissionBroker | undefined,
  decide: DecideToolCall | undefined,
  { closed, tools = [] }: AnsweredRules,
): PermissionBroker {
  if (broker !== undefined && decide !== undefined)
    throw new UserMistake(
      'bad_argument',
      'openSession: give broker or canUseTool: both answer the same questions',
    );
  if (decide !== undefined) return decidingBroker(decide, tools);
  return broker === undefined ? denyingUnder(closed) : askingOnce(broker);
}

function decidingBroker(decide: DecideToolCall, tools: readonly string[]): PermissionBroker {
  return {
    async ask({ agent, parent, ...question }, signal) {
      try {
        const decision = await decide({ ...question, agentId: agent, parentAgentId: parent, signal });
        return answerOf(decision, [...tools, question.tool]);
      } catch (error) {
        return denied(`the program that decides failed: ${describeError(error)}`);
      }
    },
  };
}

/** The form of `canUseTool` of the session, for the engine. What is neither a yes nor a no is a no. */
export function narrowing(decide: NarrowToolCall): CanUseTool {
  return async (tool, input) => {
    const decision: unknown = await decide({ tool, input, agentId: currentAgentId() ?? '' });
    return verdictOf(decision);
  };
}

function verdictOf(decision: unknown): ToolVerdict {
  if (decision === true) return { allowed: true };
  if (decision === false) return { allowed: false, reason: DENIED };
  const { allowed, reason, ...more } = Object(decision) as Record<string, unknown>; // of any shape
  if (allowed === false) return { allowed, reason: String(reason ?? 'the program denied it') };
  if (allowed !== true) return { allowed: false, reason: NO_FORK_DECISION };
  const changing = ['updatedInput', 'rules'].find((field) => more[field] !== undefined);
  if (changing !== undefined)
    return {
      allowed: false,
      reason: `canUseTool of a fork only narrows and takes no ${changing}: deny the call, and say in the reason what to do instead`,
    };
  checkOptions('canUseTool', decision, { allowed: FLAG, reason: TEXT, updatedInput: OBJECT, rules: NAMES });
  return { allowed };
}

const DENIED = 'the program that runs this session denied it';
const NO_FORK_DECISION =
  'canUseTool gave no decision: return true, false, { allowed: true } or { allowed: false, reason }';

const YES: Kinds<ToolCallDecision & { allowed: true }> = {
  allowed: FLAG,
  rules: NAMES,
  updatedInput: OBJECT,
};

/** What is neither a yes nor a no is a no: a program without types may return anything. */
function answerOf(decision: ToolCallDecision | boolean, tools: readonly string[]): PermissionAnswer {
  if (decision === true) return { kind: 'once' };
  if (decision === false) return denied(DENIED);
  if (decision?.allowed === true) {
    // A yes whose other half is not understood would allow more than was meant.
    checkOptions('canUseTool', decision, YES);
    const { rules = [], updatedInput } = decision;
    refuseUnreadable(rules, tools);
    const changed = updatedInput && { updatedInput: plain(updatedInput) };
    return rules.length === 0 ? { kind: 'once', ...changed } : { kind: 'always', rules, ...changed };
  }
  if (decision?.allowed === false) return denied(String(decision.reason ?? 'the program denied it'));
  return denied(
    'canUseTool gave no decision: return true, false, { allowed: true, updatedInput } or { allowed: false, reason }',
  );
}

/** Only whether they can be read; where their paths begin is for the session. */
function refuseUnreadable(rules: readonly string[], tools: readonly string[]): void {
  const origin = { place: 'canUseTool', base: '/', home: '/', tools };
  const [problem] = parseRules({ allow: rules }, origin).problems;
  if (problem === undefined) return;
  throw new UserMistake('bad_argument', `canUseTool: the rule ${problem.text} ${problem.reason}`);
}

/** As JSON has it: it is recorded, and may go to another process. One that JSON cannot say is a denial. */
function plain(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(input));
}

function denied(reason: string): PermissionAnswer {
  return { kind: 'denied', reason };
}
