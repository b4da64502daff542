/** What `ramet emulate` does: run the emulator until told to stop, one line for every request. */
import { untilAborted } from './exchange.ts';
import type { LatencyOptions } from './latency.ts';
import type { RequestRecord } from './request-record.ts';
import type { Scenario } from './scenario.ts';
import { loadScenario } from './scenario-file.ts';
import { startEmulator } from './server.ts';

export interface EmulateOptions {
  /** YAML or JSON; without it every request is answered with "ok". */
  scenario?: string | undefined;
  port?: number | undefined;
  log?: string | undefined;
  latency?: LatencyOptions | undefined;
  requireKey?: string | undefined;
}

export interface EmulateIo {
  out: (line: string) => void;
  signal: AbortSignal;
}

const OK: Scenario = { rules: [{ respond: { text: 'ok' } }] };

export async function runEmulate(options: EmulateOptions, io: EmulateIo): Promise<void> {
  const scenario = options.scenario === undefined ? OK : await loadScenario(options.scenario);
  await using emulator = await startEmulator({
    scenario,
    port: options.port,
    log: options.log,
    latency: options.latency,
    requireKey: options.requireKey,
    keepRequests: false,
    onRequest: (record) => io.out(describeRequest(record)),
  });
  const key = options.requireKey === undefined ? 'anything' : '<the required key>';
  io.out(`emulator at ${emulator.url}: run with ANTHROPIC_BASE_URL=${emulator.url} ANTHROPIC_API_KEY=${key}`);
  io.out(`or with OPENAI_BASE_URL=${emulator.url}/v1 and --model <any name>, for chat completions`);
  await untilAborted(io.signal);
}

function describeRequest({ path, status, request, usage, outcome }: RequestRecord): string {
  const parts = [path, status === 0 ? 'no response' : String(status)];
  if (request !== undefined) {
    const turn = request.messages.filter(({ role }) => role === 'assistant').length;
    parts.push(request.model, `turn ${turn}`);
  }
  if (usage !== undefined) {
    parts.push(
      `read ${usage.cache_read_input_tokens}`,
      `written ${usage.cache_creation_input_tokens}`,
      `input ${usage.input_tokens}`,
      `output ${usage.output_tokens}`,
    );
  }
  if (outcome !== 'answered') parts.push(outcome);
  return parts.join('  ');
}
