/** What the read-only sandbox holds when the judge was wrong: every command here is carried out in it as it is. */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, type TestContext, test } from 'vitest';
import { type TestSandbox, workingSandbox } from '../../test/fixtures/sandbox.ts';
import { temporaryDirectory, writeFiles } from '../../test/fixtures/temporary.ts';

interface Attack {
  sandbox: TestSandbox;
  directory: string;
  /** Both outputs of the command. */
  run(command: string): Promise<string>;
}

const NOBODY = 65534;
const users = ['the user of the tests', 'an ordinary user'] as const;

/** A directory that everybody may write, and commands in it as one of the users. */
async function attack(who: (typeof users)[number], skip: TestContext['skip']): Promise<Attack> {
  const isRoot = process.getuid?.() === 0;
  if (who === 'an ordinary user' && !isRoot) skip('the tests run as an ordinary user anyway');
  const user = who === 'an ordinary user' ? NOBODY : undefined;
  const sandbox = await workingSandbox(skip);
  const directory = temporaryDirectory();
  chmodSync(directory, 0o777);
  const options = { cwd: directory, ...(user !== undefined && { user }) };
  const run = async (command: string): Promise<string> => (await sandbox.run(command, options)).output;
  if ((await run('echo started')) !== 'started\n') skip('bubblewrap cannot be started as an ordinary user');
  return { sandbox, directory, run };
}

async function listening(server: Server, where: string | number): Promise<Server> {
  onTestFinished(() => void server.close());
  await new Promise<void>((settle) =>
    typeof where === 'string' ? server.listen(where, settle) : server.listen(where, '127.0.0.1', settle),
  );
  return server;
}

describe.for(users)('RES-3: the wall around a command, run by %s', (who) => {
  test('no file can be written, made, removed, linked or given other rights, wherever it is', async ({
    skip,
  }) => {
    const { directory, run } = await attack(who, skip);
    const mark = `ramet-wall-${process.pid}-${Math.random().toString(36).slice(2)}`;
    const file = join(directory, 'file');
    writeFileSync(file, 'text\n');
    chmodSync(file, 0o666);
    const places = [directory, '/tmp', '/var/tmp', '/dev/shm', '/run', '/root', '/etc', '/'];
    onTestFinished(() => places.forEach((place) => void rmSync(join(place, mark), { force: true })));
    const attempts = [
      ...places.map((place) => `echo x > ${join(place, mark)}; mkdir ${join(place, mark)}`),
      ...[
        `echo x >> ${file}`,
        `rm -f ${file}`,
        `mv ${file} ${file}2`,
        `ln ${file} ${file}3`,
        `ln -s a ${file}4`,
      ],
      ...[`chmod 600 ${file}`, `touch ${file}`, `truncate -s 0 ${file}`, `mkfifo ${file}5`],
      ...[`echo x > /proc/self/cwd/new`, `echo x > /proc/1/root${directory}/new`],
      ...[`mount -o remount,rw /`, `mount -o remount,rw,bind / /`, `unshare -Urm mount -o remount,rw /`],
      ...[`umount /proc`, `unshare -Ur true`, `mknod ${directory}/disk b 8 0`],
    ];
    const before = readdirSync(directory);
    const output = await run(attempts.map((attempt) => `( ${attempt} )`).join('\n'));
    expect(output).toContain('Read-only file system');
    expect(readdirSync(directory)).toEqual(before);
    expect(readFileSync(file, 'utf8')).toBe('text\n');
    expect(places.filter((place) => existsSync(join(place, mark)))).toEqual([]);
  });

  test('settings of the kernel and devices cannot be written', async ({ skip }) => {
    const { run } = await attack(who, skip);
    const open = await run(
      'for file in /proc/sys/kernel/* /proc/sys/vm/* /proc/sysrq-trigger /proc/1/oom_score_adj /sys/kernel/mm/ksm/run; ' +
        'do [ -f "$file" ] && { exec 9<>"$file"; } 2>/dev/null && echo "$file"; done; ' +
        'for file in $(find /dev -type b -o -type c 2>/dev/null); do { exec 9<"$file"; } 2>/dev/null && echo "$file"; done',
    );
    expect(open.trim().split('\n').toSorted()).toEqual(['/dev/null', '/dev/urandom', '/dev/zero']);
  });

  test('no service is reached through a socket in a directory, an abstract one or a port', async ({
    skip,
  }) => {
    const { directory, run } = await attack(who, skip);
    const reached: string[] = [];
    const server = (name: string): Server =>
      createServer((socket) => {
        reached.push(name);
        socket.destroy();
      });
    mkdirSync(join(directory, 'deep'), { mode: 0o777 });
    const path = join(directory, 'deep', 'service.sock');
    const abstract = `\0ramet-wall-${process.pid}-${who.length}`;
    await listening(server('path'), path);
    chmodSync(path, 0o777);
    await listening(server('abstract'), abstract);
    const address = (await listening(server('port'), 0)).address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const script = join(directory, 'connect.cjs');
    writeFileSync(
      script,
      `const net = require('node:net');
      for (const target of ${JSON.stringify([{ path }, { path: abstract }, { port, host: '127.0.0.1' }, { port: 80, host: '192.0.2.1' }])})
        net.connect(target).on('connect', () => console.log('reached')).on('error', (error) => console.log(error.code));`,
    );
    const codes = (await run(`${JSON.stringify(process.execPath)} ${script}`)).trim().split('\n');
    expect(codes.toSorted()).toEqual(['ECONNREFUSED', 'ENETUNREACH', 'EPERM', 'EPERM']);
    expect(reached).toEqual([]);
  });

  test('processes of the host are neither seen nor ended, and their environment is not read', async ({
    skip,
  }) => {
    const { run } = await attack(who, skip);
    const victim = spawn('sleep', ['600'], { env: { SECRET: 'hunter2' } });
    onTestFinished(() => void victim.kill('SIGKILL'));
    const seen = await run(
      `kill -9 ${victim.pid}; kill -9 -1 & cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep SECRET; ` +
        `cat /proc/${victim.pid}/environ; ls -d /proc/[0-9]* | wc -l`,
    );
    expect(seen).not.toContain('hunter2');
    await sleep(20);
    expect([victim.exitCode, victim.signalCode]).toEqual([null, null]);
  });

  test('nothing that it starts outlives it, whatever session it goes to', async ({ skip }) => {
    const { run } = await attack(who, skip);
    const word = `9${process.pid}${who.length}`;
    const runs = (): boolean =>
      readdirSync('/proc').some((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
        } catch {
          return false;
        }
      });
    // As a service does it: twice away from the shell, and deaf.
    const command = `trap '' TERM HUP; (setsid bash -c "setsid nohup sleep ${word} >/dev/null 2>&1 &" >/dev/null 2>&1 &); sleep 0.1; echo end`;
    expect(await run(command)).toBe('end\n');
    while (runs()) await sleep(5);
  });

  test('the host can be read: files below /tmp and /dev/shm too', async ({ skip }) => {
    const { directory, run } = await attack(who, skip);
    writeFileSync(join(directory, 'seen'), 'seen\n');
    expect(await run(`cat ${join(directory, 'seen')}`)).toBe('seen\n');
    if (!existsSync('/dev/shm')) return;
    const shared = `/dev/shm/ramet-wall-${process.pid}-${who.length}`;
    onTestFinished(() => rmSync(shared, { force: true }));
    writeFileSync(shared, 'shared\n');
    expect(await run(`cat ${shared}`)).toBe('shared\n');
  });

  test('no right and one filter is what a command has, and no descriptor but its three', async ({ skip }) => {
    const { run } = await attack(who, skip);
    const status = await run(
      `grep -E '^(CapEff|CapPrm|NoNewPrivs|Seccomp):' /proc/self/status; ls /proc/self/fd`,
    );
    expect(status.replaceAll('\t', ' ')).toBe(
      'CapPrm: 0000000000000000\nCapEff: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n0\n1\n2\n3\n',
    );
  });
});

test('SEC-1: a login while a command runs is not seen by it either', async ({ skip }) => {
  const { run } = await workingSandbox(skip);
  const cwd = temporaryDirectory();
  const home = join(cwd, 'home');
  mkdirSync(home);
  symlinkSync(home, join(cwd, 'link'));
  const command =
    'until [ -e go ]; do sleep 0.01; done; ls -A home; cat home/mcp/* link/mcp/*; : > home/mcp/new';
  const running = run(command, { cwd, logins: join(cwd, 'link', 'mcp') });
  writeFiles(home, { 'mcp/server.json': 'a token' });
  writeFileSync(join(cwd, 'go'), '');
  const { output } = await running;
  expect(output).toMatch(/^mcp\n/);
  expect(output).toContain('new: Read-only file system');
  expect(output).not.toContain('a token');
});

test('RES-3: a directory that this process has inherited does not lead out', async ({ skip }) => {
  const { program } = await workingSandbox(skip);
  const directory = temporaryDirectory();
  const module = join(import.meta.dirname, 'bubblewrap.ts');
  const script = join(directory, 'start.ts');
  writeFileSync(
    script,
    `import { spawnSync } from 'node:child_process';
    import { bubblewrapArguments, openFilter } from ${JSON.stringify(module)};
    const words = bubblewrapArguments('echo x > /proc/self/fd/40/new; echo "[$1]"', '/', { words: ['bash', 'a b'] });
    spawnSync(${JSON.stringify(program)}, words, { stdio: ['ignore', 'inherit', 'inherit', openFilter()] });`,
  );
  const held = openSync(directory, 'r');
  onTestFinished(() => closeSync(held));
  const stdio = [...Array(40).fill('ignore'), held];
  stdio[1] = 'pipe';
  const end = spawnSync(process.execPath, [script], { stdio, encoding: 'utf8' });
  expect(String(end.output[1])).toBe('[a b]\n');
  expect(readdirSync(directory)).toEqual(['start.ts']);
});
