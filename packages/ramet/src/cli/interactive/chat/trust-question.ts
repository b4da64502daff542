/**
 * Asks, before a conversation on a terminal begins, about what has changed in a trusted folder (SEC-1), with the
 * difference. A folder that was never trusted is not asked about: notices say what does not count there.
 */
import { createInterface } from 'node:readline/promises';
import type { CallOptions } from '../../../sdk/calls/caller.ts';
import type { TrustReview } from '../../../sdk/calls/trust.ts';
import { printable } from '../../../views/text/format.ts';
import { reviewLines } from '../../commands/trust.ts';
import { type CommandIo, callFrom } from '../../io.ts';

const MOST_LINES = 60;

export async function askAboutTrust(io: CommandIo): Promise<void> {
  const { changeTrust, isAskedAbout, noteAsked, trustOf } = await import('../../../sdk/calls/trust.ts');
  const call: CallOptions = callFrom(io);
  let review = trustOf(call);
  if (!review.isTrusted || !hasNews(review) || isAskedAbout(review, call)) return;
  io.out(`${review.root} is not what you trusted:\n`);
  for (;;) {
    const isWanted = await isConfirmed(review, io);
    if (!isWanted) return noteAsked(review, call);
    if (changeTrust('trust', { ...call, seen: review.digest }) !== null) return;
    io.out('It has changed again:\n');
    review = trustOf(call);
  }
}

function hasNews({ parts }: TrustReview): boolean {
  return parts.some(({ state }) => state === 'new' || state === 'changed');
}

async function isConfirmed({ parts }: TrustReview, io: CommandIo): Promise<boolean> {
  const fresh = parts.filter(({ state }) => state !== 'trusted');
  const lines = reviewLines(fresh).map(printable);
  const rest = lines.length - MOST_LINES;
  io.out(`${lines.slice(0, MOST_LINES).join('\n')}\n`);
  if (rest > 0) io.out(`... and ${rest} more lines: ramet trust --show\n`);
  const input = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  try {
    const answer = await input.question('Trust it as it is now? [y/N] ', { signal: io.signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    input.close();
  }
}
