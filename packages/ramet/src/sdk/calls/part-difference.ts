/** What of a part is not what was trusted, in lines for a person (SEC-1). */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type DescribedPart, type FolderPart, whyNoText } from '../../extensions/trust/folder-part.ts';
import { followsMore } from '../../extensions/trust/folder-trust.ts';
import { isInside } from '../../system/landing-path.ts';
import { changedLines, lineDiff } from '../../system/text/line-diff.ts';
import type { TrustedPart, TrustedText } from '../../system/trust.ts';

/** The part as it is now and as it was trusted; of an entry without texts there are none. */
interface PartChange {
  readonly part: FolderPart;
  readonly now: DescribedPart;
  readonly before: TrustedPart;
  readonly text: TrustedText | undefined;
  readonly root: string;
}

export interface PartDifference {
  readonly difference: string[];
  /** This version of Ramet follows files that the one which was told to trust it did not; all else is as it was. */
  readonly followsMore: boolean;
}

export function partDifference(change: PartChange): PartDifference {
  const { part, now, before, text, root } = change;
  const isMore = followsMore(part, before, root, now);
  const paths = [...new Set([...Object.keys(before.files), ...Object.keys(now.files)])];
  const files = paths.flatMap((path) => fileLines(path, isMore, change));
  const isSame = before.own === now.own;
  const own = isSame && text === undefined ? [] : differenceOf(text?.text ?? '', now.before.text);
  const difference = [...own, ...files];
  if (difference.length > 0) return { difference, followsMore: isMore };
  const unseen = !isSame
    ? 'it has changed beyond what is shown of it: look at the file'
    : before.by === now.by
      ? 'what cannot be followed of its commands has changed: look at what is not followed'
      : 'this version of Ramet reads its commands in another way: look at what is not followed';
  return { difference: [unseen], followsMore: isMore };
}

function fileLines(path: string, isMore: boolean, { part, now, before, text, root }: PartChange): string[] {
  const [was, is] = [before.files[path], now.files[path]];
  // A copy that a command makes itself, and has not made yet.
  if (was === is || (was === undefined && is === '')) return [];
  const file = resolve(root, path);
  if (is === undefined) return [`- ${path} ${existsSync(file) ? 'does not count any more' : 'is gone'}`];
  const [old, current] = [text?.files[path], now.before.files[path]];
  if (was === undefined) {
    const isOfFolder = part.folder !== undefined && isInside(file, part.folder);
    const isListed = current === undefined;
    const said = isOfFolder ? 'is new' : isMore ? MORE[+isListed] : LATER[+isListed];
    return wholeText(`${path} ${said}`, current, file);
  }
  if (old != null && current != null) return [`${path}:`, ...differenceOf(old, current)];
  const unkept = current == null ? '' : ', and what it was is not kept. It is now';
  return wholeText(`${path} has changed${unkept}`, current, file);
}

/** Where it is run, and where only every file of a folder counts: then nobody wants to read it. */
const MORE = [
  'is run too: this version of Ramet follows more files',
  'counts too: this version of Ramet follows more files',
];
const LATER = ['is run now and was not when you trusted it', 'counts now and did not when you trusted it'];

function wholeText(said: string, text: string | null | undefined, file: string): string[] {
  if (text === undefined) return [`+ ${said}`];
  if (text === null) return [`${said} (not shown: ${whyNoText(file)})`];
  return text === '' ? [`${said} (it is empty)`] : [`${said}:`, ...differenceOf('', text)];
}

const MARKS = { same: ' ', added: '+', removed: '-' } as const;

export function differenceOf(before: string, after: string): string[] {
  return changedLines(lineDiff(before, after)).map((line) =>
    line === null ? '...' : `${MARKS[line.kind]} ${line.text}`,
  );
}
