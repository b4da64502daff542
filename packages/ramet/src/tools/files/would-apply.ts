/** Whether a change could be made to a file now, found out without making it: before anybody is asked about it. */
import type { FileAccess, FileRefusal } from '../../files/file-access.ts';

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
