import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { openSession } from '../../src/sdk/index.ts';
import { eventually } from '../fixtures/command.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { temporaryDirectory, temporaryRepository } from '../fixtures/temporary.ts';

describe('AGENT-5: agents that a program had started', () => {
  test('resume after the program was killed, and the next one finds them by name', async () => {
    const over = Promise.withResolvers<{ text: string }>();
    let killed = false;
    const emulator = await startEmulator({
      respond: ({ task }) => {
        if (task.startsWith('Go.')) return { text: 'Ready.' };
        return killed ? { text: 'Scope: found.' } : over.promise;
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
    await using session = await openSession({ cwd, env, settings: false, resume: 'latest' });
    expect(session.isInterrupted).toBe(false);
    expect(await session.resumeAgents()).toBe(1);
    const [scout] = session.agents;
    expect(scout?.name).toBe('scout');
    expect(await scout?.result).toMatchObject({ status: 'done', text: 'Scope: found.' });
    // It answers its program, not the main agent.
    expect(session.hasNews).toBe(false);
    expect(await session.resumeAgents()).toBe(0);
  });
});
