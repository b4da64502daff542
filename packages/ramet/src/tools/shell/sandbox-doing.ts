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
  /** Expressions for what a program prints. */
  readonly texts: readonly string[];
  /** Also outside the sandbox an everyday error, except for root. */
  readonly rootOnly?: true;
}

const SIGNS: readonly Sign[] = [
  { reason: 'it cannot be set up for this command', texts: ['^bwrap: .*'] },
  { reason: 'files are read-only there', texts: ['read-only file system', 'EROFS'] },
  {
    reason: 'there is no network there',
    texts: [
      ...['network is unreachable', 'ENETUNREACH', 'could not resolve (?:host|hostname|proxy)', 'EAI_AGAIN'],
      ...['unable to resolve host', 'temporary failure in name resolution', 'name or service not known'],
      ...['connection refused', 'ECONNREFUSED', 'no such host', 'getaddrinfo \\w+'],
    ],
  },
  {
    reason: 'services and system calls are refused there',
    texts: ['operation not permitted', 'EPERM', 'bad system call'],
  },
  { reason: 'root has no special rights there', texts: ['permission denied', 'EACCES'], rootOnly: true },
];

/** As a message ends with it, or as a language's error begins with it. */
function shows(output: string, { texts }: Sign): boolean {
  return new RegExp(`(?:^|[\\s:[(])(?:${texts.join('|')})(?=$|[\\s.,:;)\\]])`, 'im').test(output);
}

const FOREIGN_OWNER = /\bnogroup\b|\b65534\b/;

/** `output` is what the command printed, with its exit code when it failed. */
export function sandboxDoing(
  { output, failed }: { output: string; failed: boolean },
  root: boolean = process.getuid?.() === 0,
): SandboxDoing | null {
  const found = SIGNS.find((sign) => (root || sign.rootOnly !== true) && shows(output, sign));
  if (found !== undefined) return { kind: failed ? 'stopped' : 'doubtful', reason: found.reason };
  return !root && FOREIGN_OWNER.test(output) ? { kind: 'owners' } : null;
}
