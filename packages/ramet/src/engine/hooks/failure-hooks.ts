/** Hooks that learn that a run of the main agent failed: `Stop` is about answers. Another agent's failure its parent is told. */
import type { AgentStatus } from '../../schema/status.ts';
import type { Agent } from '../agent/agent.ts';

interface FailedRun {
  readonly status: AgentStatus;
  readonly cause: string | null;
  readonly message: string | null;
  /** What the agent said last. */
  readonly text: string;
}

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
