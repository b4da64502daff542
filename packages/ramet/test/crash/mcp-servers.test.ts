/** A real command uses an MCP server; in the middle of a call the host, the server or the agent's process is killed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PACKAGE_ROOT } from '../../scripts/bundle.ts';
import type { RequestView } from '../../src/emulator/index.ts';
import { isGroupAlive } from '../../src/system/processes/process-group.ts';
import { eventually } from '../fixtures/command.ts';
import { call, lastTexts, startAgents } from '../fixtures/family.ts';
import { LINE_SERVER } from '../fixtures/mcp/servers.ts';
import { KilledSession } from './killed-session.ts';

const COMMAND = join(PACKAGE_ROOT, 'bin/ramet.js');

function mcp(text: string): ReturnType<typeof call> {
  return call('McpCall', { tool: 'mcp__line__echo', arguments: { text } });
}

/** One call that does not come back, then one that does, then the end. */
function work(view: RequestView): ReturnType<typeof call> | { text: string } {
  return [mcp('first'), mcp('second')][view.turn] ?? { text: 'Scope: work. All done.' };
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

async function inMidCall(respond: (view: RequestView) => ReturnType<typeof work>, ...flags: string[]) {
  const session = await KilledSession.open(respond);
  onTestFinished(() => session[Symbol.asyncDispose]());
  const [pids, calls] = [join(session.state, 'pids'), join(session.state, 'calls')];
  const line = {
    command: process.execPath,
    args: [LINE_SERVER, 'stubborn-hang-first'],
    env: { PID_FILE: pids, CALL_FILE: calls },
  };
  const servers = ['--mcp-config', JSON.stringify({ mcpServers: { line } }), '--allowedTools', 'mcp__line'];
  const host = session.startProgram(COMMAND, '-p', 'Work.', ...servers, ...flags);
  const started = (): number[] => linesOf(pids).map(Number);
  onTestFinished(() => {
    for (const group of started().filter(isGroupAlive)) process.kill(-group, 'SIGKILL');
  });
  await eventually(() => linesOf(calls).length === 1);
  return { session, host, servers, started, calls: () => linesOf(calls).map((one) => one.split(' ')[1]) };
}

/** What models were told about calls, in order. */
function toldIn(session: KilledSession): string[] {
  return session.requests.flatMap((record) => lastTexts(record));
}

describe('RES-8: MCP servers and kills', () => {
  test('a killed host leaves a server that the next start ends; the call may have taken effect, and is not made again', async () => {
    const { session, host, servers, started, calls } = await inMidCall(work);
    host.child.kill('SIGKILL');
    await host.ended;
    const end = await session.startProgram(COMMAND, '-p', '--continue', ...servers).ended;
    expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('All done.') });
    expect(toldIn(session).some((text) => text.includes('may have taken effect'))).toBe(true);
    expect(toldIn(session)).toContain('echo: second');
    expect(calls()).toEqual(['first', 'second']);
    expect(started()).toHaveLength(2);
    expect(started().filter(isGroupAlive)).toEqual([]);
  });

  test('a killed server is named to the model, and started again for the next call', async () => {
    const { session, host, started, calls } = await inMidCall(work);
    process.kill(-(started()[0] ?? 0), 'SIGKILL');
    expect(await host.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('All done.') });
    expect(toldIn(session).join('\n')).toMatch(
      /the MCP server line ended while it was to run echo: it was ended by SIGKILL.*; the call may have taken effect/,
    );
    expect(toldIn(session)).toContain('echo: second');
    expect(calls()).toEqual(['first', 'second']);
    expect(started().filter(isGroupAlive)).toEqual([]);
  });

  test('a killed process of an agent is replaced, and uses the same server; none is left', async () => {
    const respond = (view: RequestView): ReturnType<typeof work> => {
      if (view.task.startsWith('child')) return work(view);
      return view.turn === 0
        ? startAgents(['child'], { subagent_type: 'general-purpose' })
        : { text: 'Scope: main. The end.' };
    };
    const { session, host, started, calls } = await inMidCall(respond, '--executor', 'process');
    const children = readFileSync(`/proc/${host.child.pid}/task/${host.child.pid}/children`, 'utf8');
    const agent = children
      .trim()
      .split(' ')
      .map(Number)
      .find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('child-main'));
    expect(agent).toBeDefined();
    process.kill(agent ?? 0, 'SIGKILL');
    expect(await host.ended).toMatchObject({ stdout: expect.stringContaining('The end.') });
    expect(toldIn(session).some((text) => text.includes('may have taken effect'))).toBe(true);
    expect(toldIn(session)).toContain('echo: second');
    expect(calls()).toEqual(['first', 'second']);
    expect(started()).toHaveLength(1);
    expect(started().filter(isGroupAlive)).toEqual([]);
  });
});
