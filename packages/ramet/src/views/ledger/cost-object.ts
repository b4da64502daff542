/** The bill for programs: the ledger's sums by name. */
import { isDearer } from '../../engine/budget/fork-cost.ts';
import type { SessionId } from '../../schema/ids.ts';
import { hitRate } from '../../schema/usage.ts';
import { type Ledger, type LedgerLine, mostUnanswered } from './ledger.ts';

export function costObject(session: SessionId, ledger: Ledger): Record<string, unknown> {
  return {
    session_id: session,
    total: lineObject(ledger.total),
    agents: Object.fromEntries(
      Array.from(ledger.agents, ([id, line]) => {
        const {
          parent = null,
          type = null,
          name = null,
          description = null,
          thinking = null,
          source = null,
        } = ledger.known.get(id) ?? {};
        return [id, { parent, type, name, description, thinking, source, ...lineObject(line) }];
      }),
    ),
    types: lineObjects(ledger.types),
    models: lineObjects(ledger.models),
    sources: lineObjects(ledger.sources),
    ...(ledger.speculation.tries > 0 && { speculation: ledger.speculation }),
    ...(ledger.rewrites.size > 0 && {
      team_rewrites: Object.fromEntries(
        Array.from(ledger.rewrites, ([id, rewrite]) => [
          id,
          rewrite && {
            request: rewrite.request,
            tokens: rewrite.tokens,
            total_cost_usd: rewrite.costUsd,
          },
        ]),
      ),
    }),
    forks: Object.fromEntries(
      Array.from(ledger.forks, ([id, fork]) => [
        id,
        {
          fork_tokens: fork.forkTokens,
          fresh_tokens: fork.freshTokens,
          fork_usd: fork.forkUsd,
          fresh_usd: fork.freshUsd,
          dearer_as_fork: isDearer(fork),
        },
      ]),
    ),
  };
}

export function lineObject(line: LedgerLine): Record<string, unknown> {
  const { requests, responses, retries, usage, costUsd, atLeastUsd, durationMs } = line;
  const { belowMinimum, reused, unanswered } = line;
  return {
    requests,
    responses,
    retries,
    below_minimum: belowMinimum,
    usage,
    cache_hit_rate: hitRate(usage),
    reused_tokens: reused.tokens,
    saved_usd: reused.savedUsd,
    duration_ms: Math.round(durationMs),
    total_cost_usd: costUsd,
    at_least_usd: atLeastUsd,
    unanswered: { requests: unanswered.requests, at_most_usd: mostUnanswered(unanswered) },
  };
}

function lineObjects(lines: ReadonlyMap<string, LedgerLine>): Record<string, unknown> {
  return Object.fromEntries(Array.from(lines, ([name, line]) => [name, lineObject(line)]));
}
