/** A real command that is killed while a fork in the background works, and then goes on. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RequestView } from '../../src/emulator/index.ts';
import { EXTRACT } from '../../src/sdk/background/extract-memory.ts';
import { findPlace } from '../../src/sdk/place.ts';
import { KilledSession } from './killed-session.ts';

const LONG = 'A line that every session of this project begins with, so that its prefix is long.\n'.repeat(
  700,
);
const SETTINGS = { background: { unattended: true, memoryTurns: 1, costShare: 1 } };

const isFork = ({ task }: Pick<RequestView, 'task'>): boolean => task.startsWith(EXTRACT);

describe('BG-1: a process killed while a fork works in the background', () => {
  test('leaves no memory, and the resumed session does that work once', async () => {
    await using session = await KilledSession.open((view) => ({
      text: isFork(view) ? 'FACT code: The parser is new.\nNOTE: The parser is half done.' : 'Done.',
    }));
    writeFileSync(join(session.repository, 'AGENTS.md'), LONG);
    const home = join(session.state, 'home');
    mkdirSync(home);
    writeFileSync(join(home, 'settings.json'), JSON.stringify(SETTINGS));
    const forks = (): number => session.requests.filter(({ body }) => body.includes(EXTRACT)).length;
    const env = { RAMET_HOME: home };
    const memory = join(findPlace({ cwd: session.repository, env }).project, 'memory');
    session.fault = (view) => (isFork(view) ? { kind: 'stall', at: 'text' } : undefined);
    void session.start('Work on the parser.');
    await session.until(() => session.requests.at(-1)?.outcome === 'fault');
    await session.kill();
    expect(existsSync(memory)).toBe(false);
    expect(await session.agents()).toMatchObject([
      { status: 'done' },
      { status: 'interrupted', source: 'memory' },
    ]);

    expect(await session.start('--continue', `Work on with this: ${LONG}`)).toMatchObject({
      code: 0,
      stdout: 'Done.\n',
    });
    expect(forks()).toBe(2);
    expect(readFileSync(join(memory, 'MEMORY.md'), 'utf8')).toMatch(
      /^## code\n- The parser is new\. \(.*\)\n$/,
    );
    expect(await session.agents()).toMatchObject([
      { status: 'done' },
      { status: 'interrupted' },
      { status: 'done', source: 'memory' },
    ]);
  });
});
