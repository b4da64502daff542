/**
 * Whether the read-only sandbox has changed what a command printed. The system does not tell, so it is read from the
 * messages by which programs name the error they met. A sandbox that fails a command silently is not noticed here:
 * programs whose answer depends on what it hides are not run in it to begin with.
 */

export type SandboxDoing =
  /** It made the command fail: why, after "because". */
  | { kind: 'stopped'; reason: string }
  /** It may have: the command succeeded, and an error is in what it printed. */
  | { kind: 'doubtful'; reason: string }
  /** Owners of files are shown that are others outside. */
  | { kind: 'owners' };

interface Sign {
  readonly reason: string;
  readonly text: RegExp;
  /** Also outside the sandbox an everyday error, except for root. */
  readonly rootOnly?: true;
}

/** As a message ends with it, or as a language's error begins with it. */
function sign(reason: string, ...texts: readonly string[]): Sign {
  return { reason, text: new RegExp(`(?:^|[\\s:[(])(?:${texts.join('|')})(?=$|[\\s.,:;)\\]])`, 'im') };
}

const SIGNS: readonly Sign[] = [
  sign('it cannot be set up for this command', '^bwrap: .*'),
  sign('files are read-only there', 'read-only file system', 'EROFS'),
  sign(
    'there is no network there',
    ...['network is unreachable', 'ENETUNREACH', 'could not resolve (?:host|hostname|proxy)', 'EAI_AGAIN'],
    ...['unable to resolve host', 'temporary failure in name resolution', 'name or service not known'],
    ...['connection refused', 'ECONNREFUSED', 'no such host', 'getaddrinfo \\w+'],
  ),
  sign('services and system calls are refused there', 'operation not permitted', 'EPERM', 'bad system call'),
  { ...sign('root has no special rights there', 'permission denied', 'EACCES'), rootOnly: true },
];

const FOREIGN_OWNER = /\bnogroup\b|\b65534\b/;

/** `output` is what the command printed, with its exit code when it failed. */
export function sandboxDoing(
  { output, failed }: { output: string; failed: boolean },
  root: boolean = process.getuid?.() === 0,
): SandboxDoing | null {
  const found = SIGNS.find(({ text, rootOnly }) => (root || rootOnly !== true) && text.test(output));
  if (found !== undefined) return { kind: failed ? 'stopped' : 'doubtful', reason: found.reason };
  return !root && FOREIGN_OWNER.test(output) ? { kind: 'owners' } : null;
}
