import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { workingSandbox } from '../../test/fixtures/sandbox.ts';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { isolatedStart, proveBounds, runIsolated } from './isolated-shell.ts';

/** Prints for each socket or pipe that is named whether it is reached. */
const ASK = `const [net, fs] = [require('node:net'), require('node:fs')];
const say = (path, how) => console.log(how + ' ' + path);
for (const path of process.argv.slice(2)) {
  if (/fifo$/.test(path)) {
    try { fs.closeSync(fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_NONBLOCK)); say(path, 'reached'); }
    catch { say(path, 'nobody'); }
  } else {
    const socket = net.connect({ path }, () => { say(path, 'reached'); socket.destroy(); });
    socket.on('error', () => say(path, 'nobody'));
  }
}`;

async function listen(path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((settle) => server.listen(path, settle));
  onTestFinished(() => void server.close());
}

test('WORK-7: no service that works for any caller is reached from a worktree, unless the user wants it', async ({
  skip,
}) => {
  const { program } = await workingSandbox(skip);
  const directory = temporaryDirectory();
  const inside = (name: string): string => join(directory, name);
  const [own, run, home] = [inside('own'), inside('run'), inside('home')];
  mkdirSync(own);
  const user = `run/user/${process.getuid?.() ?? 0}`;
  const services = [
    ...[
      'run/docker.sock',
      'run/dbus/system_bus_socket',
      'run/systemd/private',
      'run/systemd/io.systemd.Manager',
    ],
    ...['run/containerd/containerd.sock', 'run/containerd/other.sock', 'run/snapd.socket', `${user}/bus`],
    ...['home/.docker/desktop/docker.sock', 'elsewhere.sock', 'run/screen/S-me/1.pts'],
  ];
  const others = ['run/systemd/notify', 'run/postgresql/s', 'own/mine.sock'];
  const kept = ['run/libvirt/libvirt-sock', 'run/podman/podman.sock', `${user}/p/podman.sock`];
  for (const path of [...services, ...others, ...kept]) await listen(join(directory, path));
  const fifo = join(run, 'systemd/initctl/fifo');
  mkdirSync(dirname(fifo));
  execFileSync('mkfifo', [fifo]);
  symlinkSync(join(run, 'docker.sock'), join(own, 'link.sock'));
  writeFileSync(join(own, 'ask.cjs'), ASK);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    USER: 'me',
    DOCKER_HOST: `unix://${join(directory, 'elsewhere.sock')}`,
  };
  const bounds = {
    ...{ shared: [], caches: [], guarded: [], own: [own], made: [] },
    services: {
      env,
      run: [run],
      kept: ['run/libvirt', ...kept.slice(1)].map((path) => join(directory, path)),
    },
  };
  const ask = async (names: readonly string[]): Promise<string[]> => {
    const words = [process.execPath, join(own, 'ask.cjs'), ...names.map((name) => join(directory, name))];
    const end = await runIsolated(program, isolatedStart(bounds, own, '"$0" "$@"', ...words), { env });
    const lines = end.stdout
      .trim()
      .split('\n')
      .map((line) => line.replace(`${directory}/`, ''));
    return lines.toSorted();
  };
  expect(await proveBounds(program, bounds, own, env)).toBe('held');
  const hidden = [...services, 'run/systemd/initctl/fifo', 'own/link.sock'];
  expect(await ask(hidden)).toEqual(hidden.map((name) => `nobody ${name}`).toSorted());
  const open = [...others, ...kept];
  expect(await ask(open)).toEqual(open.map((name) => `reached ${name}`).toSorted());
});
