import { describe, expect, test } from 'vitest';
import { sandboxDoing } from './sandbox-doing.ts';

const reasonOf = (output: string, root = false): string | null => {
  const doing = sandboxDoing({ output: `${output}\nExit code 1.`, failed: true }, root);
  return doing === null || doing.kind === 'owners' ? null : doing.reason;
};

describe('RES-3: what shows that the sandbox made a command fail', () => {
  test.for([
    "touch: cannot touch 'new': Read-only file system",
    "fatal: Unable to create '/srv/.git/index.lock': Read-only file system",
    "OSError: [Errno 30] Read-only file system: 'new'",
    "Error: EROFS: read-only file system, open 'new'",
    'open new: read-only file system',
    'Error: Os { code: 30, kind: ReadOnlyFilesystem, message: "Read-only file system" }: Read-only file system (os error 30)',
  ])('%s', (output) => {
    expect(reasonOf(output)).toBe('files are read-only there');
  });

  test.for([
    'curl: (6) Could not resolve host: example.com',
    "fatal: unable to access 'https://example.com/': Could not resolve host: example.com",
    'curl: (7) Failed to connect to 127.0.0.1 port 3000 after 0 ms: Connection refused',
    'ssh: Could not resolve hostname example.com: Temporary failure in name resolution',
    'connect: Network is unreachable',
    'Error: getaddrinfo EAI_AGAIN example.com',
    'dial tcp: lookup example.com: no such host',
    'wget: unable to resolve host address ‘example.com’',
  ])('%s', (output) => {
    expect(reasonOf(output)).toBe('there is no network there');
  });

  test.for([
    'error connecting to /tmp/tmux-0/default (Operation not permitted)',
    'Failed to connect to bus: Operation not permitted',
    'dial unix /run/docker.sock: socket: operation not permitted',
    'bash: line 1:  7 Bad system call         (core dumped) ./old',
    'Error: connect EPERM /run/x.sock - Local (undefined:undefined)',
  ])('%s', (output) => {
    expect(reasonOf(output)).toBe('services and system calls are refused there');
  });

  test('a sandbox that cannot be set up', () => {
    expect(reasonOf("bwrap: Can't chdir to /proc/77: No such file or directory")).toBe(
      'it cannot be set up for this command',
    );
  });

  test('missing rights, for root: others have them no more outside', () => {
    const output = 'cat: /home/user/.netrc: Permission denied';
    expect(reasonOf(output, true)).toBe('root has no special rights there');
    expect(reasonOf(output, false)).toBeNull();
  });
});

describe('RES-3: what does not', () => {
  test.for([
    'ls: cannot access missing: No such file or directory',
    '',
    'src/errno.ts: EROFS_CODE = 30',
    'no-EPERM-here',
  ])('%s', (output) => {
    expect(reasonOf(output, true)).toBeNull();
  });

  test('a command that succeeds has not failed, and the error in its output is doubtful', () => {
    const output = 'git: Could not resolve host: example.com';
    expect(sandboxDoing({ output, failed: false }, false)).toMatchObject({ kind: 'doubtful' });
    expect(sandboxDoing({ output: 'README.md', failed: false }, true)).toBeNull();
  });

  test('a user who is not root sees owners as others', () => {
    const output = 'drwxr-xr-x 9 nobody nogroup 180 Jan  1 00:00 ..';
    expect(sandboxDoing({ output, failed: false }, false)).toEqual({ kind: 'owners' });
    expect(sandboxDoing({ output, failed: false }, true)).toBeNull();
  });
});
