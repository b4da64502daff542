/** How a session keeps team memory in sync: with a clock that is driven by hand, and with a real server. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { servedMemory } from '../../../test/fixtures/memory-server.ts';
import { IDENTITY } from '../../../test/fixtures/merge-repository.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { startEmulator } from '../../emulator/index.ts';
import { openReader } from '../../journal/sessions.ts';
import { indexPath, teamFolder } from '../../memory/files/memory-places.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { findPlace } from '../place.ts';
import { openSession } from '../session/session.ts';
import { memoryPlace } from './session-memory.ts';
import type { SyncedMemory } from './sync-memory.ts';
import { TeamSync } from './team-sync.ts';

const SYNCED: SyncedMemory = {
  ...{ folder: '/x', team: 'core', changes: [], skipped: [], values: { read: 0, written: 0 } },
};

function newSync(answer: (call: number, signal: AbortSignal) => Promise<SyncedMemory>) {
  const clock = simulatedClock();
  let calls = 0;
  const sync = new TeamSync({ clock, sync: (signal) => answer(++calls, signal) });
  const warnings: string[] = [];
  sync.warn = (line) => warnings.push(line);
  return { clock, sync, warnings, calls: () => calls };
}

const never = (signal: AbortSignal): Promise<SyncedMemory> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));

describe('TEAM-6: the sync of a session', () => {
  test('holds up its beginning no longer than a second, and its end no longer than five', async () => {
    const { clock, sync, warnings } = newSync((_, signal) => never(signal));
    sync.start();
    const begun = sync.begun();
    await clock.advance(1_000);
    expect(await begun).toEqual([
      'team memory: the server has not answered yet: the session begins with the notes that are here',
    ]);
    const closed = sync.close();
    await clock.advance(5_000);
    await closed;
    expect(warnings).toEqual(['team memory was not synchronised: the server has not answered in time']);
  });

  test('says in one line that a server is away, and does not try again by itself', async () => {
    const { clock, sync, calls } = newSync(() => Promise.reject(new Error('no connection')));
    sync.start();
    expect(await sync.begun()).toEqual(['team memory was not synchronised: no connection']);
    await clock.advance(600_000);
    expect(calls()).toBe(1);
  });

  test('says so too if the first sync is over before anyone waits for it', async () => {
    const { clock, sync, warnings } = newSync(() => Promise.reject(new Error('no connection')));
    sync.start();
    await clock.advance(1);
    expect(await sync.begun()).toEqual(['team memory was not synchronised: no connection']);
    expect(warnings).toEqual([]);
    expect(sync.begunBefore()).toEqual([]);
  });

  test('says at once what goes wrong later, and the same once until it is well again', async () => {
    const answers = ['ok', 'away', 'away', 'ok', 'away', 'odd'];
    const { clock, sync, warnings } = newSync((call) => {
      const answer = answers[call - 1];
      return answer === 'ok' ? Promise.resolve(SYNCED) : Promise.reject(new Error(answer));
    });
    sync.start();
    await sync.begun();
    for (let n = 0; n < 4; n++) {
      sync.changed();
      await clock.advance(500);
    }
    expect(warnings.map((line) => line.split(': ')[1])).toEqual(['away', 'away']);
    await sync.close();
    expect(warnings.at(-1)).toBe('team memory was not synchronised: odd');
  });

  test('a session that is resumed waits for nothing, and still says it', async () => {
    const { clock, sync, warnings } = newSync(() => Promise.reject(new Error('no connection')));
    sync.start();
    sync.begunBefore();
    await clock.advance(1);
    expect(warnings).toEqual(['team memory was not synchronised: no connection']);
  });

  test('sends changes that come together at once, and one during a sync with another', async () => {
    let finish = (): void => {};
    const { clock, sync, warnings, calls } = newSync((call) =>
      call === 2 ? new Promise((resolve) => (finish = () => resolve(SYNCED))) : Promise.resolve(SYNCED),
    );
    sync.start();
    expect(await sync.begun()).toEqual([]);
    for (let n = 0; n < 5; n++) sync.changed();
    await clock.advance(500);
    expect(calls()).toBe(2);
    sync.changed();
    finish();
    await sync.close();
    expect(calls()).toBeGreaterThanOrEqual(3);
    expect(warnings).toEqual([]);
  });

  test('names what was left out', async () => {
    const skipped = [{ key: 'a.md', reason: 'it has a secret' }];
    const { sync } = newSync(() => Promise.resolve({ ...SYNCED, skipped }));
    sync.start();
    expect(await sync.begun()).toEqual([
      'team memory was not synchronised: 1 file was left out: ramet memory sync says why',
    ]);
  });
});

describe('TEAM-6: a session with a server in its environment', () => {
  test.each([
    ['nonsense', 'x', /is no address of a memory server/],
    ['http://10.1.1.1', 'x', /give one that begins with https/],
    ['https://127.0.0.1', '', /there is no token: set RAMET_MEMORY_TOKEN/],
    ['https://127.0.0.1', 'not a token', /this is no token of a memory server/],
  ])(
    'says what is wrong with %s and the token %j, when it begins and when it is resumed',
    async (url, token, why) => {
      const env = {
        ...{ PATH: process.env.PATH, RAMET_HOME: temporaryDirectory() },
        ...{ RAMET_MEMORY_SERVER: url, RAMET_MEMORY_TOKEN: token },
      };
      const place = { cwd: temporaryRepository(), env };
      const told = (lines: readonly string[]): string[] =>
        lines.filter((line) => line.includes('team memory'));
      let id: string;
      {
        await using session = await openSession({ ...place, provider: scriptedModel({ text: 'Done.' }) });
        expect(told(session.notices)).toEqual([expect.stringMatching(why)]);
        await session.ask('Begin.');
        id = session.id;
      }
      const resumed: string[] = [];
      {
        const provider = scriptedModel({ text: 'Done.' });
        await using again = await openSession({ ...place, provider, resume: id });
        resumed.push(...told(again.notices));
        await again.ask('Go on.');
      }
      // By then, or as soon as it goes wrong.
      const reader = openReader({ project: findPlace(place).project, session: id });
      for (const { event } of reader.events({ type: 'warning.raised' }))
        if (event.type === 'warning.raised') resumed.push(event.message);
      reader.close();
      expect(told(resumed)).toEqual([expect.stringMatching(why)]);
    },
  );

  test('begins with what the team has noted, and leaves what was noted meanwhile', async () => {
    const server = await servedMemory();
    await server.ask('PUT', '/v1/keys/crew/MEMORY.md', {
      headers: { 'if-none-match': '*' },
      body: '- PROBE of the team\n',
    });
    const emulator = await startEmulator({ respond: () => ({ text: 'Done.' }) });
    onTestFinished(() => emulator.close());
    const env = {
      ...{ ...IDENTITY, PATH: process.env.PATH, HOME: temporaryDirectory() },
      RAMET_HOME: join(temporaryDirectory(), 'ramet'),
      ...{ ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: emulator.url },
    };
    const configured = { ...env, RAMET_MEMORY_SERVER: server.url, RAMET_MEMORY_TOKEN: server.token };
    const settings = JSON.stringify({
      memory: { server: server.url },
      env: { RAMET_MEMORY_SERVER: server.url },
    });
    const cwd = temporaryRepository({ 'README.md': '# Test\n', '.ramet/settings.json': settings });
    const at = memoryPlace(findPlace({ cwd, env }), env);
    const run = async (environment: NodeJS.ProcessEnv, team: string): Promise<void> => {
      await using session = await openSession({ cwd, env: environment, team });
      await drain(session.run('Begin.'));
      const index = indexPath(teamFolder(at, team));
      mkdirSync(dirname(index), { recursive: true });
      writeFileSync(index, `- PROBE of the team\n- found by ${team}\n`);
    };
    // Only the repository names it.
    await run({ ...env, RAMET_MEMORY_TOKEN: server.token }, 'others');
    expect((await server.ask('GET', '/v1/keys/others/MEMORY.md')).status).toBe(404);
    await run(configured, 'crew');
    expect(emulator.requests.at(-1)?.body).toContain('PROBE of the team');
    expect((await server.ask('GET', '/v1/keys/crew/MEMORY.md')).text).toContain('- found by crew\n');
  });
});
