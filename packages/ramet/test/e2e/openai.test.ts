import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer, Emulator, EmulatorOptions } from '../../src/emulator/index.ts';
import { linesOf } from '../fixtures/command.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';

/** Points the user at chat completions instead of the Messages API. */
async function chatting(user: User, options: EmulatorOptions): Promise<Emulator> {
  const emulator = await user.emulate(options);
  Object.assign(user.env, { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined });
  user.env.OPENAI_BASE_URL = `${emulator.url}/v1`;
  return emulator;
}

const turns =
  (...answers: Answer[]): EmulatorOptions['respond'] =>
  ({ turn }) =>
    answers[turn];

const ECHO = { name: 'Bash', input: { command: 'echo one' } };

describe.concurrent('MODEL-1: ramet -p on a chat completions server', () => {
  test('works through parallel tool calls to an answer, and bills what it can know', async ({ user }) => {
    const emulator = await chatting(user, {
      respond: turns(
        { tool_use: [ECHO, { ...ECHO, input: { command: 'echo two; exit 3' } }] },
        { text: 'Done.' },
      ),
    });
    user.env.OPENAI_API_KEY = 'sk-proj-0123456789abcdefghij';
    const end = await user.ramet([
      ...['-p', 'go', '--model', 'local', '--output-format', 'json'],
      ...['--permission-mode', 'bypassPermissions'],
    ]);
    expect(end).toMatchObject({ code: 0 });
    expect(JSON.parse(end.stdout)).toMatchObject({ result: 'Done.', total_cost_usd: null, num_turns: 2 });
    const wire = emulator.requests[1]?.request?.messages.at(-1)?.content;
    expect(toolResults(emulator)).toHaveLength(2);
    expect(JSON.stringify(wire)).toMatch(/"one.*Error: .*two/);
    expect(emulator.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/v1/chat/completions', '***'],
      ['/v1/chat/completions', '***'],
    ]);
  });

  test('a tier stands for what its variable says; without one the user is asked for a model', async ({
    user,
  }) => {
    const emulator = await chatting(user, { respond: turns({ text: 'Hello.' }) });
    const refused = await user.here(['-p', 'x']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(refused.stderr)).toEqual([expect.stringMatching(/--model, or set RAMET_MODEL_SONNET$/)]);
    expect(emulator.requests).toHaveLength(0);
    const end = await user.ramet(['-p', 'x'], { env: { RAMET_MODEL_SONNET: 'qwen3' } });
    expect(end).toMatchObject({ code: 0, stdout: 'Hello.\n' });
    expect(emulator.requests[0]?.request?.model).toBe('qwen3');
  });

  test('MODEL-2: broken streams are asked for again as a whole', async ({ user }) => {
    const faults = [
      { kind: 'reset', at: 'text' },
      { kind: 'malformed_event' },
      { kind: 'truncated_event' },
    ] as const;
    const left = [...faults];
    const emulator = await chatting(user, {
      respond: turns({ text: 'At last.' }),
      fault: () => left.shift(),
    });
    const end = await user.here(['-p', 'x', '--model', 'local']);
    expect(end).toMatchObject({ code: 0, stdout: 'At last.\n' });
    expect(emulator.requests).toHaveLength(4);
  });

  test('MODEL-2: half a tool call is never carried out', async ({ user }) => {
    const call = { index: 0, id: 'a', function: { name: 'Bash', arguments: '{"command":"touch ran"' } };
    const half = { choices: [{ delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] };
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(half)}\n\ndata: [DONE]\n\n`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // a server listening on TCP always has one
    const env = {
      ANTHROPIC_API_KEY: undefined,
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      RAMET_MAX_RETRIES: '1',
    };
    const args = ['-p', 'x', '--model', 'm', '--permission-mode', 'bypassPermissions'];
    const end = await user.here(args, { env });
    server.close();
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(linesOf(end.stderr).at(-1)).toMatch(
      /a tool call \(Bash\) has arguments that are no JSON.*gave up/,
    );
    expect(existsSync(join(user.repository, 'ran'))).toBe(false);
  });

  test('a session keeps the model it had', async ({ user }) => {
    const emulator = await chatting(user, { respond: turns({ text: 'One.' }, { text: 'Two.' }) });
    await user.here(['-p', 'x', '--model', 'local']);
    const end = await user.here(['-p', '--continue', 'more']);
    expect(end).toMatchObject({ code: 0, stdout: 'Two.\n' });
    expect(emulator.requests.map(({ request }) => request?.model)).toEqual(['local', 'local']);
  });

  test('RAMET_PROVIDER decides where both are set, and a name that is none is refused', async ({ user }) => {
    const emulator = await user.emulate({ respond: turns({ text: 'Hello.' }) });
    user.env.OPENAI_BASE_URL = `${emulator.url}/v1`;
    await user.ramet(['-p', 'x', '--model', 'm'], { env: { RAMET_PROVIDER: 'openai' } });
    await user.here(['-p', 'x', '--model', 'm']);
    expect(emulator.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v1/messages']);
    const refused = await user.ramet(['-p', 'x'], { env: { RAMET_PROVIDER: 'gpt' } });
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('RAMET_PROVIDER names no provider: gpt'),
    });
  });
});
