import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { UserMistake } from '../schema/errors.ts';
import { type FileSystemFacts, networkFileSystem, refuseNetworkHome } from './disk-trouble.ts';

const MOUNTS = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:44 / /home/me/far\\040away rw,nosuid - fuse.sshfs me@host:/ rw
41 22 0:45 / /home/me/secret rw - fuse.gocryptfs /home/me/.secret rw
42 22 0:46 / /over rw - fuse.sshfs me@host:/ rw
43 42 0:47 / /over rw - fuse.fuse-overlayfs fuse-overlayfs rw`;

const facts = (type: number): FileSystemFacts => ({ typeOf: () => type, mounts: () => MOUNTS });

describe('LOG-1: a home on a network file system', () => {
  test.each([
    [0x6969, 'NFS'],
    [0xff534d42, 'SMB (CIFS)'],
    [-11317950, 'SMB (CIFS)'],
    [0xfe534d42, 'SMB'],
    [0xef53, null],
    [0x01021994, null],
  ])('is told by its type: %s is %s', (type, name) => {
    expect(networkFileSystem('/home/me', facts(type))).toBe(name);
  });

  test.each([
    ['/home/me/far away/.ramet', 'sshfs'],
    ['/home/me/far away', 'sshfs'],
    ['/home/me/secret/.ramet', null],
    ['/over/there', null],
    ['/home/me/far', null],
  ])('is told by its mount where it is FUSE: %s is %s', (directory, name) => {
    expect(networkFileSystem(directory, facts(0x65735546))).toBe(name);
  });

  test('is refused in one line', () => {
    expect(() => refuseNetworkHome('/net/home', facts(0x6969))).toThrow(UserMistake);
    expect(() => refuseNetworkHome('/net/home', facts(0x6969))).toThrow(
      'cannot keep sessions in /net/home: it is on a network file system (NFS), where two machines could write one session; set RAMET_HOME to a directory on a local disk',
    );
  });

  test('is nobody’s guess: a directory that does not tell is used', () => {
    expect(networkFileSystem('/nowhere/at/all')).toBeNull();
    expect(networkFileSystem(tmpdir())).toBeNull();
  });
});
