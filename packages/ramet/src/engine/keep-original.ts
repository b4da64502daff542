import { describeError } from '../schema/errors.ts';
import { createOriginalFiles } from '../workspace/original-files.ts';

/** Keeps a file as it was before a change. The change goes on without: it is what was asked for, undoing it is not. */
export function keepOriginal(
  directory: string,
  { version, bytes }: { version: string; bytes: Uint8Array },
  warn: (message: string) => void,
): void {
  try {
    createOriginalFiles(directory).keep(version, bytes);
  } catch (error) {
    warn(`undo will not have the file as it was: ${describeError(error)}`);
  }
}
