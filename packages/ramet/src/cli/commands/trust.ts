/** `ramet trust`: says that what this repository brings may run and widen rights, or takes that back (SEC-1). */

import { changeTrust, trustOf } from '../../sdk/calls/settings-report.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { printable } from '../../views/text/format.ts';
import { type CommandIo, callFrom } from '../io.ts';

interface TrustFlags {
  revoke?: boolean;
  show?: boolean;
  json?: boolean;
}

export function trust(flags: TrustFlags, io: CommandIo): void {
  const { revoke, show } = flags;
  const found = show ? trustOf(callFrom(io)) : changeTrust(revoke ? 'revoke' : 'trust', callFrom(io));
  if (flags.json) io.out(jsonLine({ root: found.root, is_trusted: trustOf(callFrom(io)).isTrusted }));
  else io.out(`${printable(answer(flags, found))}\n`);
}

function answer({ revoke, show }: TrustFlags, { root, isTrusted }: ReturnType<typeof trustOf>): string {
  if (show) return `${root} is ${isTrusted ? 'trusted' : 'not trusted'}`;
  if (revoke) return isTrusted ? `${root} is no longer trusted` : `${root} was not trusted`;
  return `${root} is trusted: its settings may allow tools and choose a mode, and its agent definitions count (ramet trust --revoke takes it back)`;
}
