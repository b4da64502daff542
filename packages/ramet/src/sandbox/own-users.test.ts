import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { workingSandbox } from '../../test/fixtures/sandbox.ts';
import { ownUsers } from './own-users.ts';

test('WORK-7: an ordinary user has devices, and not the terminals of the machine', async ({ skip }) => {
  const { program } = await workingSandbox(skip);
  const { mounts, arguments: words } = ownUsers(false);
  const script = `stat -c %d /dev/pts; ls /dev/pts; echo x > /dev/null && head -c1 /dev/urandom | wc -c
    t=$(mktemp -p /dev/shm) && rm "$t" && echo shared; cat <(echo read)`;
  const all = [...words, '--ro-bind', '/', '/', ...mounts, '--', 'bash', '-c', script];
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const end = spawnSync(program, all, { encoding: 'utf8', cwd: '/', ...nobody });
  const [device, ...rest] = end.stdout.trim().split('\n');
  expect({ rest, errors: end.stderr }).toEqual({ rest: ['ptmx', '1', 'shared', 'read'], errors: '' });
  expect(Number(device)).not.toBe(statSync('/dev/pts').dev);
});
