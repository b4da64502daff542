/** SEC-1: what a login at an MCP server gave is nobody's to read, whatever reads the file. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { call, startAgents, startFamily } from '../../../../test/fixtures/family.ts';
import { workingSandbox } from '../../../../test/fixtures/sandbox.ts';
import { temporaryDirectory, writeFiles } from '../../../../test/fixtures/temporary.ts';
import { openTokens } from '../../../extensions/mcp/token-store.ts';
import { sessionRedactor, sessionSecrets } from './session-redactor.ts';

const URL_OF_SERVER = 'https://issues.example.com/mcp';
const token = (access: string): object => ({ access_token: access, token_type: 'Bearer' });

function logIn(home: string, access: string): void {
  openTokens(home, URL_OF_SERVER).save({
    client: { client_id: 'ramet', client_secret: 'client-3f9a71c2e8', redirect_uris: [] } as never,
    tokens: { ...token(access), refresh_token: 'renew-77b1c0d94e' } as never,
  });
}

describe('SEC-1: logins at MCP servers', () => {
  test.for(['in-process', 'process'] as const)(
    'are in no request and no journal, of a session and of a child (%s)',
    async (executor) => {
      const { run, home, emulator, recorded } = await startFamily({
        cast: {
          'Look.': [
            () => {
              // By another process, after the session began.
              logIn(home, 'open-1f2e3d4c5b');
              return call('Bash', { command: `cd ${home} && cat m*/*` });
            },
            startAgents(['Child.'], { subagent_type: 'general-purpose' }),
            { text: 'Done.' },
          ],
          'Child.': [() => call('Bash', { command: `cd ${home} && cat m*/*` }), { text: 'Seen.' }],
        },
        agents: { executor },
      });
      await run('Look.');
      const bodies = emulator.requests.map(({ body }) => body);
      expect(bodies.filter((body) => body.includes('[redacted: LOGIN_0_TOKEN]'))).toHaveLength(3);
      const all = JSON.stringify([bodies, recorded()]);
      const secrets = ['open-1f2e3d4c5b', 'renew-77b1c0d94e', 'client-3f9a71c2e8'];
      expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
    },
  );

  test('are not shown by Read nor by a command that names their files, also where everything is allowed', async () => {
    const login = { client: {}, tokens: { access_token: 'open-1f2e3d4c5b' } };
    const family = await startFamily({
      home: { 'mcp/server.json': JSON.stringify(login) },
      cast: {
        'Look.': [
          () => call('Read', { file_path: join(family.home, 'mcp/server.json') }),
          () => call('Bash', { command: `base64 ${family.home}/mcp/server.json` }),
          { text: 'Done.' },
        ],
      },
    });
    await family.run('Look.');
    const [, first, second] = family.requestsOf('Look.').map(({ request }) => request?.messages.at(-1));
    for (const result of [first, second])
      expect(JSON.stringify(result)).toMatch(/denied by the rule Read\(\/\/.*\/mcp\/\*\*\) in Ramet itself/);
  });

  test.for([
    ['plan', 'in-process', {}],
    ['dontAsk', 'in-process', {}],
    ['acceptEdits', 'in-process', {}],
    ['default', 'process', {}],
    ['bypassPermissions', 'in-process', { isolation: 'worktree' }],
  ] as const)(
    'are not there for a command in bubblewrap, by whatever name it comes to them (%s, %s, %o)',
    async ([permissionMode, executor, how], { skip }) => {
      await workingSandbox(skip);
      const link = join(temporaryDirectory(), 'link');
      const ways = ['', 'uname', 'ps', 'ls -l /'].flatMap((begin) =>
        ['home', 'link'].map((place) => ({ begin, place })),
      );
      const { run, home, emulator, requestsOf } = await startFamily({
        cast: {
          'Look.': [startAgents(['Child.'], { subagent_type: 'general-purpose', ...how }), { text: 'Done.' }],
          'Child.': [
            ...ways.map(({ begin, place }, index) => () => {
              // By another process, after the session began.
              if (index === 0) {
                logIn(home, 'open-1f2e3d4c5b');
                symlinkSync(home, link);
              }
              const command = `echo ran; ${begin}; cd ${place === 'home' ? home : link}/mcp && rev *`;
              return call('Bash', { command: command.replace('; ;', ';') });
            }),
            { text: 'Seen.' },
          ],
        },
        agents: { executor },
        permissionMode,
      });
      await run('Look.');
      const last = requestsOf('Child.').at(-1)?.body ?? '';
      expect(last.match(/ran\\n/g)).toHaveLength(ways.length);
      const secrets = ['open-1f2e3d4c5b', 'renew-77b1c0d94e', 'client-3f9a71c2e8'];
      const turned = secrets.map((secret) => [...secret].reverse().join(''));
      const all = JSON.stringify(emulator.requests.map(({ body }) => body));
      expect([...secrets, ...turned].filter((secret) => all.includes(secret))).toEqual([]);
    },
  );

  test('a token that was renewed stays out, and so does the new one', () => {
    const home = temporaryDirectory();
    const redact = sessionRedactor(sessionSecrets({ MY_TOKEN: 'mine-0a9b8c7d6e' }, home));
    expect(redact('open-1f2e3d4c5b')).toBe('open-1f2e3d4c5b');
    logIn(home, 'open-1f2e3d4c5b');
    expect(redact('open-1f2e3d4c5b')).toBe('[redacted: LOGIN_0_TOKEN]');
    logIn(home, 'open-second-8d7c6b');
    expect(redact('open-1f2e3d4c5b open-second-8d7c6b mine-0a9b8c7d6e')).toBe(
      '[redacted: LOGIN_0_TOKEN] [redacted: LOGIN_0_TOKEN_] [redacted: MY_TOKEN]',
    );
  });

  test('a folder that cannot be listed changes nothing', () => {
    const home = temporaryDirectory();
    writeFiles(home, { mcp: 'no folder' });
    expect(sessionRedactor(sessionSecrets({}, home))('open')).toBe('open');
  });
});
