/** Whether what a repository brings may run and widen rights (SEC-1), and what has changed since that was said. */
import { relative } from 'node:path';
import { collectParts } from '../../extensions/trust/collect-parts.ts';
import { type DescribedPart, describePart, type PartKind } from '../../extensions/trust/folder-part.ts';
import { changedLines, lineDiff } from '../../system/text/line-diff.ts';
import { revokeTrust, type TrustedPart, trust, trustedEntry } from '../../system/trust.ts';
import { findPlace } from '../place.ts';
import { settingsPlace } from '../session/session-settings.ts';
import { type CallOptions, callerOf } from './caller.ts';

export interface ReviewedPart {
  kind: PartKind;
  /** The file that sets it up. */
  source: string;
  /** `removed`: it was trusted, and is gone. */
  state: 'trusted' | 'new' | 'changed' | 'removed';
  /** Lines that begin with + or -. */
  difference: string[];
  /** Files of the repository that its commands name: they are trusted with it. */
  files: string[];
  /** What its commands name and nobody can follow. */
  unfollowed: string[];
}

export interface TrustReview {
  root: string;
  isTrusted: boolean;
  /** It was trusted by a version that kept no record of what. */
  isOld: boolean;
  parts: ReviewedPart[];
}

export function trustOf(options: CallOptions = {}): TrustReview {
  return review(options).found;
}

/** Returns what was so before. */
export function changeTrust(wanted: 'trust' | 'revoke', options: CallOptions = {}): TrustReview {
  const { place, found, described } = review(options);
  if (wanted === 'revoke') revokeTrust(place);
  else {
    const parts = described.map(({ key, digest, text, files }) => [key, { digest, text, files }] as const);
    trust(place, Object.fromEntries(parts));
  }
  return found;
}

function review(options: CallOptions): {
  place: { home: string; root: string };
  found: TrustReview;
  described: readonly DescribedPart[];
} {
  const { cwd, env } = callerOf(options);
  const here = findPlace({ cwd, env });
  const { folders = [], ...place } = settingsPlace(here, env);
  const { root, home } = place;
  const parts = collectParts({ ...place, cwd: here.cwd, folders });
  const described = parts.map((part) => ({
    ...describePart(part, root),
    kind: part.kind,
    source: part.source,
  }));
  const entry = trustedEntry({ root, home });
  const known = entry?.parts ?? {};
  const current = described.map(
    (part): ReviewedPart => ({
      kind: part.kind,
      source: relative(root, part.source),
      ...stateOf(part, known[part.key]),
      files: Object.keys(part.files),
      unfollowed: [...part.unfollowed],
    }),
  );
  const removed = Object.keys(known)
    .filter((key) => !described.some((part) => part.key === key))
    .map((key) => removedPart(key));
  return {
    place: { root, home },
    described,
    found: {
      root,
      isTrusted: entry !== null,
      isOld: entry !== null && entry.parts === undefined,
      parts: [...current, ...removed],
    },
  };
}

function stateOf(
  part: DescribedPart,
  before: TrustedPart | undefined,
): Pick<ReviewedPart, 'state' | 'difference'> {
  if (before === undefined) return { state: 'new', difference: [] };
  if (before.digest === part.digest) return { state: 'trusted', difference: [] };
  const paths = [...new Set([...Object.keys(before.files), ...Object.keys(part.files)])];
  const files = paths.flatMap((path) => {
    const [old, now] = [before.files[path], part.files[path]];
    if (old?.digest === now?.digest) return [];
    if (old?.text == null || now?.text == null)
      return [`${now === undefined ? '-' : '+'} ${path} has changed`];
    return [`${path}:`, ...differenceOf(old.text, now.text)];
  });
  return { state: 'changed', difference: [...differenceOf(before.text, part.text), ...files] };
}

const MARKS = { same: ' ', added: '+', removed: '-' } as const;

function differenceOf(before: string, after: string): string[] {
  return changedLines(lineDiff(before, after)).map((line) =>
    line === null ? '...' : `${MARKS[line.kind]} ${line.text}`,
  );
}

function removedPart(key: string): ReviewedPart {
  const [, kind = '', source = ''] = /^(.*) (\S+)$/.exec(key) ?? [];
  // Keys are made of kinds.
  return { kind: kind as PartKind, source, state: 'removed', difference: [], files: [], unfollowed: [] };
}
