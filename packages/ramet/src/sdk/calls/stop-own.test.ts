/** Stopping sessions of one's own process, which other sessions share. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { startEmulator } from '../../emulator/index.ts';
import { createSession } from '../../journal/sessions.ts';
import { type AgentResult, openSession, type RunEvent, type Session, stop } from '../index.ts';
import { findPlace } from '../place.ts';

interface HostPlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A prompt with "hang" hangs in a command, any other is answered. */
async function hostPlace(): Promise<HostPlace> {
  const command = 'touch begun && sleep 600';
  const emulator = await startEmulator({
    respond: ({ task }) =>
      task.includes('hang') ? { tool_use: [{ name: 'Bash', input: { command } }] } : { text: 'Done.' },
  });
  onTestFinished(() => emulator.close());
  const env = {
    PATH: process.env.PATH,
    HOME: temporaryDirectory(),
    RAMET_HOME: join(temporaryDirectory(), 'ramet'),
    ANTHROPIC_API_KEY: 'test',
    ANTHROPIC_BASE_URL: emulator.url,
  };
  return { cwd: temporaryDirectory(), env };
}

function open(place: HostPlace): Promise<Session> {
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } } as const;
  return openSession({ ...place, settings, permissionMode: 'bypassPermissions' });
}

async function resultOf(events: AsyncGenerator<RunEvent, AgentResult>): Promise<AgentResult> {
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value;
  }
}

describe('UI-1: a host stops its own sessions', () => {
  test('one ends with its commands and can be resumed, the other continues, and so does the host', async () => {
    const place = await hostPlace();
    await using first = await open(place);
    await using second = await open(place);
    const running = resultOf(first.run('Please hang.'));
    await expect.poll(() => existsSync(join(place.cwd, 'begun')), { timeout: 60_000 }).toBe(true);

    const outcome = await stop(first.id, place);
    expect(outcome).toMatchObject({ session: first.id, agent: null, ended: true });
    expect(outcome.agents).toMatchObject([{ id: `${first.id}.1`, status: 'interrupted' }]);
    expect(await running).toMatchObject({ status: 'interrupted', cause: 'session_stopped' });
    await expect(resultOf(first.run('More.'))).rejects.toThrow('this session is closed');
    await expect(stop(first.id, place)).rejects.toThrow('does not run');

    expect(await resultOf(second.run('Answer.'))).toMatchObject({ status: 'done', text: 'Done.' });
    await using again = await openSession({ ...place, resume: first.id, settings: false });
    expect(again.isInterrupted).toBe(true);
  });

  test('also one whose event the host holds, and one that is idle', async () => {
    const place = await hostPlace();
    await using session = await open(place);
    const events = session.run('Please hang.');
    expect(await events.next()).toMatchObject({ done: false });
    expect(await stop(`${session.id}.1`, place)).toMatchObject({ ended: true });
    expect(await resultOf(events)).toMatchObject({ status: 'interrupted' });

    await using idle = await open(place);
    const both = [stop(idle.id, place), stop(undefined, { ...place, now: true })];
    expect(await Promise.all(both)).toMatchObject([{ ended: true }, { ended: true }]);
  });

  test('what this process writes in another way is not stopped, and no signal is sent', async () => {
    const place = await hostPlace();
    const { project } = findPlace(place);
    const journal = await createSession({ project, cwd: place.cwd });
    await expect(stop(journal.session, place)).rejects.toThrow('wait until that is done');
    await journal.close();
  });
});
