/** Explanations of the cache for people and for programs. */

import type { AgentId } from '../../schema/ids.ts';
import { addCost, grouped } from '../../schema/usage.ts';
import { dollars, printable } from '../text/format.ts';
import type { CacheExplanation } from './cache-explainer.ts';
import { candidateText, differenceText, reasonText } from './reason-text.ts';

const COLUMNS = 80;
const INDENT = 16;

/** One request, a line for each thing there is to say. */
export function explanationText(explanation: CacheExplanation, whose: string): string {
  const { request, candidate, missed, extraUsd } = explanation;
  const { id, turn, model, source, predicted, launch, attempts } = request;
  const purpose = source === null ? `turn ${turn}` : source;
  const tried = attempts > 1 ? `, attempt ${attempts}` : '';
  return [
    `request ${id} (${whose}), ${purpose}${tried}, ${model}`,
    line('predicted', predicted),
    ...(launch === null ? [] : [line('launch', `${launch.choice.replace('_', ' ')}: ${launch.why}`)]),
    line('counted', countsText(explanation)),
    ...(candidate === null
      ? []
      : [
          line('held against', candidateText(candidate)),
          line('could read', exact(candidate.could)),
          line('parts at', differenceText(candidate) ?? 'nowhere: all of it is in this one'),
        ]),
    ...(missed === 0 ? [] : [line('sent again', `${exact(missed)}, ${beyondHit(extraUsd)}`)]),
    line('why', reasonText(explanation)),
  ]
    .map((text) => `${printable(text)}\n`)
    .join('');
}

/** What a line has to say is broken between words where it would not fit. */
function line(label: string, text: string): string {
  const rows = [''];
  for (const word of text.split(' ')) {
    const row = rows.at(-1) ?? '';
    if (row !== '' && INDENT + row.length + 1 + word.length > COLUMNS) rows.push(word);
    else rows[rows.length - 1] = row === '' ? word : `${row} ${word}`;
  }
  return `  ${label}`.padEnd(INDENT) + rows.join(`\n${' '.repeat(INDENT)}`);
}

function countsText({ request: { answer } }: CacheExplanation): string {
  if (answer === null) return 'nothing: no answer';
  const { usage } = answer;
  const hour = usage.cache_creation_1h_input_tokens;
  const kept = hour > 0 ? ` (${grouped(hour)} of them for an hour)` : '';
  return `read ${grouped(usage.cache_read_input_tokens)}, written ${grouped(usage.cache_creation_input_tokens)}${kept}, uncached ${grouped(usage.input_tokens)}`;
}

function exact(tokens: number): string {
  return `${grouped(tokens)} tokens`;
}

function beyondHit(usd: number | null): string {
  return usd === null ? 'at an unknown price' : `${dollars(usd)} more than a hit`;
}

/** `2 of 9 requests missed: 12,000 tokens sent again, $0.0276 more than hits`. */
export function summaryText(explanations: readonly CacheExplanation[]): string {
  const asked = explanations.length;
  const misses = explanations.filter(({ missed }) => missed > 0);
  if (asked === 0) return 'no request was sent yet\n';
  if (misses.length === 0) return asked === 1 ? '1 request, no miss\n' : `${asked} requests, no miss\n`;
  const { missed, extraUsd } = lossOf(misses);
  const requests = `${misses.length} of ${asked} request${asked === 1 ? '' : 's'}`;
  return `${requests} missed: ${exact(missed)} sent again, ${beyondHit(extraUsd)}\n`;
}

export function lossOf(explanations: readonly CacheExplanation[]): {
  missed: number;
  extraUsd: number | null;
} {
  return explanations.reduce(
    (sum: { missed: number; extraUsd: number | null }, { missed, extraUsd }) => ({
      missed: sum.missed + missed,
      extraUsd: addCost(sum.extraUsd, extraUsd),
    }),
    { missed: 0, extraUsd: 0 },
  );
}

/** What one request read from the cache, and why no more. */
export interface ExplainedRequest {
  request: string;
  agent: AgentId;
  turn: number;
  attempts: number;
  model: string;
  source: string | null;
  /** ISO 8601. */
  started: string;
  predicted: CacheExplanation['request']['predicted'];
  launch: { choice: string; why: string } | null;
  readTokens: number | null;
  writtenTokens: number | null;
  uncachedTokens: number | null;
  heldAgainst: { request: string; kind: string } | null;
  couldReadTokens: number | null;
  partsAt: string | null;
  missedTokens: number;
  /** Null when a price is unknown. */
  extraUsd: number | null;
  reason: CacheExplanation['reason']['kind'];
  why: string;
}

export function explainedRequest(explanation: CacheExplanation): ExplainedRequest {
  const { request, candidate, reason, missed, extraUsd } = explanation;
  const usage = request.answer?.usage ?? null;
  return {
    request: request.id,
    agent: request.agent,
    turn: request.turn,
    attempts: request.attempts,
    model: request.model,
    source: request.source,
    started: new Date(request.startedAt).toISOString(),
    predicted: request.predicted,
    launch: request.launch && { choice: request.launch.choice, why: request.launch.why },
    readTokens: usage?.cache_read_input_tokens ?? null,
    writtenTokens: usage?.cache_creation_input_tokens ?? null,
    uncachedTokens: usage?.input_tokens ?? null,
    heldAgainst: candidate && { request: candidate.request.id, kind: candidate.kind },
    couldReadTokens: candidate?.could ?? null,
    partsAt: differenceText(candidate),
    missedTokens: missed,
    extraUsd,
    reason: reason.kind,
    why: reasonText(explanation),
  };
}
