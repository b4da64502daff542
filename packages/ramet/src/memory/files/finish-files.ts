/**
 * The files of a change whose process was killed between them. Until another process finishes it, a person may have edited, replaced,
 * begun or removed any of them.
 *
 * Invariants
 * 1. No line is lost, neither of the person nor of the change: what the change has taken out of one file comes into the other, or stays
 *    beside it.
 * 2. What the person has put there stays as it is.
 * 3. It may be done again, if this process is killed too.
 */
import { join } from 'node:path';
import { describeError, RametError, UserMistake } from '../../schema/errors.ts';
import { realPath } from '../../system/landing-path.ts';
import { lineDiff } from '../../system/text/line-diff.ts';
import { readWholeText } from './memory-file.ts';
import type { ChangedFile } from './memory-history.ts';
import { isPointer } from './memory-index.ts';
import { mergedTexts } from './merged-texts.ts';
import {
  isBegunByHand,
  isBesideAnother,
  keepBeside,
  prepareFile,
  putBack,
  removeLeftovers,
} from './replaced-file.ts';
import { isReserved } from './reserved-heading.ts';

/** Writes those files that a killed process has not; returns what was changed, of all of them. */
export function finishFiles(root: string, files: readonly ChangedFile[]): ChangedFile[] {
  return files.flatMap((file) => {
    const path = join(root, file.path);
    try {
      return finishFile(path, file) ?? [];
    } catch (error) {
      throw unfinished(path, error);
    }
  });
}

function unfinished(path: string, error: unknown): RametError {
  const reason = `memory waits for a change of ${path}, whose process was killed, and which cannot be completed: ${describeError(error)}; make room there, or make it writable`;
  return new RametError('memory_unfinished', 'terminal', reason, { cause: error });
}

const MOST_TRIES = 10;

/** Null if nothing of the change is in the file. */
function finishFile(path: string, file: ChangedFile): ChangedFile | null {
  const { before, after } = file;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const now = textOf(path);
    if (now === undefined) {
      putBack(realPath(path));
      removeLeftovers(path, before);
      if (addedLines(before, after).size > 0) keepBeside(path, after ?? '');
      return null;
    }
    const isBegun = isBesideAnother(path) && isBegunByHand(now, before, after);
    if (isBegun) putBack(realPath(path));
    removeLeftovers(path, before);
    if (!isBegun && (now === after || (now !== before && isNearer(now ?? '', after ?? '', before ?? ''))))
      return file;
    const text = now === before ? after : withChange(file, now);
    if (text === undefined) keepBeside(path, after ?? '');
    if (text === undefined || text === now) return null;
    using waits = prepareFile(path, now, text);
    if (waits.putInPlace()) return { ...file, before: now, after: text };
  }
  throw new Error('it changes all the time');
}

/** Undefined for what is no text any more: a person's business. */
function textOf(path: string): string | null | undefined {
  try {
    return readWholeText(path);
  } catch (error) {
    if (error instanceof UserMistake) return undefined;
    throw error;
  }
}

/** What a person has made, with the lines that the change adds; undefined if it cannot have them. Nothing of it goes. */
function withChange({ before, after }: ChangedFile, now: string | null): string | null | undefined {
  const added = addedLines(before, after).difference(linesOf(now));
  if (after === null || added.size === 0) return now;
  // Nobody can ask here whether lines of an agent would come under notes of the user.
  if ([now, after].some((text) => isReserved({ text: text ?? '', level: 1 }))) return undefined;
  const base = after
    .split('\n')
    .filter((line) => !added.has(line.trim()))
    .join('\n');
  const { text } = mergedTexts({ mine: now ?? '', base, theirs: after });
  return linesOf(now).union(added).isSubsetOf(linesOf(text)) ? text : undefined;
}

function addedLines(before: string | null, after: string | null): Set<string> {
  return linesOf(after).difference(linesOf(before));
}

/** Those that say something. */
function linesOf(text: string | null): Set<string> {
  return new Set(
    (text ?? '')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#') && !isPointer(line)),
  );
}

/** Whether a person has made the text from `one` rather than from `other`. */
function isNearer(text: string, one: string, other: string): boolean {
  return distance(one, text) < distance(other, text);
}

function distance(from: string, to: string): number {
  return lineDiff(from, to).filter(({ kind }) => kind !== 'same').length;
}
