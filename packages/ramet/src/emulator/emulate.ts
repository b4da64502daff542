/** What `ramet emulate` does: run the emulator until told to stop, one line for every request. */

import { forkPoint } from '../model/recipe/conversation-task.ts';
import { UserMistake } from '../schema/errors.ts';
import type { RecordOptions } from './cassettes/cassette-recorder.ts';
import { untilAborted } from './exchange.ts';
import type { LatencyOptions } from './latency.ts';
import type { RequestRecord } from './request-record.ts';
import { turnOf } from './request-view.ts';
import type { Scenario } from './scenario.ts';
import { loadScenario } from './scenario-file.ts';
import { type Emulator, startEmulator } from './server.ts';

export interface EmulateOptions {
  /** YAML or JSON; without it every request is answered with "ok". */
  scenario?: string | undefined;
  /** A file of recorded answers, instead of a scenario. */
  cassette?: string | undefined;
  /** A new file to record the upstream's answers to. */
  record?: string | undefined;
  /** The provider to record from. */
  upstream?: string | undefined;
  /** Where proxies on the way to the upstream are named. */
  env?: NodeJS.ProcessEnv | undefined;
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
  requireOneSource(options);
  const { cassette, port, log, latency, requireKey } = options;
  await using emulator = await startEmulator({
    scenario: options.scenario === undefined ? OK : await loadScenario(options.scenario),
    cassette,
    record: recording(options, io),
    port,
    log,
    latency,
    requireKey,
    keepRequests: false,
    onRequest: (record) => io.out(describeRequest(record)),
  });
  tellPlace(emulator, options, io);
  await untilAborted(io.signal);
}

function requireOneSource({ scenario, cassette, record, upstream }: EmulateOptions): void {
  const sources = Object.entries({ scenario, cassette, record }).filter(([, file]) => file !== undefined);
  if (sources.length > 1) {
    const names = sources.map(([name]) => `--${name}`).join(' and ');
    throw new UserMistake('emulate_sources', `${names} exclude each other: answers come from one place`);
  }
  if ((record === undefined) === (upstream === undefined)) return;
  throw new UserMistake(
    'emulate_sources',
    '--record FILE and --upstream URL go together: where to write, and whom to ask',
  );
}

function recording(
  { record: file, upstream, env }: EmulateOptions,
  io: EmulateIo,
): RecordOptions | undefined {
  if (file === undefined || upstream === undefined) return undefined;
  return { file, upstream, env, onSkipped: io.out };
}

function tellPlace({ url }: Emulator, { requireKey, record, upstream }: EmulateOptions, io: EmulateIo): void {
  const placeholder = requireKey === undefined ? 'anything' : '<the required key>';
  const key = record === undefined ? placeholder : '<your key>';
  io.out(`emulator at ${url}: run with ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=${key}`);
  io.out(`or with OPENAI_BASE_URL=${url}/v1 and --model <any name>, for chat completions`);
  if (record !== undefined) io.out(`every answer of ${upstream} is recorded in ${record}`);
}

function describeRequest({ path, status, request, usage, outcome }: RequestRecord): string {
  const parts = [path, status === 0 ? 'no response' : String(status)];
  if (request !== undefined) {
    const kind = forkPoint(request.messages) === -1 ? '' : 'fork ';
    parts.push(request.model, `${kind}turn ${turnOf(request)}`);
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
