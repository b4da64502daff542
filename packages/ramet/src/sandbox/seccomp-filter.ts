/**
 * The system calls that a sandbox for reading refuses, as a classic BPF program (`man 2 seccomp`). Mounts make files
 * read-only; they do not stop a program that asks a service to write, through a Unix socket, which can be anywhere in
 * the file system. io_uring makes sockets without the call that is checked here.
 *
 * Invariants
 * 1. Calls of another architecture, x32 included, end the process: their numbers mean something else.
 * 2. Of sockets only IPv4, IPv6 and netlink can be made, which see nothing but the sandbox's own empty network.
 * 3. Pairs of connected stream sockets can be made, which programs use as pipes. Of datagrams not: one of such a pair
 *    can be sent to any other socket by its path.
 * 4. No user namespace can be made, in which a process would have rights over mounts again.
 */

interface Architecture {
  /** As the kernel's audit names it. */
  readonly token: number;
  /** Numbers from here on belong to x32. */
  readonly foreignFrom: number | null;
  readonly socket: number;
  readonly socketpair: number;
  readonly clone: number;
  /** unshare, setns, mount, umount2, pivot_root, add_key, request_key, keyctl, bpf, perf_event_open, userfaultfd. */
  readonly forbidden: readonly number[];
}

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    ...{ token: 0xc000003e, foreignFrom: 0x4000_0000, socket: 41, socketpair: 53, clone: 56 },
    forbidden: [272, 308, 165, 166, 155, 248, 249, 250, 321, 298, 323],
  },
  arm64: {
    ...{ token: 0xc00000b7, foreignFrom: null, socket: 198, socketpair: 199, clone: 220 },
    forbidden: [97, 268, 40, 39, 41, 217, 218, 219, 280, 241, 282],
  },
};

/** The same number everywhere: io_uring_setup, open_tree to fspick, clone3, mount_setattr. Programs do without them. */
const UNKNOWN = [425, 428, 429, 430, 431, 432, 433, 435, 442];

const [EPERM, ENOSYS] = [1, 38];
const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16];
const [SOCK_STREAM, SOCK_SEQPACKET, SOCK_TYPE_MASK] = [1, 5, 0xf];
const CLONE_NEWUSER = 0x1000_0000;

/** Where `struct seccomp_data` has these; of arguments the lower half, which is all that the kernel looks at. */
const [NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT] = [0, 4, 16, 24];

interface Instruction {
  readonly code: number;
  /** How many instructions are left out when it holds, and when not. */
  readonly jump?: readonly [number, number];
  readonly value: number;
}

const load = (offset: number): Instruction => ({ code: 0x20, value: offset });
const and = (value: number): Instruction => ({ code: 0x54, value });
const unlessEqual = (value: number, skipped: number): Instruction => ({
  ...{ code: 0x15, jump: [0, skipped], value },
});
const ifEqual = (value: number, skipped: number): Instruction => ({
  ...{ code: 0x15, jump: [skipped, 0], value },
});
const unlessAtLeast = (value: number, skipped: number): Instruction => ({
  ...{ code: 0x35, jump: [0, skipped], value },
});
const unlessSet = (value: number, skipped: number): Instruction => ({
  ...{ code: 0x45, jump: [0, skipped], value },
});
const give = (value: number): Instruction => ({ code: 0x06, value });

const ALLOW = give(0x7fff_0000);
const KILL_PROCESS = give(0x8000_0000);
const fail = (code: number): Instruction => give(0x0005_0000 | code);

/** The program's bytes; null for an architecture whose numbers are not known here. */
export function seccompFilter(architecture: string = process.arch): Uint8Array | null {
  const known = ARCHITECTURES[architecture];
  return known === undefined ? null : encode(program(known));
}

function program({ token, foreignFrom, socket, socketpair, clone, forbidden }: Architecture): Instruction[] {
  const foreign = foreignFrom === null ? [] : [unlessAtLeast(foreignFrom, 1), KILL_PROCESS];
  return [
    ...[load(ARCHITECTURE), ifEqual(token, 1), KILL_PROCESS],
    ...[load(NUMBER), ...foreign],
    ...onCall(socket, [
      load(FIRST_ARGUMENT),
      ...[ifEqual(AF_INET, 3), ifEqual(AF_INET6, 2), ifEqual(AF_NETLINK, 1), fail(EPERM)],
    ]),
    ...onCall(socketpair, [
      ...[load(FIRST_ARGUMENT), ifEqual(AF_UNIX, 1), fail(EPERM)],
      ...[load(SECOND_ARGUMENT), and(SOCK_TYPE_MASK)],
      ...[ifEqual(SOCK_STREAM, 2), ifEqual(SOCK_SEQPACKET, 1), fail(EPERM)],
    ]),
    ...onCall(clone, [load(FIRST_ARGUMENT), unlessSet(CLONE_NEWUSER, 1), fail(EPERM)]),
    ...forbidden.flatMap((call) => [unlessEqual(call, 1), fail(EPERM)]),
    ...UNKNOWN.flatMap((call) => [unlessEqual(call, 1), fail(ENOSYS)]),
    ALLOW,
  ];
}

/** What is done about one call; it is allowed where `steps` come to their end. */
function onCall(call: number, steps: readonly Instruction[]): Instruction[] {
  return [unlessEqual(call, steps.length + 1), ...steps, ALLOW];
}

/** `struct sock_filter`: both architectures have the lowest byte first. */
function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [index, { code, jump = [0, 0], value }] of instructions.entries()) {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, jump[0]);
    bytes.setUint8(index * 8 + 3, jump[1]);
    bytes.setUint32(index * 8 + 4, value, true);
  }
  return new Uint8Array(bytes.buffer);
}
