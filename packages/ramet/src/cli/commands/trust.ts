/** `ramet trust`: says that what this repository brings may run and widen rights, or takes that back (SEC-1). */

import { findPlace } from '../../sdk/place.ts';
import { printable } from '../../views/text/format.ts';
import { isTrusted, revokeTrust, trust as trustRoot } from '../../workspace/trust.ts';
import type { CommandIo } from '../io.ts';

export function trust(options: { revoke?: boolean; show?: boolean }, io: CommandIo): void {
  const { cwd, repository, home } = findPlace(io);
  const place = { home, root: repository?.root ?? cwd };
  io.out(`${printable(answer(options, place))}\n`);
}

function answer(
  { revoke, show }: { revoke?: boolean; show?: boolean },
  place: { home: string; root: string },
): string {
  const { root } = place;
  if (show) return `${root} is ${isTrusted(place) ? 'trusted' : 'not trusted'}`;
  if (revoke) return revokeTrust(place) ? `${root} is no longer trusted` : `${root} was not trusted`;
  trustRoot(place);
  return `${root} is trusted: its settings may allow tools and choose a mode, and its agent definitions count (ramet trust --revoke takes it back)`;
}
