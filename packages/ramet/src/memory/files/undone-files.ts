/** What the files of a change become when it is taken back; also those that later changes have moved its lines to. */
import { UserMistake } from '../../schema/errors.ts';
import { isBlank, linedText } from './headed-lines.ts';
import type { ChangedFile, ChangeKind, MemoryChange } from './memory-history.ts';
import { mergedTexts, takenBack } from './merged-texts.ts';

interface UndoneFiles {
  readonly files: Map<string, string | null>;
  /** Lines that stay as they are, because of what was changed since. */
  readonly kept: number;
}

/** The one that is named, or the last that an undo without a name takes back. Throws a mistake without one. */
export function changeToUndo(all: readonly MemoryChange[], id: number | null): MemoryChange {
  const gone = new Set(all.flatMap(({ undoes }) => undoes ?? []));
  const found =
    id === null
      ? all.findLast(({ id: own, kind }) => canBeLast(kind) && !gone.has(own))
      : all.find(({ id: own }) => own === id);
  if (found === undefined)
    throw new UserMistake(
      'no_change',
      id === null
        ? 'there is nothing to undo in this memory'
        : `memory has no change ${id}: ramet memory show --changes lists them`,
    );
  if (gone.has(found.id)) throw new UserMistake('undone', `change ${found.id} is undone already`);
  return found;
}

/** Whether an undo that names no change may mean one of this kind. */
export function canBeLast(kind: ChangeKind): boolean {
  return !['hand', 'undo', 'pruning', 'sync'].includes(kind);
}

/** `later` are the changes after it, the oldest first. */
export function undoneFiles(
  undone: MemoryChange,
  later: readonly MemoryChange[],
  read: (path: string) => string | null,
): UndoneFiles {
  const files = new Map<string, string | null>();
  let kept = 0;
  for (const file of undone.files) {
    const back = takenBack(file, read(file.path));
    files.set(file.path, back.text);
    kept += back.kept;
  }
  for (const file of undone.files)
    for (const [to, lines] of movedLines(file, later)) {
      const now = files.has(to.path) ? files.get(to.path) : read(to.path);
      if (now === null || now === undefined) continue;
      const base = to.after ?? '';
      const theirs = base
        .split('\n')
        .filter((line) => !lines.has(keyOf(line)))
        .join('\n');
      const merged = mergedTexts({ mine: now, base, theirs });
      files.set(to.path, merged.text);
      kept += merged.kept;
    }
  return { files, kept };
}

/** The lines of a change that later ones have put into another file, by that file as the last of them left it. */
function movedLines(file: ChangedFile, later: readonly MemoryChange[]): Map<ChangedFile, Set<string>> {
  const old = linesOf(file.before);
  const moved = new Map<ChangedFile, Set<string>>();
  const at = new Map([...linesOf(file.after).difference(old)].map((line) => [line, file]));
  for (const { files } of later) {
    if (files.length === 1) continue;
    const parts = files.map((one) => {
      const [before, after] = [linesOf(one.before), linesOf(one.after)];
      return { one, left: before.difference(after), arrived: after.difference(before) };
    });
    for (const [line, from] of at) {
      const source = parts.find(({ one }) => one.path === from.path);
      const target = source?.left.has(line) ? parts.find(({ arrived }) => arrived.has(line)) : undefined;
      if (target !== undefined) at.set(line, target.one);
    }
  }
  for (const [line, to] of at)
    if (to.path !== file.path) moved.set(to, (moved.get(to) ?? new Set()).add(line));
  return moved;
}

/** Those that say something. */
function linesOf(text: string | null): Set<string> {
  const { lines } = linedText(text ?? '');
  return new Set(lines.filter((line) => line.level === 0 && !isBlank(line)).map(({ key }) => key));
}

function keyOf(line: string): string {
  return line.replace(/\r$/, '');
}
