/** `ramet trust`: says that what this repository brings may run and widen rights, or takes that back (SEC-1). */

import { UserMistake } from '../../schema/errors.ts';
import { changeTrust, notForTrust, type TrustReview, trustOf } from '../../sdk/calls/trust.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { printable } from '../../views/text/format.ts';
import { type CommandIo, callFrom } from '../io.ts';

interface TrustFlags {
  revoke?: boolean;
  show?: boolean;
  json?: boolean;
  full?: boolean;
}

export async function trust(flags: TrustFlags, io: CommandIo): Promise<void> {
  const { revoke, show } = flags;
  const call = callFrom(io);
  const found = (show ? null : changeTrust(revoke ? 'revoke' : 'trust', call)) ?? trustOf(call);
  if (flags.json) io.out(jsonLine(reviewObject(found, show ? found.isTrusted : !revoke)));
  else
    io.out(
      `${[...(revoke ? [] : reviewLines(found.parts, { isFull: flags.full })), ...found.former, answer(flags, found)].map(printable).join('\n')}\n`,
    );
  if (revoke) return;
  for (const line of await notForTrust(call)) io.note(line);
  const { untrustable } = found;
  if (show) for (const line of untrustable) io.note(line);
  else if (untrustable.length > 0) throw new UserMistake('untrustable', untrustable.join('; '));
}

function reviewObject(
  { root, parts, isOld, former, untrustable }: TrustReview,
  isTrusted: boolean,
): Record<string, unknown> {
  return { root, is_trusted: isTrusted, is_old: isOld, former, untrustable, parts };
}

/** How a line says what programs load that no word names. */
const LOADED = / \(what (.+) loads\)$/s;

/** What trust is about, each with what has changed of it. */
export function reviewLines(
  parts: TrustReview['parts'],
  { isFull = false }: { isFull?: boolean | undefined } = {},
): string[] {
  const shown = new Set<string>();
  let others = 0;
  /** Each program once: many commands start the same. */
  const isNew = (line: string): boolean => {
    if (isFull) return true;
    const programs = LOADED.exec(line)?.[1]?.split(', ') ?? [line];
    if (programs.every((one) => shown.has(one))) {
      others++;
      return false;
    }
    for (const one of programs) shown.add(one);
    return true;
  };
  const lines = parts.flatMap(({ kind, source, state, difference, files, unfollowed }) => [
    `${state.padEnd(8)} ${kind}: ${source}${files.length === 0 ? '' : ` (with ${files.join(', ')})`}`,
    ...(state === 'trusted' ? [] : difference.map((line) => `  ${line}`)),
    ...unfollowed.filter(isNew).map((what) => `  not followed: ${what}`),
  ]);
  if (others === 0) return lines;
  const places =
    others === 1
      ? 'place (ramet trust --show --full lists it)'
      : 'places (ramet trust --show --full lists them)';
  return [...lines, `  not followed either: the same in ${others} more ${places}`];
}

function answer(
  { revoke, show }: TrustFlags,
  { root, isTrusted, isOld, parts, former, untrustable }: TrustReview,
): string {
  if (revoke && former.length > 0) return `${root} is not trusted, and what was trusted there is forgotten`;
  if (revoke) return isTrusted ? `${root} is no longer trusted` : `${root} was not trusted`;
  const changed = parts.filter(({ state }) => state !== 'trusted').length;
  if (show) {
    if (!isTrusted) return `${root} is not trusted`;
    if (isOld) return `${root} is trusted, but not for hooks and servers: run ramet trust again`;
    const rest = changed === 0 ? '' : `, but not for what is new or changed above: run ramet trust again`;
    return `${root} is trusted${rest}`;
  }
  const how = untrustable.length === 0 ? 'as it is now' : 'but for what cannot be trusted';
  return `${root} is trusted ${how}: its settings may allow tools and choose a mode, its hooks and agent definitions count (ramet trust --revoke takes it back)`;
}
