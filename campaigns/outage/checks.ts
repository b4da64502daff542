/** What must hold after an outage: every agent done, no effect twice or missing, the bill what the gateway counted. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalReader } from '../../packages/ramet/src/journal/journal.ts';
import { agentStatuses, statusBoardOf } from '../../packages/ramet/src/journal/projections/status.ts';
import { costOf } from '../../packages/ramet/src/model/prices.ts';
import { readUsage } from '../../packages/ramet/src/model/wire.ts';
import type { EventOf, RecordedEvent } from '../../packages/ramet/src/schema/events.ts';
import { addCost, totalTokens } from '../../packages/ramet/src/schema/usage.ts';
import { ledgerOf } from '../../packages/ramet/src/views/ledger/ledger.ts';
import type { Gateway } from './gateway.ts';
import { lineOf, type PlayOptions } from './play.ts';

export interface OutageFigures {
  agents: number;
  responses: number;
  failures: number;
  waited: number;
  unanswered: number;
  costUsd: number | null;
  problems: string[];
}

export function checkOutage(
  reader: JournalReader,
  repository: string,
  gateway: Gateway,
  play: PlayOptions,
): OutageFigures {
  const events = [...reader.events()];
  const problems = [
    ...agentProblems(events, play.agents),
    ...effectProblems(repository, play),
    ...billProblems(events, gateway),
  ];
  const { total } = ledgerOf(events);
  const waits = events.filter(
    ({ event }) =>
      event.type === 'status.changed' && event.status === 'waiting' && event.cause === 'provider',
  );
  return {
    agents: agentStatuses(statusBoardOf(events), { writerAlive: false }).length,
    responses: total.responses,
    failures: eventsOf(events, 'request.failed').length,
    waited: new Set(waits.map(({ agent }) => agent)).size,
    unanswered: total.unanswered.requests,
    costUsd: total.costUsd,
    problems,
  };
}

function agentProblems(events: readonly RecordedEvent[], children: number): string[] {
  const agents = agentStatuses(statusBoardOf(events), { writerAlive: false });
  const bad = agents.filter(({ status }) => status !== 'done');
  return [
    ...(agents.length === children + 1 ? [] : [`${agents.length} agents instead of ${children + 1}`]),
    ...bad.map(({ id, status, cause, message }) => `agent ${id} is ${status}: ${cause}: ${message}`),
  ];
}

function effectProblems(repository: string, { agents, steps }: PlayOptions): string[] {
  const file = join(repository, 'lines.txt');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  const problems: string[] = [];
  for (let child = 1; child <= agents; child++) {
    for (let step = 0; step < steps; step++) {
      const times = lines.filter((line) => line === lineOf(child, step)).length;
      if (times !== 1) problems.push(`${lineOf(child, step)} is there ${times} times`);
    }
  }
  return problems;
}

/** Responses by message; what passed and is on no response must be among what failed. */
function billProblems(events: readonly RecordedEvent[], { messages }: Gateway): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  let owed: number | null = 0;
  for (const { messageId, model, usage } of eventsOf(events, 'response.completed')) {
    const passed = messages.get(messageId);
    const counted = passed && readUsage({ ...passed.started, output_tokens: passed.output ?? 0 });
    if (!counted) problems.push(`response ${messageId} is on record and never passed`);
    else if (totalTokens(counted) !== totalTokens(usage))
      problems.push(`response ${messageId} counts ${totalTokens(usage)}, not ${totalTokens(counted)}`);
    if (seen.has(messageId)) problems.push(`response ${messageId} is on record twice`);
    seen.add(messageId);
    owed = addCost(owed, costOf(model, counted || usage).usd);
  }
  const failed = eventsOf(events, 'request.failed');
  for (const { costUsd } of failed) owed = addCost(owed, costUsd);
  const { total } = ledgerOf(events);
  if (total.costUsd === null || owed === null || Math.abs(total.costUsd - owed) > 1e-9)
    problems.push(`the bill says ${total.costUsd}, the gateway ${owed}`);
  const lost = [...messages.keys()].filter((id) => !seen.has(id)).length;
  const told = failed.filter(({ usage, mayCost }) => usage !== null || mayCost === true).length;
  if (lost > told) problems.push(`${lost} responses passed in part, and only ${told} attempts tell of one`);
  return problems;
}

function eventsOf<Type extends 'request.failed' | 'response.completed'>(
  events: readonly RecordedEvent[],
  type: Type,
): EventOf<Type>[] {
  return events.flatMap(({ event }) => (isOf(event, type) ? [event] : []));
}

function isOf<Type extends RecordedEvent['event']['type']>(
  event: RecordedEvent['event'],
  type: Type,
): event is EventOf<Type> {
  return event.type === type;
}
