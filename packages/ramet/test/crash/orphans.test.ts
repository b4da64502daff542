/** A real command is killed while commands of its agent run; the next one in the repository ends what it left. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PACKAGE_ROOT } from '../../scripts/bundle.ts';
import type { EmulatorOptions } from '../../src/emulator/index.ts';
import { findPlace } from '../../src/sdk/place.ts';
import { isGroupAlive } from '../../src/system/processes/process-group.ts';
import { processDirectory } from '../../src/system/processes/process-register.ts';
import { KilledSession } from './killed-session.ts';

const COMMAND = join(PACKAGE_ROOT, 'bin/ramet.js');

/** Each writes its pids last, so that a reader of the file finds all of it running. */
const BACKGROUND = 'sleep 600 & echo $$ > background; sleep 600';
const LEFT_BEHIND = 'sleep 600 & echo $$ > left';
const FOREGROUND = '(sleep 600; true) & echo $$ > foreground; sleep 600';

function bash(command: string, run_in_background = false) {
  return { tool_use: [{ name: 'Bash', input: { command, run_in_background } }] };
}

/** Three commands, then whatever comes is answered. */
function answering(): EmulatorOptions['respond'] {
  const answers = [bash(BACKGROUND, true), bash(LEFT_BEHIND), bash(FOREGROUND)];
  return () => answers.shift() ?? { text: 'done' };
}

async function killedAtWork(): Promise<{ session: KilledSession; groups: number[]; processes: string }> {
  const session = await KilledSession.open(answering());
  onTestFinished(() => session[Symbol.asyncDispose]());
  const allowed = ['--permission-mode', 'bypassPermissions'];
  const { child, ended } = session.startProgram(COMMAND, '-p', 'Work.', ...allowed);
  const files = ['background', 'left', 'foreground'].map((name) => join(session.repository, name));
  await session.until(() => files.every((file) => existsSync(file) && readFileSync(file, 'utf8') !== ''));
  const env = { RAMET_HOME: join(session.state, 'home') };
  const processes = processDirectory(findPlace({ cwd: session.repository, env }).project);
  // A command may have spoken before its host has noted it.
  const isNoted = (name: string): boolean => !name.includes(' 0@');
  await session.until(() => readdirSync(processes).filter(isNoted).length === files.length);
  child.kill('SIGKILL');
  await ended;
  const groups = files.map((file) => Number(readFileSync(file, 'utf8')));
  onTestFinished(() => {
    for (const group of groups.filter(isGroupAlive)) process.kill(-group, 'SIGKILL');
  });
  return { session, groups, processes };
}

/** An unrelated process, under a pid that was noted for a group of the killed command. */
function startForeigner(processes: string): number {
  const { pid = 0 } = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void process.kill(-pid, 'SIGKILL'));
  const [name = ''] = readdirSync(processes);
  writeFileSync(join(processes, name.replace(/ \d+@/, ` ${pid}@`)), '');
  return pid;
}

describe('RES-8: a killed command leaves no orphans', () => {
  test.for<[string, string[]]>([
    ['a new session', ['-p', 'Again.']],
    ['the resumed session', ['-p', '--continue']],
    ['ramet doctor', ['doctor']],
  ])('%s ends what it left, and nobody else', async ([, args]) => {
    const { session, groups, processes } = await killedAtWork();
    expect(groups.map(isGroupAlive)).toEqual([true, true, true]);
    const foreigner = startForeigner(processes);
    expect(readdirSync(processes)).toHaveLength(4);
    const end = await session.startProgram(COMMAND, ...args).ended;
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(groups.map(isGroupAlive)).toEqual([false, false, false]);
    expect(isGroupAlive(foreigner)).toBe(true);
    expect(readdirSync(processes)).toEqual([]);
  });

  test('and what was ended is on record', async () => {
    const { session, groups } = await killedAtWork();
    await session.startProgram(COMMAND, '-p', 'Again.').ended;
    const logs = await session.startProgram(COMMAND, 'logs').ended;
    for (const group of groups) expect(logs.stdout).toMatch(new RegExp(`left running: .*${group} of agent`));
  });
});
