import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, linesOf, type RunningCommand } from '../fixtures/command.ts';
import { API_KEY, test, type User } from '../fixtures/user.ts';

const READ = { tool_use: [{ name: 'Read', input: { file_path: 'notes.txt' } }] };
const PROMPT = ['-p', 'What is in notes.txt?'];

async function emulate(user: User, ...args: string[]): Promise<{ server: RunningCommand; url: string }> {
  const server = user.start(['emulate', ...args]);
  const url = await eventually(() => /http:\/\/127\.0\.0\.1:\d+/.exec(server.stdout)?.[0]);
  return { server, url };
}

async function stop(server: RunningCommand): Promise<void> {
  server.kill('SIGINT');
  expect(await server.ended).toMatchObject({ code: 0, stderr: '' });
}

describe.concurrent('EMU-4: ramet emulate with a cassette', () => {
  test.for([
    ['the Messages API', (url: string) => ({ ANTHROPIC_BASE_URL: url })],
    [
      'chat completions',
      (url: string) => ({
        ANTHROPIC_API_KEY: undefined,
        ANTHROPIC_BASE_URL: undefined,
        OPENAI_BASE_URL: `${url}/v1`,
        OPENAI_API_KEY: API_KEY,
        RAMET_MODEL_SONNET: 'm',
      }),
    ],
  ] as const)(
    'a session on %s is recorded and played back without its provider',
    async ([, point], { user }) => {
      const file = join(user.root, 'session.jsonl');
      writeFileSync(join(user.repository, 'notes.txt'), 'buy milk\n');
      const real = await user.model(READ, { text: 'Milk.' });

      const recording = await emulate(user, '--record', file, '--upstream', real.url);
      const recorded = await user.ramet(PROMPT, { env: point(recording.url) });
      expect(recorded).toEqual({ code: 0, stdout: 'Milk.\n', stderr: '' });
      await stop(recording.server);
      await real.close();
      expect(readFileSync(file, 'utf8')).not.toContain(API_KEY);
      expect(linesOf(readFileSync(file, 'utf8'))).toHaveLength(3);

      const playing = await emulate(user, '--cassette', file);
      expect(await user.ramet(PROMPT, { env: point(playing.url) })).toEqual(recorded);
      const other = await user.ramet(['-p', 'What is in notes.md?'], { env: point(playing.url) });
      expect(other).toMatchObject({ code: 1, stdout: '' });
      expect(linesOf(other.stderr)).toEqual([
        expect.stringMatching(/answered 400 cassette .* differs at messages\./),
      ]);
      await stop(playing.server);
    },
  );

  test.for<[string[], string]>([
    [['--record', 'a.jsonl'], '--record FILE and --upstream URL go together'],
    [['--upstream', 'http://127.0.0.1:1'], '--record FILE and --upstream URL go together'],
    [['--cassette', 'a.jsonl', '--scenario', 'b.yaml'], '--scenario and --cassette exclude each other'],
    [['--cassette', 'missing.jsonl'], 'cassette missing.jsonl: no such file'],
    [['--record', 'a.jsonl', '--upstream', 'example'], '--upstream is not an http(s) address: example'],
    [['--cassette', 'README.md'], 'cassette README.md:1: no cassette'],
  ])('%j is refused in one line', async ([args, message], { user }) => {
    const end = await user.ramet(['emulate', ...args]);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(end.stderr)).toEqual([expect.stringContaining(message)]);
  });
});
