/**
 * Asks, before a conversation on a terminal begins, about what has changed in a trusted folder (SEC-1), with the
 * difference. A folder that was never trusted is not asked about: notices say what does not count there.
 */
import { systemClock } from '../../../../schema/clock.ts';
import { Cancelled } from '../../../../schema/errors.ts';
import type { CallOptions } from '../../../../sdk/calls/caller.ts';
import type { TrustReview } from '../../../../sdk/calls/trust.ts';
import { printable } from '../../../../views/text/format.ts';
import { reviewLines } from '../../../commands/trust.ts';
import { type CommandIo, callFrom } from '../../../io.ts';
import type { Key } from '../../editor/key-parser.ts';
import { lineBlocks } from '../../markdown/blocks.ts';
import { openTerminal } from '../../screen/terminal-device.ts';

/** As in other questions. */
const GUARD_MS = 700;
const USUAL_ROWS = 24;
const ROWS_OF_QUESTION = 2;
const LEAST_LINES = 5;

export async function askAboutTrust(io: CommandIo): Promise<void> {
  const { changeTrust, isAskedAbout, noteAsked, trustOf } = await import('../../../../sdk/calls/trust.ts');
  const call: CallOptions = callFrom(io);
  let review = trustOf(call);
  if (!review.isTrusted || !hasNews(review) || isAskedAbout(review, call)) return;
  io.out(`${reasonOf(review)}:\n`);
  for (;;) {
    const isWanted = await isConfirmed(review, io);
    if (!isWanted) {
      const said =
        'What is new or changed is not used. ramet trust takes it; you are asked again when it changes.';
      const rows = lineBlocks(said).flatMap((block) => [...block.rows(io.columns ?? 80)]);
      io.out(rows.map(({ text }) => `${text}\n`).join(''));
      return noteAsked(review, call);
    }
    if (changeTrust('trust', { ...call, seen: review.digest }) !== null) return;
    io.out('It has changed again:\n');
    review = trustOf(call);
  }
}

function hasNews({ parts }: TrustReview): boolean {
  return parts.some(({ state }) => state === 'new' || state === 'changed');
}

function reasonOf({ root, parts }: TrustReview): string {
  const isMore = parts.every(({ state, followsMore }) => state === 'trusted' || followsMore);
  return isMore
    ? `${root} is what you trusted, and this version of Ramet follows more files that it runs`
    : `${root} is not what you trusted`;
}

/** Everything is shown before yes counts, page by page: what matters may stand at the end. */
async function isConfirmed({ parts }: TrustReview, io: CommandIo): Promise<boolean> {
  const fresh = parts.filter(({ state }) => state !== 'trusted');
  const lines = reviewLines(fresh).map(printable);
  const page = Math.max(LEAST_LINES, (process.stdout.rows ?? USUAL_ROWS) - ROWS_OF_QUESTION);
  for (let from = 0; from < lines.length; from += page) {
    io.out(`${lines.slice(from, from + page).join('\n')}\n`);
    const rest = lines.length - from - page;
    if (rest <= 0) break;
    const answer = await ask(`${rest} more ${rest === 1 ? 'line' : 'lines'}.`, ' [Enter, or n to stop] ', io);
    if (answer.trim() !== '') return false;
  }
  const answer = await ask('Trust it as it is now?', ' [y/N] ', io);
  return /^y(?:es)?$/i.test(answer.trim());
}

/** A line, key by key. What was typed before the question could be read answers nothing, nor does what is pasted. */
async function ask(question: string, choice: string, io: CommandIo): Promise<string> {
  const answered = Promise.withResolvers<string>();
  let written: string | null = null;
  const key = (key: Key): void => {
    if (key.type === 'press' && key.name === 'interrupt') process.kill(process.pid, 'SIGINT');
    if (written === null || key.type === 'paste') return;
    if (key.type === 'text') {
      written += key.text;
      io.out(printable(key.text));
    } else if (key.name === 'enter') answered.resolve(written);
    else if (key.name === 'escape' || key.name === 'end-of-input') answered.resolve('no');
    else if (key.name === 'backspace' && written !== '') {
      written = written.slice(0, -1);
      io.out('\b \b');
    }
  };
  const leave = (): void => answered.reject(new Cancelled('the question was interrupted'));
  io.signal.addEventListener('abort', leave, { once: true });
  // Before the question is written: until then the terminal itself shows what is typed, in the middle of its line.
  using _ = openTerminal({ key, keysTaken() {}, resized() {}, gone: leave });
  io.out(question);
  await systemClock.sleep(GUARD_MS, io.signal);
  if (!io.signal.aborted) io.out(choice);
  written = '';
  try {
    return await answered.promise;
  } finally {
    io.signal.removeEventListener('abort', leave);
    io.out('\n');
  }
}
