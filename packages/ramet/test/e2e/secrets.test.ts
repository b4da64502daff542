import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { openReader } from '../../src/journal/sessions.ts';
import { rebuiltRequests } from '../fixtures/rebuilt-requests.ts';
import { API_KEY, test, toolResults, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

describe.concurrent('SEC-1: the keys that pay for models', () => {
  test('are in no child environment, journal, file or output', async ({ user }) => {
    const env = {
      ANTHROPIC_AUTH_TOKEN: 'bearer-0123456789-secret',
      OPENAI_API_KEY: 'sk-proj-0123456789abcdefghijkl',
    };
    const emulator = await user.model(
      { tool_use: [{ name: 'Bash', input: { command: 'env; seq 1 20000' } }] },
      { text: 'ok' },
    );
    const end = await user.ramet(['-p', 'x', ...BYPASS, '--output-format', 'stream-json'], { env });
    expect(end.code).toBe(0);
    const [result] = toolResults(emulator);
    expect(result?.text).toContain(`HOME=${user.env.HOME}`);
    expect(result?.text).not.toMatch(/ANTHROPIC_(API_KEY|AUTH_TOKEN)|OPENAI_API_KEY/);
    const shown = await Promise.all(
      [
        ['show', '--json'],
        ['logs', '--json'],
      ].map((args) => user.ramet(args)),
    );
    const everything = [end.stdout, end.stderr, ...shown.map(({ stdout }) => stdout), ...keptTexts(user)];
    for (const secret of [API_KEY, ...Object.values(env)]) {
      for (const text of everything) expect(text).not.toContain(secret);
    }
  });

  test('are not to be read from the process that started the command', async ({ user }) => {
    const env = { ANTHROPIC_AUTH_TOKEN: 'bearer-0123456789-secret', HARMLESS: 'harmless' };
    const command =
      'for p in $PPID $(ps -o ppid= -p $PPID); do tr "\\0" "\\n" < /proc/$p/environ; done | rev';
    const emulator = await user.model({ tool_use: [{ name: 'Bash', input: { command } }] }, { text: 'ok' });
    const args = ['-p', 'x', ...BYPASS];
    expect((await user.ramet(args, { env })).code).toBe(0);
    const shown = toolResults(emulator)[0]?.text.split('\n') ?? [];
    const reversed = (text: string): string => [...text].reverse().join('');
    const plain = shown.map(reversed).join('\n');
    expect(plain).toContain('HARMLESS=harmless');
    expect(plain).toMatch(/^ANTHROPIC_API_KEY=$/m);
    for (const secret of [API_KEY, env.ANTHROPIC_AUTH_TOKEN]) expect(plain).not.toContain(secret);
  });

  test('are taken out of what a tool prints', async ({ user }) => {
    writeFileSync(join(user.repository, '.env'), `ANTHROPIC_API_KEY=${API_KEY}\n`);
    const emulator = await user.model(
      { tool_use: [{ name: 'Read', input: { file_path: '.env' } }] },
      { text: 'ok' },
    );
    await user.ramet(['-p', 'x']);
    expect(toolResults(emulator)[0]?.text).toMatch(/ANTHROPIC_API_KEY=\[redacted: /);
    for (const text of keptTexts(user)) expect(text).not.toContain(API_KEY);
  });
});

describe.concurrent('LOG-1: a secret that a tool prints', () => {
  test('is taken out once: wire and journal hold the same bytes, and so does the resumed session', async ({
    user,
  }) => {
    const call = {
      name: 'Bash',
      input: { command: `printf 'token %s%s\\n' ghp_ ${TOKEN.slice(4)}; cat config.txt` },
    };
    writeFileSync(join(user.repository, 'config.txt'), 'password: correct-horse-7-battery\n');
    const env = { SERVICE_PASSWORD: 'correct-horse-7-battery' };
    const emulator = await user.model({ tool_use: [call] }, { text: 'ok' }, { text: 'again' });
    await user.ramet(['-p', 'x', ...BYPASS], { env });
    // The password is no longer in the environment; what was taken out stays out, byte for byte.
    await user.ramet(['-p', 'y', '--continue', ...BYPASS]);
    expect(toolResults(emulator)[0]?.text).toBe(
      'token [redacted: GitHub token]\npassword: [redacted: SERVICE_PASSWORD]',
    );
    const [session = ''] = user.sessions();
    const reader = openReader({ project: user.project, session });
    expect(rebuiltRequests(reader, session)).toEqual(emulator.requests.map(({ body }) => body));
    reader.close();
    for (const text of keptTexts(user)) {
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain('correct-horse-7-battery');
    }
  });

  test('is not in the file that keeps a long output either', async ({ user }) => {
    const command = `printf '%s%s\\n' ghp_ ${TOKEN.slice(4)}; seq 1 20000; printf '%s%s\\n' ghp_ ${TOKEN.slice(4)}`;
    const emulator = await user.model({ tool_use: [{ name: 'Bash', input: { command } }] }, { text: 'ok' });
    await user.ramet(['-p', 'x', ...BYPASS]);
    const path = /all of it is in (\S+)/.exec(toolResults(emulator)[0]?.text ?? '')?.[1] ?? '';
    expect(readFileSync(path, 'utf8').match(/\[redacted: GitHub token\]/g)).toHaveLength(2);
    for (const text of keptTexts(user)) expect(text).not.toContain(TOKEN);
  });
});

/** Every file Ramet keeps, as text: journals too, in which blocks stand as they are. */
function keptTexts(user: User): string[] {
  return readdirSync(user.rametHome, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
}
