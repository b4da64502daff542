/** The bundled command hosts an agent in a process of its own; one of the two, or both, are killed. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PACKAGE_ROOT } from '../../scripts/bundle.ts';
import type { RequestView } from '../../src/emulator/index.ts';
import { isGroupAlive } from '../../src/system/processes/process-group.ts';
import { eventually, isRunning } from '../fixtures/command.ts';
import { call, startAgents } from '../fixtures/family.ts';
import { KilledSession } from './killed-session.ts';

const COMMAND = join(PACKAGE_ROOT, 'bin/ramet.js');
/** Says who runs it once that is noted. */
const HOLD =
  'until [ "$(ls "$RAMET_HOME"/projects/*/processes | grep -c " $$@")" = 2 ]; do sleep 0.02; done; ' +
  'echo "$PPID $$" > held; while [ ! -e go ]; do sleep 0.02; done';

function answer({ task, turn }: RequestView) {
  if (task.startsWith('child')) {
    return turn === 0 ? call('Bash', { command: HOLD }) : { text: 'Scope: child. Done.' };
  }
  return turn === 0 ? startAgents(['child'], { subagent_type: 'general-purpose' }) : { text: 'All done.' };
}

/** The command, the agent's process and the agent's own command, all at work. */
async function atWork() {
  const session = await KilledSession.open(answer);
  onTestFinished(() => session[Symbol.asyncDispose]());
  const flags = ['--permission-mode', 'bypassPermissions', '--executor', 'process'];
  const host = session.startProgram(COMMAND, '-p', 'Work.', ...flags);
  const held = join(session.repository, 'held');
  const [agent = 0, command = 0] = await eventually(() => {
    const text = existsSync(held) ? readFileSync(held, 'utf8') : '';
    return text.endsWith('\n') && text.split(' ').map(Number);
  });
  onTestFinished(() => {
    for (const group of [agent, command].filter(isGroupAlive)) process.kill(-group, 'SIGKILL');
  });
  return { session, host, agent, command };
}

describe('EXEC-2: the command with an agent in a process of its own', () => {
  test('runs it from the bundle, beside itself, and leaves nothing behind', async () => {
    const { session, host, agent } = await atWork();
    expect(readFileSync(`/proc/${agent}/cmdline`, 'utf8')).toContain('dist/executors/child-main.js');
    expect(agent).not.toBe(host.child.pid);
    writeFileSync(join(session.repository, 'go'), '');
    expect(await host.ended).toMatchObject({ code: 0, stdout: 'All done.\n' });
    expect(isRunning(agent)).toBe(false);
  });

  test('RES-8: killed, it takes the agent’s process and its commands with it', async () => {
    const { host, agent, command } = await atWork();
    host.child.kill('SIGKILL');
    await host.ended;
    await eventually(() => !isRunning(agent) && !isGroupAlive(command));
  });

  test('RES-8: interrupted from a terminal, it ends them in order', async () => {
    const { host, agent, command } = await atWork();
    host.child.kill('SIGINT');
    expect((await host.ended).code).toBe(130);
    expect([isRunning(agent), isGroupAlive(command)]).toEqual([false, false]);
  });

  test('RES-8: killed together with it, they leave what the next start ends', async () => {
    const { session, host, agent, command } = await atWork();
    process.kill(agent, 'SIGSTOP');
    host.child.kill('SIGKILL');
    await host.ended;
    process.kill(agent, 'SIGKILL');
    await eventually(() => !isRunning(agent));
    await session.startProgram(COMMAND, 'doctor').ended;
    expect(isGroupAlive(command)).toBe(false);
    expect(readdirSync(session.repository)).toContain('held');
  });
});

describe('EXEC-2, AGENT-5: a killed session', () => {
  test('resumes its agent in a separate process again, from its last complete turn', async () => {
    const { session, host, agent } = await atWork();
    host.child.kill('SIGKILL');
    await host.ended;
    await eventually(() => !isRunning(agent));
    writeFileSync(join(session.repository, 'go'), '');
    const flags = ['--continue', '--permission-mode', 'bypassPermissions'];
    const resumed = await session.startProgram(COMMAND, '-p', ...flags).ended;
    expect(resumed).toMatchObject({ code: 0, stdout: 'All done.\n' });
    const agents = await session.agents();
    expect(JSON.stringify(agents)).not.toContain('"interrupted"');
    const bodies = session.requests.map(({ body }) => body);
    expect(new Set(bodies).size).toBe(bodies.length);
    expect(bodies.join('\n')).toContain('may have taken effect');
  });
});
