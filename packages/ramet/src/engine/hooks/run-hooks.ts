/**
 * Hooks of a run besides those of calls and answers: all calls of an answer have ended, the agent works in another directory, the
 * run of the main agent has failed.
 */
import { contentOf, type FrozenBlock } from '../../conversation/frozen-block.ts';
import type { ToolUseBlock } from '../../schema/content.ts';
import type { AgentStatus } from '../../schema/status.ts';
import type { Agent } from '../agent/agent.ts';
import { hookText } from '../agent/notices.ts';

/** All calls of an answer have ended. Resolves with what hooks tell the model besides. */
export async function batchEnded(
  agent: Agent,
  calls: readonly ToolUseBlock[],
  results: ReadonlyMap<string, FrozenBlock>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { hooks, redact } = agent.runtime;
  if (signal.aborted || hooks?.has(agent, 'PostToolBatch') !== true) return [];
  const tool_calls = calls.map(({ id, name, input }) => {
    const result = results.get(id);
    const { content = null, is_error = false } = result === undefined ? {} : Object(contentOf(result));
    return { tool_name: name, tool_input: input, tool_use_id: id, tool_response: { content, is_error } };
  });
  const { block, stop, contexts } = await hooks.run(agent, 'PostToolBatch', { tool_calls }, signal);
  agent.here.halt ??= stop ?? block ?? null;
  return contexts.map((text) => redact(hookText('PostToolBatch', text)));
}

/** The agent has entered a worktree, or left it. */
export async function directoryChanged(agent: Agent, before: string, signal?: AbortSignal): Promise<void> {
  const { hooks } = agent.runtime;
  if (hooks?.has(agent, 'CwdChanged') !== true) return;
  const fields = { old_cwd: before, new_cwd: agent.directory.cwd };
  await hooks.run(agent, 'CwdChanged', fields, signal ?? new AbortController().signal);
}

interface FailedRun {
  readonly status: AgentStatus;
  readonly cause: string | null;
  readonly message: string | null;
  /** What the agent said last. */
  readonly text: string;
}

/** `Stop` is about answers. Another agent's failure its parent is told. */
export async function tellFailure(
  agent: Agent,
  { status, cause, message, text }: FailedRun,
  signal: AbortSignal,
): Promise<void> {
  const { hooks } = agent.runtime;
  if (status !== 'failed' || agent.spec.parent !== null || signal.aborted) return;
  if (hooks?.has(agent, 'StopFailure') !== true) return;
  const error = CAUSES[cause ?? ''] ?? cause ?? 'unknown';
  const fields = {
    ...{ error, last_assistant_message: text },
    ...(message !== null && { error_details: agent.runtime.redact(message) }),
  };
  // The run has failed already, and its end is on record.
  await hooks.run(agent, 'StopFailure', fields, signal).catch(() => {});
}

/** Errors of a provider as public hooks know them. */
const CAUSES: Readonly<Record<string, string>> = {
  rate_limit_error: 'rate_limit',
  authentication_error: 'authentication_failed',
  permission_error: 'authentication_failed',
  billing_error: 'billing_error',
  invalid_request_error: 'invalid_request',
  overloaded_error: 'server_error',
  api_error: 'server_error',
  max_tokens: 'max_output_tokens',
};
