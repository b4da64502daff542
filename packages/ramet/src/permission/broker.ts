/**
 * The port through which a person is asked. The engine asks only what rules and modes leave open; the user of a screen
 * answers. If no one can answer, `denyingBroker` does: a denial that says what would have allowed the call.
 */
import type { CallDetails } from '../schema/tool-access.ts';
import { GO_ON, whatWouldAllow } from './assessment.ts';
import type { ClosedWays } from './policy.ts';

/** What a person is asked, in plain words. Secrets are taken out of `summary` and `whole` before they are shown or recorded. */
export interface PermissionQuestion {
  /** Id of the agent that wants to act. */
  agent: string;
  /** What people call it: its name, else what it is for. Null for the main agent. */
  agentName: string | null;
  /** Id of the agent that started it; null for the main agent. */
  parent: string | null;
  /** The directory it works in. */
  cwd: string;
  tool: string;
  /** What would happen: the command, the path or the address, and the rest of the input but what `details` have of it. */
  summary: string;
  /** With that too, for a view that does not show `details`; absent where it is the same. */
  whole?: string | undefined;
  /** Why it is not allowed as it is, in one line. */
  reason: string;
  /** Rules that would allow this and the like; empty when no rule should. */
  suggestedRules: readonly string[];
  /** Whether these rules would allow the call; nothing is changed by asking. */
  covers?: ((rules: readonly string[]) => Promise<boolean>) | undefined;
  /** The ask rule that makes it a question, whatever else would allow it. */
  byRule?: string | undefined;
  /** A hook makes it a question, whatever rules and the mode allow. */
  byHook?: boolean | undefined;
  /** The summary is a text of several lines for a person to read. */
  isText?: boolean | undefined;
  /** The whole command, of a call that runs one. */
  command?: string | undefined;
  /** The call's whole input. */
  input: unknown;
  /** What its tool says about it, for a view that shows a diff. */
  details?: CallDetails | undefined;
}

/** The input that the call is to run with instead of its own; rules and tool judge it like any other. */
interface ChangedInput {
  updatedInput?: Readonly<Record<string, unknown>> | undefined;
}

export type PermissionAnswer =
  | ({ kind: 'once' } & ChangedInput)
  /** The rules hold for the rest of the session. */
  | ({ kind: 'always'; rules: readonly string[] } & ChangedInput)
  | { kind: 'denied'; reason: string };

/** What an MCP server asks the person, in mid-call. */
export interface ElicitedQuestion {
  readonly server: string;
  readonly message: string;
  /** A flat JSON Schema of what is asked for; absent where the person is to open an address. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly url?: string | undefined;
}

export type ElicitedAnswer =
  | { readonly action: 'accept'; readonly content?: Record<string, string | number | boolean | string[]> }
  | { readonly action: 'decline' | 'cancel' };

/** The plan of a member of a team that changes nothing before it is approved. */
export interface MemberPlan {
  readonly agent: string;
  /** The member's name. */
  readonly agentName: string;
  readonly plan: string;
}

export interface PlanDecision {
  readonly approve: boolean;
  /** Told to the member; a rejection needs it. */
  readonly feedback?: string | undefined;
}

export interface PermissionBroker {
  /** What a person does where the mode refuses, for the refusal. Where it is absent, flags are advised. */
  readonly modeAdvice?: string | undefined;
  /** Asks the person about a plan. Where it is absent, the lead of the team answers. */
  approvePlan?(question: MemberPlan, signal: AbortSignal): Promise<PlanDecision>;
  /** Passes a server's question on to the person. Where it is absent, every such question is declined. */
  elicit?(question: ElicitedQuestion, signal: AbortSignal): Promise<ElicitedAnswer>;
  /**
   * Rejects only when `signal` aborts: then nobody waits for the answer any more. A view that goes away answers with a
   * denial.
   */
  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer>;
}

/** For `-p` and for libraries that bring no broker: policy answers. */
export function denyingUnder(closed?: ClosedWays): PermissionBroker {
  return {
    ask: async (question) => ({
      kind: 'denied',
      reason: `nobody can be asked in this run. ${GO_ON} (For the user: ${whatWouldAllow(question, closed)} allows it.)`,
    }),
  };
}

export const denyingBroker: PermissionBroker = denyingUnder();
