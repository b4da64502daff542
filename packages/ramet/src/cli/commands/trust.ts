/** `ramet trust`: says that what this repository brings may run and widen rights, or takes that back (SEC-1). */

import { changeTrust, trustOf } from '../../sdk/calls/settings-report.ts';
import { printable } from '../../views/text/format.ts';
import { type CommandIo, callFrom } from '../io.ts';

export function trust(options: { revoke?: boolean; show?: boolean }, io: CommandIo): void {
  io.out(`${printable(answer(options, io))}\n`);
}

function answer({ revoke, show }: { revoke?: boolean; show?: boolean }, io: CommandIo): string {
  const { root, isTrusted } = show
    ? trustOf(callFrom(io))
    : changeTrust(revoke ? 'revoke' : 'trust', callFrom(io));
  if (show) return `${root} is ${isTrusted ? 'trusted' : 'not trusted'}`;
  if (revoke) return isTrusted ? `${root} is no longer trusted` : `${root} was not trusted`;
  return `${root} is trusted: its settings may allow tools and choose a mode, and its agent definitions count (ramet trust --revoke takes it back)`;
}
