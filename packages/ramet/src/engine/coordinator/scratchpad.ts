/** Writes files of the scratchpad that a coordinator and its workers share: inside it, and nowhere else. */
import { appendFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError } from '../../schema/errors.ts';
import { isInside, landingPath } from '../../system/landing-path.ts';
import { failure, type ToolOutcome } from '../../tools/tool.ts';

const LARGEST = 1_000_000;
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N} ._-]*(?:\/[\p{L}\p{N}_][\p{L}\p{N} ._-]*){0,4}$/u;

export async function writeScratchpad(
  directory: string,
  { file, text, append }: { file: string; text: string; append: boolean },
): Promise<ToolOutcome> {
  if (file.length > 200 || !NAME.test(file))
    return failure(
      `"${file.slice(0, 100)}" cannot be the name of a file here: use letters, digits, spaces, dots, dashes, at most five parts with / between them.`,
    );
  const path = join(directory, file);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const [place, root] = [landingPath(path), landingPath(directory)];
    // A worker may have made a link there.
    if (place === null || root === null || !isInside(place, root))
      return failure(`${file} leads out of the scratchpad. Choose another name.`);
    const has = append ? ((await stat(path).catch(() => null))?.size ?? 0) : 0;
    if (has + Buffer.byteLength(text) > LARGEST)
      return failure(`${file} would be larger than 1 MB. Write less, or several files.`);
    await (append ? appendFile : writeFile)(path, text.toWellFormed(), { mode: 0o600 });
    return { content: `Written: ${path}` };
  } catch (error) {
    return failure(`${file} was not written: ${describeError(error)}`);
  }
}
