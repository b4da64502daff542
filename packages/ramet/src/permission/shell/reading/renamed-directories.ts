/** `cd a; mv ../a ../c`: the shell is in what now has another name, and where its moves lead nobody knows. */
import { resolve } from 'node:path';
import { isInside } from '../../../system/landing-path.ts';
import type { ShellCommand, ShellReading } from './shell-reading.ts';

/** Makes unknown what comes after a directory got another name while a shell may be in it; with loops, everything. */
export function forgetRenamed({ commands, files }: ShellReading, hasLoops: boolean): void {
  const first = commands.findIndex((command) => movedFiles(valuesOf(command)).length > 0);
  if (first === -1) return;
  const later = commands.slice(hasLoops ? 0 : first);
  const sources = later.flatMap(renamedBy);
  const parts = [...later, ...files];
  const isRenamed = ({ directories }: Pick<ShellCommand, 'directories'>): boolean =>
    directories?.some((at) => sources.some((source) => source === null || isInside(at, source))) === true;
  if (parts.some(isRenamed)) for (const part of parts) part.directories = null;
}

function valuesOf({ words }: ShellCommand): (string | null)[] {
  return words.map(({ value }) => value);
}

/** Null for what has a place that nobody knows. */
function renamedBy(command: ShellCommand): (string | null)[] {
  const names = movedFiles(valuesOf(command));
  const { directories } = command;
  if (directories === null) return names.map((name) => (name.startsWith('/') ? name : null));
  return directories.flatMap((at) => names.map((name) => resolve(at, name)));
}

/** What `mv` gives another name. It refuses `.` and `..`. */
function movedFiles(values: readonly (string | null)[]): readonly string[] {
  if (!values.includes('mv')) return [];
  const names = values.filter(
    (value) => value !== null && value !== '' && !/(?:^|\/)\.{1,2}\/*$/.test(value),
  );
  const isTargetFirst = values.some((value) => /^(?:-\w*t|--target)/.test(value ?? ''));
  return (isTargetFirst || values.at(-1) !== names.at(-1) ? names : names.slice(0, -1)).filter(
    (name) => name !== null,
  );
}
