import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer, Emulator } from '../../src/emulator/index.ts';
import { openReader } from '../../src/journal/sessions.ts';
import { linesOf } from '../fixtures/command.ts';
import { isQuestion } from '../fixtures/crowded-engine.ts';
import { rebuiltRequests } from '../fixtures/rebuilt-requests.ts';
import { test, type User } from '../fixtures/user.ts';

const SEQUENCE: Answer = { text: 'I count.', tool_use: [{ name: 'Bash', input: { command: 'seq 1 1500' } }] };
const ALLOWED = ['--permission-mode', 'bypassPermissions'];

/** Counts so often, then says "done"; a question for a summary is answered between two steps. */
async function crowded(user: User, steps = 9): Promise<Emulator> {
  user.env.RAMET_CONTEXT_WINDOW = '20000';
  writeFileSync(join(user.repository, 'AGENTS.md'), `Always use tabs.\n${'Mind the style. '.repeat(50)}`);
  let left = steps;
  return user.emulate({
    respond(view) {
      if (isQuestion(view)) return { text: 'THE SUMMARY: we have counted.' };
      left -= 1;
      return left >= 0 ? SEQUENCE : { text: 'done' };
    },
  });
}

function questionOf(emulator: Emulator): number {
  return emulator.requests.findIndex(({ body }) => body.includes('about to be replaced by a summary'));
}

describe.concurrent('RES-7: ramet -p with a conversation that outgrows the context window', () => {
  test('goes on after a compaction, with instructions still read from the cache', async ({ user }) => {
    const emulator = await crowded(user);
    expect(await user.ramet(['-p', 'Count, please.', ...ALLOWED])).toEqual({
      code: 0,
      stdout: 'done\n',
      stderr: '',
    });
    expect(emulator.requests.every(({ status }) => status === 200)).toBe(true);
    const place = questionOf(emulator);
    const [before, question, after] = emulator.requests.slice(place - 1, place + 2);
    expect(question?.usage).toMatchObject({
      cache_read_input_tokens:
        (before?.usage?.cache_read_input_tokens ?? 0) + (before?.usage?.cache_creation_input_tokens ?? 0),
      cache_creation_input_tokens: 0,
    });
    const head = after?.request;
    const first = head?.messages[0]?.content;
    const shared = Array.isArray(first) ? first.slice(0, 1) : [];
    expect(JSON.stringify(shared)).toContain('Always use tabs.');
    const tokens = Buffer.byteLength(JSON.stringify([head?.tools, head?.system, shared])) / 4;
    // Within the bytes of brackets and of marks, which the emulator does not count.
    expect(Math.abs((after?.usage?.cache_read_input_tokens ?? 0) - tokens)).toBeLessThan(60);
    expect(JSON.stringify(first)).toContain('- Count, please.');
    expect(JSON.stringify(first)).toContain('<environment>');
  });

  test('can be made again from the journal, byte for byte, also after a resume', async ({ user }) => {
    const emulator = await crowded(user);
    await user.here(['-p', 'Count, please.', ...ALLOWED]);
    await user.here(['-p', 'And again.', '--continue']);
    const [session = ''] = user.sessions();
    const reader = openReader({ project: user.project, session });
    const rebuilt = rebuiltRequests(reader, session);
    reader.close();
    expect(rebuilt).toEqual(emulator.requests.map(({ body }) => body));
    const [last, former] = [emulator.requests.at(-1), emulator.requests.at(-2)].map((one) => one?.usage);
    expect(last?.cache_read_input_tokens).toBe(
      (former?.cache_read_input_tokens ?? 0) + (former?.cache_creation_input_tokens ?? 0),
    );
  });

  test('shows what was replaced when asked, and has the summary on the bill', async ({ user }) => {
    const emulator = await crowded(user);
    await user.here(['-p', 'Count, please.', ...ALLOWED]);
    const brief = (await user.here(['show'])).stdout;
    expect(brief).toContain('(compacted once: --full shows what was replaced)');
    const full = (await user.here(['show', '--full'])).stdout;
    expect(full).toMatch(/--- compaction 1 replaced the \d+ messages above by what follows ---/);
    expect(full.split('[call] Bash').length).toBeGreaterThan(brief.split('[call] Bash').length);
    const [agent] = JSON.parse((await user.here(['show', '--full', '--json'])).stdout).agents;
    const sent = emulator.requests[questionOf(emulator)]?.request?.messages.slice(0, -1) ?? [];
    expect(agent.replaced).toEqual([sent.map(withoutMarks)]);
    const bill = JSON.parse((await user.here(['cost', '--json'])).stdout);
    expect(bill.sources.compaction).toMatchObject({ requests: 1, responses: 1 });
    expect(bill.total.requests).toBe(emulator.requests.length);
    expect(linesOf((await user.here(['cost'])).stdout).join('\n')).toMatch(/^compaction +1 /m);
    expect((await user.here(['logs'])).stdout).toMatch(/request \(compaction\) to claude-sonnet-5/);
  });

  test('tells readers of the stream', async ({ user }) => {
    await crowded(user);
    const end = await user.here(['-p', 'Count.', ...ALLOWED, '--output-format', 'stream-json']);
    const lines = linesOf(end.stdout).map((line) => JSON.parse(line));
    const told = lines.find(({ subtype }) => subtype === 'compact_boundary');
    expect(told?.compact_metadata).toMatchObject({ trigger: 'auto' });
    expect(told?.compact_metadata.post_tokens).toBeLessThan(told?.compact_metadata.pre_tokens);
    expect(lines.at(-1)).toMatchObject({ type: 'result', num_turns: 10 });
  });

  test('a window that is no number is wrong use', async ({ user }) => {
    await user.model({ text: 'ok' });
    const end = await user.here(['-p', 'Go.'], { env: { RAMET_CONTEXT_WINDOW: 'large' } });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toContain('RAMET_CONTEXT_WINDOW is not a number of tokens: large');
  });
});

function withoutMarks(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message), (key, value) => (key === 'cache_control' ? undefined : value));
}
