import type { FileAccess, FileRefusal } from '../../files/file-access.ts';
import { describeError, systemCode } from '../../schema/errors.ts';
import { closeNames } from '../../system/text/close-names.ts';
import { failure, type ToolOutcome } from '../tool.ts';

/** An error of the file system as a result the model can act on. What has no code is a bug and is thrown again. */
export function fileFailure(error: unknown, path: string): ToolOutcome {
  const code = systemCode(error);
  if (code === undefined) throw error;
  if (code === 'ENOENT') return failure(missing(path));
  if (code === 'EISDIR')
    return failure(`${path} is a directory. List it with Glob: pattern "*", path "${path}".`);
  return failure(`${describeError(error)}${describeError(error).endsWith('.') ? '' : '.'}`);
}

function missing(path: string): string {
  const names = closeNames(path);
  if (names === null) return `${path} does not exist, nor does its directory. Find it with Glob.`;
  return names.length === 0
    ? `${path} does not exist. Find it with Glob.`
    : `${path} does not exist. The directory holds ${names.join(', ')}.`;
}

/** Whether a change could be made to a file now, found out without making it: before anybody is asked about it. */
type Transform = Parameters<FileAccess['update']>[1];

/** Why it cannot; null when it could, or when that cannot be known before it is tried. */
export async function whyNot(files: FileAccess, path: string, transform: Transform): Promise<string | null> {
  const dryRun: FileRefusal = { ok: false, reason: 'it could be done' };
  try {
    const outcome = await files.update(path, (text) => {
      const changed = transform(text);
      return changed.ok ? dryRun : changed;
    });
    return outcome.ok || outcome === dryRun || outcome.reason === dryRun.reason ? null : outcome.reason;
  } catch {
    return null;
  }
}
