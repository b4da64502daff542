/** An attempt that failed, as it is recorded (MODEL-2): with what the provider had counted, or that it may have. */
import { costOf, mayHaveCost } from '../../model/prices.ts';
import type { FailedAttempt } from '../../model/rate/retry.ts';
import type { EventOf } from '../../schema/events.ts';
import type { HostedAgent } from '../agent/hosted-agent.ts';

export function failedRequest(
  { runtime, conversation }: HostedAgent,
  request: string,
  { attempt, error, retryInMs }: FailedAttempt,
): EventOf<'request.failed'> {
  const { code, message, usage = null } = error;
  return {
    type: 'request.failed',
    request,
    attempt,
    code,
    status: error.status ?? null,
    message,
    retryInMs,
    usage,
    costUsd: usage === null ? 0 : costOf(conversation.head.model, usage, runtime.prices).usd,
    ...(mayHaveCost(error) && { mayCost: true }),
  };
}
