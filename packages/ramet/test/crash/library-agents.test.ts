import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { openSession, type SessionOptions } from '../../src/sdk/index.ts';
import { eventually } from '../fixtures/command.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { drain } from '../fixtures/engine.ts';
import { temporaryDirectory, temporaryRepository } from '../fixtures/temporary.ts';

describe('AGENT-5: agents that a program had started', () => {
  test('resume after the program was killed, and the next one finds them by name', async () => {
    await using session = await openSession(await killedProgram());
    expect(session.isInterrupted).toBe(false);
    expect(await session.resumeAgents()).toBe(1);
    const [scout] = session.agents;
    expect(scout?.name).toBe('scout');
    expect(await scout?.result).toMatchObject({ status: 'done', text: 'Scope: found.' });
    // It answers its program, not the main agent.
    expect(session.hasNews).toBe(false);
    expect(await session.resumeAgents()).toBe(0);
  });

  test('run(null) waits for them, and asks the model nothing for the main agent', async () => {
    await using session = await openSession(await killedProgram());
    const ended: string[] = [];
    session.subscribe((event) => {
      if (event.type === 'agent_ended') ended.push(`${event.status} ${event.text}`);
    });
    expect(await session.ask(null)).toMatchObject({ status: 'done', text: 'Ready.', turns: 0 });
    expect(ended).toEqual(['done Scope: found.']);
    expect(session.agents).toEqual([]);
    await expect(session.ask(null)).rejects.toMatchObject({ code: 'nothing_to_do' });
  });

  test.each(['the signal', 'a reader that leaves', 'the end of the session'])(
    'a run(null) that %s interrupts is continued by the next one',
    async (how) => {
      const begun = Promise.withResolvers<void>();
      let isLast = false;
      const options = await killedProgram((over) => {
        begun.resolve();
        return isLast ? { text: 'Scope: found.' } : over;
      });
      {
        await using session = await openSession(options);
        const stop = new AbortController();
        const running = session.run(null, { signal: stop.signal });
        const reading = (async () => {
          for await (const { type } of running) if (type === 'agent_started' && how.includes('leaves')) break;
        })();
        // Who leaves at once may do so before the agent has asked for anything.
        await Promise.race([begun.promise, reading]);
        if (how.includes('signal')) stop.abort();
        if (how.includes('end')) await session.close();
        await reading;
      }
      isLast = true;
      await using again = await openSession(options);
      const ended: unknown[] = [];
      again.subscribe((event) => {
        if (event.type === 'agent_ended') ended.push(event.status);
      });
      expect(await again.ask(null)).toMatchObject({ status: 'done', turns: 0 });
      expect(ended).toEqual(['done']);
    },
  );

  test('a run(null) that was interrupted is continued by the next one of the same session', async () => {
    let isLast = false;
    const begun = Promise.withResolvers<void>();
    const options = await killedProgram((over) => {
      begun.resolve();
      return isLast ? { text: 'Scope: found.' } : over;
    });
    await using session = await openSession(options);
    const stop = new AbortController();
    const asking = session.ask(null, { signal: stop.signal });
    await begun.promise;
    stop.abort();
    await expect(asking).rejects.toMatchObject({ cause: { status: 'interrupted' } });
    isLast = true;
    expect(await session.ask(null)).toMatchObject({ status: 'done', text: 'Ready.' });
  });

  test('run(null) also waits for those that resumeAgents has resumed', async () => {
    const gate = Promise.withResolvers<{ text: string }>();
    await using session = await openSession(await killedProgram(() => gate.promise));
    expect(await session.resumeAgents()).toBe(1);
    const asking = session.ask(null);
    gate.resolve({ text: 'Scope: found.' });
    expect(await asking).toMatchObject({ status: 'done', text: 'Ready.' });
    expect(session.agents).toEqual([]);
  });

  test('run(null) ends without them where it is to wait for nobody, or is interrupted', async () => {
    const begun = Promise.withResolvers<void>();
    const options = await killedProgram((over) => {
      begun.resolve();
      return over;
    });
    await using session = await openSession(options);
    const { result } = await drain(session.run(null, { waitForChildren: false }));
    expect([result.status, session.agents.length]).toEqual(['done', 1]);
    await begun.promise;
    await expect(session.ask(null, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      cause: { status: 'interrupted', text: 'Ready.' },
    });
    expect(session.agents).toEqual([]);
  });
});

type Reply = { text: string } | Promise<{ text: string }>;

/** A session whose program was killed while an agent that it had started was at work; `later` answers for that agent from now on. */
async function killedProgram(
  later: (over: Reply) => Reply = () => ({ text: 'Scope: found.' }),
): Promise<SessionOptions> {
  const over = Promise.withResolvers<{ text: string }>();
  let killed = false;
  const emulator = await startEmulator({
    respond: ({ task }) => {
      if (task.startsWith('Go.')) return { text: 'Ready.' };
      return killed ? later(over.promise) : over.promise;
    },
  });
  onTestFinished(() => {
    over.resolve({ text: 'over' });
    return emulator.close();
  });
  const [cwd, home] = [temporaryRepository(), temporaryDirectory()];
  const program = crashProgram('library-agent');
  const running = spawn(process.execPath, [program, cwd, home, emulator.url], { stdio: 'inherit' });
  await eventually(() => emulator.requests.length === 2);
  running.kill('SIGKILL');
  await once(running, 'exit');
  killed = true;
  const env = {
    PATH: process.env.PATH,
    RAMET_HOME: home,
    ANTHROPIC_BASE_URL: emulator.url,
    ANTHROPIC_API_KEY: 'test',
  };
  return { cwd, env, settings: false, resume: 'latest' };
}
