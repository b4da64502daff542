/** `ramet trust`: says that what this repository brings may run and widen rights, or takes that back (SEC-1). */

import { changeTrust, notForTrust, type TrustReview, trustOf } from '../../sdk/calls/trust.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { printable } from '../../views/text/format.ts';
import { type CommandIo, callFrom } from '../io.ts';

interface TrustFlags {
  revoke?: boolean;
  show?: boolean;
  json?: boolean;
}

export async function trust(flags: TrustFlags, io: CommandIo): Promise<void> {
  const { revoke, show } = flags;
  const call = callFrom(io);
  const found = (show ? null : changeTrust(revoke ? 'revoke' : 'trust', call)) ?? trustOf(call);
  if (flags.json) io.out(jsonLine(reviewObject(found, show ? found.isTrusted : !revoke)));
  else
    io.out(
      `${[...(revoke ? [] : reviewLines(found.parts)), answer(flags, found)].map(printable).join('\n')}\n`,
    );
  if (!revoke) for (const line of await notForTrust(call)) io.note(line);
}

function reviewObject({ root, parts, isOld }: TrustReview, isTrusted: boolean): Record<string, unknown> {
  return { root, is_trusted: isTrusted, is_old: isOld, parts };
}

/** What trust is about, each with what has changed of it. */
export function reviewLines(parts: TrustReview['parts']): string[] {
  return parts.flatMap(({ kind, source, state, difference, files, unfollowed }) => [
    `${state.padEnd(8)} ${kind}: ${source}${files.length === 0 ? '' : ` (with ${files.join(', ')})`}`,
    ...(state === 'trusted' ? [] : difference.map((line) => `  ${line}`)),
    ...unfollowed.map((what) => `  not followed: ${what}`),
  ]);
}

function answer({ revoke, show }: TrustFlags, { root, isTrusted, isOld, parts }: TrustReview): string {
  if (revoke) return isTrusted ? `${root} is no longer trusted` : `${root} was not trusted`;
  const changed = parts.filter(({ state }) => state !== 'trusted').length;
  if (show) {
    if (!isTrusted) return `${root} is not trusted`;
    if (isOld) return `${root} is trusted, but not for hooks and servers: run ramet trust again`;
    const rest = changed === 0 ? '' : `, but not for what is new or changed above: run ramet trust again`;
    return `${root} is trusted${rest}`;
  }
  return `${root} is trusted as it is now: its settings may allow tools and choose a mode, its hooks and agent definitions count (ramet trust --revoke takes it back)`;
}
