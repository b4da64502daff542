import { describe, expect, test } from 'vitest';
import { seccompFilter } from './seccomp-filter.ts';

interface SystemCall {
  number: number;
  token?: number;
  arguments?: readonly number[];
}

/** Carries the program out as the kernel does, as far as this program goes. */
function answer(architecture: string, { number, token, arguments: given = [] }: SystemCall): string {
  const bytes = seccompFilter(architecture);
  if (bytes === null) throw new Error('no filter');
  const view = new DataView(bytes.buffer);
  const own = architecture === 'x64' ? 0xc000003e : 0xc00000b7;
  const data = new Map([
    [0, number],
    [4, token ?? own],
  ]);
  for (const [index, value] of given.entries()) data.set(16 + index * 8, value);
  let accumulator = 0;
  for (let at = 0; at < bytes.length / 8; at++) {
    const [code, jumpTrue, jumpFalse, value] = [
      view.getUint16(at * 8, true),
      view.getUint8(at * 8 + 2),
      view.getUint8(at * 8 + 3),
      view.getUint32(at * 8 + 4, true),
    ];
    if (code === 0x20) accumulator = data.get(value) ?? 0;
    else if (code === 0x54) accumulator &= value;
    else if (code === 0x15) at += accumulator === value ? jumpTrue : jumpFalse;
    else if (code === 0x35) at += accumulator >= value ? jumpTrue : jumpFalse;
    else if (code === 0x45) at += (accumulator & value) !== 0 ? jumpTrue : jumpFalse;
    else if (code === 0x06) return NAMES.get(value) ?? value.toString(16);
    else throw new Error(`instruction ${at} has the code ${code}`);
  }
  throw new Error('the program has no end');
}

const NAMES = new Map([
  [0x7fff0000, 'allow'],
  [0x80000000, 'kill'],
  [0x00050001, 'EPERM'],
  [0x00050026, 'ENOSYS'],
]);

const NUMBERS = {
  x64: { socket: 41, socketpair: 53, clone: 56, read: 0, execve: 59, unshare: 272, mount: 165, keyctl: 250 },
  arm64: {
    socket: 198,
    socketpair: 199,
    clone: 220,
    read: 63,
    execve: 221,
    unshare: 97,
    mount: 40,
    keyctl: 219,
  },
};

describe.for(['x64', 'arm64'] as const)('RES-3: the filter of system calls on %s', (architecture) => {
  const { socket, socketpair, clone, read, execve, unshare, mount, keyctl } = NUMBERS[architecture];
  const of = (number: number, ...given: number[]): string =>
    answer(architecture, { number, arguments: given });

  test('leaves ordinary calls alone', () => {
    expect([of(read), of(execve), of(clone, 0x01200011)]).toEqual(['allow', 'allow', 'allow']);
  });

  test('lets only sockets of the empty network be made', () => {
    const allowed = Array.from({ length: 64 }, (_, family) => family).filter(
      (family) => of(socket, family, 1) === 'allow',
    );
    expect(allowed).toEqual([2, 10, 16]);
    expect(of(socket, 1, 1)).toBe('EPERM');
  });

  test('lets only pairs be made that cannot be sent to another socket', () => {
    const [close, nonblocking] = [0o2000000, 0o4000];
    for (const flags of [0, close, nonblocking, close | nonblocking]) {
      const types = [1, 2, 3, 4, 5, 6, 10].filter((type) => of(socketpair, 1, type | flags) === 'allow');
      expect(types).toEqual([1, 5]);
    }
    expect(of(socketpair, 30, 1)).toBe('EPERM');
  });

  test('gives no rights back', () => {
    expect([of(unshare), of(mount), of(keyctl), of(clone, 0x10000011)]).toEqual(Array(4).fill('EPERM'));
  });

  test('hides io_uring, clone3 and the newer calls that mount', () => {
    expect([425, 428, 429, 430, 431, 432, 433, 435, 442].map((number) => of(number))).toEqual(
      Array(9).fill('ENOSYS'),
    );
  });

  test('ends a program that uses the call numbers of another architecture', () => {
    for (const token of [0x40000003, 0x40000028, architecture === 'x64' ? 0xc00000b7 : 0xc000003e]) {
      expect(answer(architecture, { number: read, token })).toBe('kill');
    }
  });
});

test('RES-3: x32 numbers end the process', () => {
  expect(answer('x64', { number: 0x40000000 + 41, arguments: [1, 1] })).toBe('kill');
  expect(answer('x64', { number: 0xffffffff })).toBe('kill');
});

test('RES-3: there is no filter where the numbers are not known', () => {
  expect(seccompFilter('riscv64')).toBeNull();
});
