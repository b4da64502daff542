/** `ramet cost`: the bill of a session, by agent and by model. */
import type { LedgerLine } from '../../journal/projections/ledger.ts';
import { hitRate } from '../../schema/usage.ts';
import { dollars, duration, percent, table, tokens } from '../format.ts';
import type { CommandIo } from '../io.ts';
import { type SessionView, viewSession } from '../session-view.ts';

const HEADINGS = [
  '',
  'REQUESTS',
  'RETRIES',
  'INPUT',
  'WRITTEN',
  'READ',
  'OUTPUT',
  'HIT RATE',
  'TIME',
  'COST',
];

export function cost(wanted: string | undefined, options: { json?: boolean }, io: CommandIo): void {
  using view = viewSession(wanted, io);
  io.out(options.json ? `${JSON.stringify(costObject(view))}\n` : costTable(view));
}

export function costTable({ ledger }: SessionView): string {
  return table([
    HEADINGS,
    ...Array.from(ledger.agents, ([id, line]) => row(id, line)),
    ...Array.from(ledger.models, ([model, line]) => row(model, line)),
    ...Array.from(ledger.sources, ([source, line]) => row(`(${source})`, line)),
    row('total', ledger.total),
  ]);
}

function costObject({ entry, ledger }: SessionView): Record<string, unknown> {
  const named = (lines: Map<string, LedgerLine>): Record<string, unknown> =>
    Object.fromEntries(Array.from(lines, ([name, line]) => [name, lineObject(line)]));
  return {
    session_id: entry.session,
    total: lineObject(ledger.total),
    agents: named(ledger.agents),
    models: named(ledger.models),
    sources: named(ledger.sources),
  };
}

function lineObject(line: LedgerLine): Record<string, unknown> {
  const { requests, responses, retries, usage, costUsd, durationMs } = line;
  return {
    requests,
    responses,
    retries,
    usage,
    cache_hit_rate: hitRate(usage),
    duration_ms: Math.round(durationMs),
    total_cost_usd: costUsd,
  };
}

function row(name: string, { requests, retries, usage, durationMs, costUsd }: LedgerLine): string[] {
  return [
    name,
    String(requests),
    String(retries),
    tokens(usage.input_tokens),
    tokens(usage.cache_creation_input_tokens),
    tokens(usage.cache_read_input_tokens),
    tokens(usage.output_tokens),
    percent(hitRate(usage)),
    duration(durationMs),
    dollars(costUsd),
  ];
}
