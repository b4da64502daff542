import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, relative as pathFrom } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runSync } from '../../test/fixtures/run-sync.ts';
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
  runSync('mkfifo', [fifo]);
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

const MINUTE_AGO = Date.now() / 1_000 - 60;
const HOUR_AGO = Date.now() / 1_000 - 3_600;

/** Starts a server, and says its process. */
const SERVE = `"$0" -e 'process.title = process.argv[2] || "other"; require("node:net").createServer((s) => s.destroy()).listen(process.argv[1])' "$1" "$2" > /dev/null 2>&1 &
echo $!; until test -S "$1"; do sleep 0.02; done`;

function stopLater(id: string): void {
  onTestFinished(() => void process.kill(Number(id)));
}

test("WORK-7: what the user's own programs listen to is not reached, wherever it is; what agents started is", async ({
  skip,
}) => {
  const { program } = await workingSandbox(skip);
  const directory = temporaryDirectory();
  const [own, shared, home] = ['own', 'shared', 'home'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const tmux = join(shared, 'tmux-x');
  const copy = join(directory, 'copy');
  for (const folder of [own, tmux, copy, join(home, '.gnupg')]) mkdirSync(folder, { recursive: true });
  const hidden = ['shared/editor.sock', 'shared/deep/er/tmux.sock', 'home/relative.sock', 'home/x.sock'];
  const open = ['shared/key.sock', 'home/.gnupg/S.gpg-agent', 'home/kept.sock', 'own/mine.sock'];
  const young = 'shared/young.sock';
  const [brief, orders] = ['shared/brief.sock', 'home/orders.sock'];
  const relative = hidden[2] ?? '';
  for (const name of [...hidden, ...open, young, brief])
    if (name !== relative) await listen(join(directory, name));
  writeFileSync(join(own, 'ask.cjs'), ASK);
  const env = { PATH: process.env.PATH ?? '', HOME: home, SSH_AUTH_SOCK: join(directory, 'shared/key.sock') };
  const bounds = {
    ...{ shared: [shared], guarded: [], own: [own], made: [] },
    caches: [{ folder: tmux, copy, whenLarge: 'empty' as const }],
    services: {
      env,
      run: [],
      kept: [join(home, 'kept.sock')],
      // As tmux says it of a socket that was given by a relative path.
      started: { TMUX: `${pathFrom(process.cwd(), join(directory, young))},${process.pid},0` },
    },
  };
  for (const words of [['relative.sock'], ['orders.sock', 'tmux: server']])
    stopLater(runSync('bash', ['-c', SERVE, process.execPath, ...words], { cwd: home }));
  const mine = ['shared/agent.sock', 'shared/tmux-x/default'];
  for (const name of mine) {
    const start = isolatedStart(bounds, own, SERVE, process.execPath, join(directory, name));
    stopLater((await runIsolated(program, start, { env })).stdout);
  }
  for (const name of [...hidden, ...open, 'shared/agent.sock'])
    utimesSync(join(directory, name), HOUR_AGO, HOUR_AGO);
  for (const name of [brief, orders]) utimesSync(join(directory, name), MINUTE_AGO, MINUTE_AGO);
  const nowhere = [...hidden, young, orders, 'shared/moved/er/tmux.sock'];
  const names = [...nowhere, ...open, brief, ...mine];
  const words = [process.execPath, join(own, 'ask.cjs'), ...names.map((name) => join(directory, name))];
  await runIsolated(program, isolatedStart(bounds, own, 'mv "$0/deep" "$0/moved"', shared), { env });
  const { stdout } = await runIsolated(program, isolatedStart(bounds, own, '"$0" "$@"', ...words), { env });
  const lines = stdout.replaceAll(`${directory}/`, '').trim().split('\n');
  expect(lines.toSorted()).toEqual(
    [
      ...nowhere.map((name) => `nobody ${name}`),
      ...[...open, brief, ...mine].map((name) => `reached ${name}`),
    ].toSorted(),
  );
});
