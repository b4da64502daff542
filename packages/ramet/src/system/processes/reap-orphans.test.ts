import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/fixtures/command.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { isGroupAlive, OWNER_VARIABLE, startProcessGroup } from './process-group.ts';
import { findProcess, type ProcessIdentity, thisProcess } from './process-identity.ts';
import { AGENT_VARIABLE, createProcessRegister, groupOfNote, reapOrphans } from './process-register.ts';

const GONE: ProcessIdentity = { pid: 1, started: '00000000-1' };
const AGENT = 'abcdefgh.2';

/**
 * A group that has printed a line, so that whatever comes before it in the script has happened. What is to be known by its
 * environment prints it and starts no other program in its place: while a program starts, the system shows none of it.
 */
async function startGroup(script: string, env: NodeJS.ProcessEnv = {}): Promise<ProcessIdentity> {
  const child: ChildProcess = spawn('bash', ['-c', script], {
    detached: true,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const pid = child.pid ?? 0;
  onTestFinished(() => {
    if (isGroupAlive(pid)) process.kill(-pid, 'SIGKILL');
  });
  const started = findProcess(pid)?.started ?? null;
  if (child.stdout !== null) await once(child.stdout, 'data');
  return { pid, started };
}

function note(directory: string, leader: ProcessIdentity, host: ProcessIdentity = GONE): void {
  writeFileSync(join(directory, `${host.pid}@${host.started} ${leader.pid}@${leader.started} ${AGENT}`), '');
}

const reapedIn = async (directory: string): Promise<number[]> =>
  (await reapOrphans(directory)).map(({ leader }) => leader.pid);

describe('RES-8: what a killed process left', () => {
  test('is ended with all of its group, also what does not want to go', async () => {
    const directory = temporaryDirectory();
    const polite = await startGroup('sleep 600 & echo up; sleep 600');
    const stubborn = await startGroup(`trap '' TERM; (trap '' TERM; sleep 600) & echo up; sleep 600`);
    note(directory, polite);
    note(directory, stubborn);
    expect((await reapedIn(directory)).sort()).toEqual([polite.pid, stubborn.pid].sort());
    expect([polite, stubborn].some(({ pid }) => isGroupAlive(pid))).toBe(false);
    expect(readdirSync(directory)).toEqual([]);
    expect(await reapedIn(directory)).toEqual([]);
  });

  test('is ended when only a grandchild is left, which carries the agent’s id', async () => {
    const directory = temporaryDirectory();
    const group = await startGroup('(echo up; sleep 600; true) &', { [AGENT_VARIABLE]: AGENT });
    while (findProcess(group.pid) !== null) await new Promise(setImmediate);
    expect(isGroupAlive(group.pid)).toBe(true);
    note(directory, group);
    expect(await reapedIn(directory)).toEqual([group.pid]);
    expect(isGroupAlive(group.pid)).toBe(false);
  });

  test('is ended wherever it went, if it carries the mark of its owner', async () => {
    const directory = temporaryDirectory();
    const env = { [OWNER_VARIABLE]: 'a-token', [AGENT_VARIABLE]: AGENT };
    const first = await startGroup('echo up; sleep 600; true', env);
    // It speaks once it has a session of its own.
    const second = await startGroup("setsid sh -c 'echo up; sleep 600; true' & wait", env);
    const stranger = await startGroup('echo up; sleep 600', { [OWNER_VARIABLE]: 'another' });
    writeFileSync(join(directory, `${GONE.pid}@${GONE.started} 0@a-token hooks`), '');
    const reaped = await reapedIn(directory);
    expect(reaped).toEqual(expect.arrayContaining([first.pid, second.pid]));
    expect(reaped.length).toBe(3);
    expect(reaped.some(isGroupAlive)).toBe(false);
    expect(isGroupAlive(stranger.pid)).toBe(true);
    expect(readdirSync(directory)).toEqual([]);
  });

  test.for<[string, (group: ProcessIdentity) => ProcessIdentity]>([
    ['started at another time', ({ pid }) => ({ pid, started: '00000000-1' })],
    ['whose start nobody could note', ({ pid }) => ({ pid, started: null })],
  ])('is left alone when its pid is that of a process %s', async ([, noted]) => {
    const directory = temporaryDirectory();
    const group = await startGroup('echo up; sleep 600', { [AGENT_VARIABLE]: AGENT });
    note(directory, noted(group));
    expect(await reapedIn(directory)).toEqual([]);
    expect(isGroupAlive(group.pid)).toBe(true);
  });

  test('is left alone when the leader is gone and nobody in the group is known to be the agent’s', async () => {
    const directory = temporaryDirectory();
    const group = await startGroup('(echo up; sleep 600; true) &', {
      [AGENT_VARIABLE]: 'abcdefgh.21',
    });
    while (findProcess(group.pid) !== null) await new Promise(setImmediate);
    note(directory, group);
    expect(await reapedIn(directory)).toEqual([]);
    expect(isGroupAlive(group.pid)).toBe(true);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('is not what a living process still watches, nor a file that is no note', async () => {
    const directory = temporaryDirectory();
    const group = await startGroup('echo up; sleep 600');
    note(directory, group, thisProcess());
    writeFileSync(join(directory, 'notes.txt'), '');
    expect(await reapedIn(directory)).toEqual([]);
    expect(isGroupAlive(group.pid)).toBe(true);
    expect(readdirSync(directory)).toHaveLength(2);
  });

  test('has one note at any time, also where that of its start becomes its own', async () => {
    const directory = temporaryDirectory();
    const group = await startGroup('echo up; sleep 600', { [AGENT_VARIABLE]: AGENT });
    const register = createProcessRegister(directory, (message) => expect.fail(message));
    const notes = (): (number | undefined)[] =>
      readdirSync(directory).map((name) => groupOfNote(name)?.leader.pid);
    const expected = register.expect(AGENT);
    expect(notes()).toEqual([0]);
    const leave = register.enter(group.pid, AGENT, expected);
    expect(notes()).toEqual([group.pid]);
    expected.settle();
    expect(notes()).toEqual([group.pid]);
    const other = register.expect(AGENT);
    rmSync(join(directory, readdirSync(directory).find((name) => groupOfNote(name)?.leader.pid === 0) ?? ''));
    leave();
    // Another process has removed the first note: the second is made without it.
    const again = register.enter(group.pid, AGENT, other);
    expect(notes()).toEqual([group.pid]);
    again();
    other.settle();
    expect(notes()).toEqual([]);
  });

  test('is ended when it was started and not yet noted, with what it started, and nothing else', async () => {
    const directory = temporaryDirectory();
    const bystander = await startGroup('echo up; sleep 600', { [AGENT_VARIABLE]: AGENT });
    const script = `
      const { startProcessGroup } = await import(${JSON.stringify(import.meta.resolve('./process-group.ts'))});
      const { createProcessRegister } = await import(${JSON.stringify(import.meta.resolve('./process-register.ts'))});
      const register = createProcessRegister(${JSON.stringify(directory)}, console.error);
      await startProcessGroup({
        program: 'bash', arguments: ['-c', 'echo up; sleep 600 & sleep 600; true'], cwd: '/',
        env: { PATH: process.env.PATH, ${AGENT_VARIABLE}: ${JSON.stringify(AGENT)} }, output: 1,
        expect: () => register.expect(${JSON.stringify(AGENT)}),
        register: (id) => { console.log('group ' + id); process.kill(process.pid, 'SIGKILL'); },
      });`;
    const host = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    let printed = '';
    host.stdout.on('data', (text) => {
      printed += text;
    });
    await once(host, 'exit');
    await eventually(() => /group \d+\n/.test(printed) && printed.includes('up\n'));
    const group = Number(/group (\d+)/.exec(printed)?.[1]);
    onTestFinished(() => {
      if (isGroupAlive(group)) process.kill(-group, 'SIGKILL');
    });
    expect(isGroupAlive(group)).toBe(true);
    expect(await reapedIn(directory)).toEqual([group]);
    expect([group, bystander.pid].map(isGroupAlive)).toEqual([false, true]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('is nothing when the host was killed before it could start anything', async () => {
    const directory = temporaryDirectory();
    note(directory, { pid: 0, started: 'a-token-of-nobody' });
    expect(await reapedIn(directory)).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('is nothing where nothing was ever started', async () => {
    expect(await reapedIn(join(temporaryDirectory(), 'missing'))).toEqual([]);
  });
});

describe('RES-8: the register of process groups', () => {
  function starting(script: string, directory: string) {
    const warnings: string[] = [];
    const register = createProcessRegister(directory, (message) => warnings.push(message));
    const group = startProcessGroup({
      program: 'bash',
      arguments: ['-c', script],
      cwd: temporaryDirectory(),
      env: { PATH: process.env.PATH ?? '' },
      output: 1,
      register: (id) => register.enter(id, AGENT),
    });
    return { group, register, warnings };
  }

  test('holds a group from its start to its end, with who started it and when', async () => {
    const directory = join(temporaryDirectory(), 'processes');
    const group = await starting('sleep 600', directory).group;
    const { pid, started } = thisProcess();
    const leader = `${group.id}@${findProcess(group.id)?.started}`;
    expect(readdirSync(directory)).toEqual([`${pid}@${started} ${leader} ${AGENT}`]);
    await group.terminate();
    expect(readdirSync(directory)).toEqual([]);
  });

  test('keeps a group whose leader has ended as long as a member is left', async () => {
    const directory = join(temporaryDirectory(), 'processes');
    const group = await starting('sleep 600 &', directory).group;
    await group.ended;
    expect(readdirSync(directory)).toHaveLength(1);
    await group.terminate();
    expect(readdirSync(directory)).toEqual([]);
    const short = await starting('true', directory).group;
    await short.ended;
    expect(readdirSync(directory)).toEqual([]);
  });

  test('kills at a sudden exit what does not want to go, also when its leader has gone', async () => {
    const script = `
      const { startProcessGroup } = await import(${JSON.stringify(import.meta.resolve('./process-group.ts'))});
      const { createProcessRegister } = await import(${JSON.stringify(import.meta.resolve('./process-register.ts'))});
      const register = createProcessRegister(${JSON.stringify(temporaryDirectory())}, console.error);
      for (const command of ["trap '' TERM; echo up; sleep 600", "(trap '' TERM; echo up; sleep 600) & echo up"]) {
        const group = await startProcessGroup({
          program: 'bash', arguments: ['-c', command], cwd: '/', env: { PATH: process.env.PATH }, output: 1,
          register: (id) => register.enter(id, ${JSON.stringify(AGENT)}),
        });
        console.log('group ' + group.id);
        if (command.endsWith('up')) await group.ended;
      }
      process.stdin.once('data', () => process.exit(1));`;
    const host = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    let printed = '';
    for await (const chunk of host.stdout) {
      printed += chunk;
      if (printed.match(/up\n/g)?.length === 3 && printed.match(/group/g)?.length === 2)
        host.stdin.write('x');
    }
    const groups = [...printed.matchAll(/group (\d+)/g)].map(([, id]) => Number(id));
    expect(groups).toHaveLength(2);
    // A killed process closes its output before the system counts it as dead.
    await eventually(() => !groups.some(isGroupAlive));
  });

  test('that cannot be written keeps no command from running, and says so once', async () => {
    const directory = join(temporaryDirectory(), 'file');
    writeFileSync(directory, '');
    const { group, register, warnings } = starting('exit 3', directory);
    expect(await (await group).ended).toMatchObject({ code: 3 });
    register.enter(process.pid, AGENT)();
    expect(warnings).toEqual([expect.stringContaining('is not ended if this process is killed')]);
  });
});
