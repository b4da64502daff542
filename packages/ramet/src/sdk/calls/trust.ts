/** Whether what a repository brings may run and widen rights (SEC-1). */
import { isTrusted, revokeTrust, trust } from '../../system/trust.ts';
import { findPlace } from '../place.ts';
import { type CallOptions, callerOf } from './caller.ts';

export interface TrustedFolder {
  root: string;
  isTrusted: boolean;
}

export function trustOf(options: CallOptions = {}): TrustedFolder {
  const place = trustPlace(options);
  return { root: place.root, isTrusted: isTrusted(place) };
}

/** Returns what was so before. */
export function changeTrust(wanted: 'trust' | 'revoke', options: CallOptions = {}): TrustedFolder {
  const place = trustPlace(options);
  if (wanted === 'revoke') return { root: place.root, isTrusted: revokeTrust(place) };
  const before = isTrusted(place);
  trust(place);
  return { root: place.root, isTrusted: before };
}

function trustPlace(options: CallOptions): { home: string; root: string } {
  const { cwd, repository, home } = findPlace(callerOf(options));
  return { home, root: repository?.root ?? cwd };
}
