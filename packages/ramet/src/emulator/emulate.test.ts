import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { UserMistake } from '../schema/errors.ts';
import { type EmulateOptions, runEmulate } from './emulate.ts';
import { startEmulator } from './server.ts';

const message = { model: 'claude-sonnet-5', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };

/** Runs it, sends one request to the address it printed, stops it. */
async function runOnce(options: EmulateOptions): Promise<string[]> {
  const lines: string[] = [];
  const ended = new AbortController();
  const run = runEmulate(options, { out: (line) => lines.push(line), signal: ended.signal });
  while (lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const [, url] = /ANTHROPIC_BASE_URL=(\S+)/.exec(lines[0] ?? '') ?? [];
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2026-10-21' },
    body: JSON.stringify(message),
  });
  lines.push(await response.text());
  ended.abort();
  await run;
  return lines;
}

test('EMU-1: the command says where it is and how to use it, then a line for each request', async ({
  directory,
}) => {
  const scenario = join(directory, 's.yaml');
  writeFileSync(scenario, 'rules:\n- respond: { text: "{{last}} yourself", output_tokens: 5 }\n');
  const log = join(directory, 'log.jsonl');
  const lines = await runOnce({ scenario, log });
  expect(lines[0]).toMatch(/^emulator at http:\/\/127\.0\.0\.1:\d+: run with .*ANTHROPIC_API_KEY=anything$/);
  expect(lines).toContain('/v1/messages  200  claude-sonnet-5  turn 0  read 0  written 0  input 6  output 5');
  expect(lines.join()).toContain('hi yourself');
  expect(JSON.parse(readFileSync(log, 'utf8')).body).toBe(JSON.stringify(message));
});

test('EMU-1: without a scenario everything is answered with ok, and a refusal shows its outcome', async () => {
  expect((await runOnce({})).join()).toContain('"text":"ok"');
  const lines = await runOnce({ requireKey: 'other' });
  expect(lines).toContain('/v1/messages  401  refused');
});

test('EMU-1: a bad scenario or a busy port ends it with a mistake', async ({ directory }) => {
  const io = { out: () => {}, signal: new AbortController().signal };
  await expect(runEmulate({ scenario: join(directory, 'none') }, io)).rejects.toThrow(UserMistake);
  await using other = await startEmulator();
  await expect(runEmulate({ port: other.port }, io)).rejects.toThrow('is in use');
});
