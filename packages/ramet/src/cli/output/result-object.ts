/** The one object that `--output-format json` prints, and the last line of `stream-json`. */
import { NO_USAGE, type Usage } from '../../schema/usage.ts';
import type { AgentResult } from '../../sdk/index.ts';
import type { RunResult, Session } from '../../sdk/session/session.ts';
import type { CommandIo } from '../io.ts';
import { Denials, endingLine, type PermissionDenial, type ResultOutput } from './result-output.ts';
import { type RunAgent, RunAgents } from './run-agents.ts';
import { textOutput } from './text.ts';

/** Usage with the four counts that every consumer knows. */
export interface ReportedUsage {
  /** The counts of which a part is not known: they are at least what they say. Absent where all are known. */
  unknown?: readonly string[];
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
}

/** Where an agent's work is, and what happened to its worktree. */
export interface ReportedWorktree {
  path: string;
  branch: string | null;
  base: string;
  kept: boolean;
  reasons: string[];
  /** What changed in the checkout meanwhile, and nobody known did it; absent for nothing. */
  checkout_changes?: string[];
}

export function reportedWorktree(worktree: NonNullable<AgentResult['worktree']>): ReportedWorktree {
  const { path, branch, base, kept, reasons, checkoutChanges } = worktree;
  const changes = checkoutChanges === undefined ? {} : { checkout_changes: checkoutChanges };
  return { path, branch, base, kept, reasons, ...changes };
}

type ReportedAgent = Omit<RunAgent, 'turns' | 'usage' | 'costUsd' | 'worktree'> & {
  /** Of an agent that had one of its own; null for others. */
  worktree: ReportedWorktree | null;
  num_turns: number;
  usage: ReportedUsage;
  total_cost_usd: number | null;
};

export interface ResultObject {
  type: 'result';
  subtype: 'success' | 'error_max_turns' | 'error_max_budget' | 'error_during_execution';
  is_error: boolean;
  result: string;
  /** With a schema: the answer as a value. */
  structured_output?: unknown;
  session_id: string;
  num_turns: number;
  duration_ms: number;
  total_cost_usd: number | null;
  usage: ReportedUsage;
  /** The calls that were not permitted, of all agents. */
  permission_denials: PermissionDenial[];
  agents: ReportedAgent[];
}

/** Usage and cost are those of the run with all its agents; each agent's own are in the list. */
export function resultObject(
  session: Session,
  result: RunResult,
  { agents, denials }: { agents: readonly RunAgent[]; denials: readonly PermissionDenial[] },
): ResultObject {
  return {
    type: 'result',
    subtype: subtypeOf(result),
    is_error: result.status !== 'done',
    result: result.status === 'done' ? result.text : result.text || (result.message ?? ''),
    ...(result.value !== undefined && { structured_output: result.value }),
    session_id: session.id,
    duration_ms: Math.round(result.durationMs),
    num_turns: result.turns,
    usage: reportedUsage(result.usage),
    total_cost_usd: result.costUsd,
    permission_denials: [...denials],
    agents: agents.map(({ turns, usage, costUsd, worktree, ...agent }) => ({
      ...agent,
      worktree: worktree === null ? null : reportedWorktree(worktree),
      num_turns: turns,
      usage: reportedUsage(usage),
      total_cost_usd: costUsd,
    })),
  };
}

/** Of a prompt that was refused before anything was asked. */
export function refusedObject(session: Session, problem: string): ResultObject {
  const refused = {
    status: 'failed',
    cause: null,
    message: problem,
    text: '',
    turns: 0,
    durationMs: 0,
  } as const;
  return resultObject(session, { ...refused, usage: NO_USAGE, costUsd: 0 }, { agents: [], denials: [] });
}

export function reportedUsage(usage: Usage): ReportedUsage {
  const { cache_creation_1h_input_tokens: _, ...reported } = usage;
  return reported;
}

function subtypeOf({ status, cause }: AgentResult): ResultObject['subtype'] {
  if (status === 'done') return 'success';
  if (cause === 'max_turns') return 'error_max_turns';
  return cause === 'budget' ? 'error_max_budget' : 'error_during_execution';
}

/** One JSON object on standard output; retries and warnings stay on standard error. */
export function jsonOutput(io: CommandIo): ResultOutput {
  const agents = new RunAgents();
  const denials = new Denials();
  const text = textOutput(io);
  return {
    ...text,
    record: (agent, event) => agents.recorded(agent, event),
    event(session, event) {
      agents.saw(event);
      denials.saw(event);
      text.event(session, event);
    },
    end(session, result) {
      const seen = { agents: agents.list(session, result), denials: denials.list };
      io.out(`${JSON.stringify(resultObject(session, result, seen))}\n`);
      if (result.status !== 'done') io.note(endingLine(result, session));
    },
    refused: (session, problem) => io.out(`${JSON.stringify(refusedObject(session, problem))}\n`),
  };
}
