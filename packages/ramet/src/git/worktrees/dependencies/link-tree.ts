/**
 * A second set of directories with the same files: hard links. `cp -al` does 28,000 of them in a third of a second;
 * without it, Node does it in a second.
 */
import { spawn } from 'node:child_process';
import { copyFile, link, mkdir, opendir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../../schema/errors.ts';

const PARTS = 4;
const FEW_FOLDERS = 40;
/** What a command line takes, with room to spare. */
const LONGEST_LIST = 2_000;

/**
 * `target` must not exist. Throws when they are on different file systems, among other reasons; nothing is left then.
 */
export async function linkTree(source: string, target: string): Promise<void> {
  try {
    const isSmall = (await countedFolders(source)) < FEW_FOLDERS;
    if (isSmall || !(await linkInParts(source, target))) await linkByHand(source, target);
    await unshareTopFiles(source, target);
  } catch (error) {
    await rm(target, { recursive: true, force: true });
    throw error;
  }
}

/** Folders at the top and one below it: programs are worth their start only where there are many. */
async function countedFolders(source: string): Promise<number> {
  let count = 0;
  for (const entry of await readdir(source, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    count += 1;
    if (count >= FEW_FOLDERS) break;
    count += (await readdir(join(source, entry.name))).length;
  }
  return count;
}

/** Several programs side by side, each with a part of what is at the top. False when one could not. */
async function linkInParts(source: string, target: string): Promise<boolean> {
  const names = await readdir(source);
  const size = Math.max(1, Math.min(LONGEST_LIST, Math.ceil(names.length / PARTS)));
  await mkdir(target);
  const parts: Promise<boolean>[] = [];
  for (let start = 0; start < names.length; start += size) {
    const part = names.slice(start, start + size).map((name) => join(source, name));
    parts.push(runCopy(['-al', '-t', target, '--', ...part]));
  }
  const isDone = (await Promise.all(parts)).every((done) => done);
  if (!isDone) await rm(target, { recursive: true, force: true });
  return isDone;
}

/** A copy of its own; shared blocks where the file system can do that. */
export async function copyTree(source: string, target: string): Promise<void> {
  const isCopied = await runCopy(['-a', '--reflink=auto', '--', source, target]);
  if (!isCopied) throw new Error(`cannot copy ${source} to ${target}`);
}

/** False when the program is not there or failed. */
async function runCopy(args: readonly string[]): Promise<boolean> {
  const child = spawn('cp', args, { stdio: 'ignore' });
  const code = await new Promise<number | null>((settle) => {
    child.once('error', () => settle(null)).once('exit', settle);
  });
  return code === 0;
}

async function linkByHand(source: string, target: string): Promise<void> {
  await mkdir(target);
  for await (const entry of await opendir(source)) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) await linkByHand(from, to);
    else if (entry.isSymbolicLink()) await symlink(await readlink(from), to);
    else await link(from, to);
  }
}

/** Package managers keep their notes there and write them in place. */
async function unshareTopFiles(source: string, target: string): Promise<void> {
  for await (const entry of await opendir(source)) {
    if (!entry.isFile()) continue;
    const copy = join(target, entry.name);
    await rm(copy, { force: true });
    await copyFile(join(source, entry.name), copy).catch((error: unknown) => {
      if (systemCode(error) !== 'ENOENT') throw error;
    });
  }
}
