/** Which of the things that a prompt names can be attached, and what is said about them in the conversation. */
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, normalize, relative, resolve } from 'node:path';
import type { ImageBlock, TextBlock } from '../../../../schema/content.ts';
import type { SessionOptions } from '../../../../sdk/options.ts';
import type { Attachment } from '../../../../sdk/session/session-type.ts';
import { visibleName } from '../../../../views/text/format.ts';
import { mentionedFiles } from '../../editor/mentions.ts';

/**
 * The files that a prompt names, a line about each folder, which is not attached, and one about each file that no text can
 * name. Resources of servers count as files.
 */
export async function attachable(
  prompt: string,
  options: SessionOptions & { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ paths: string[]; notes: string[]; problems: string[] }> {
  const { cwd, env } = options;
  const servers = MAY_NAME_RESOURCE.test(prompt) ? await serverNames(options) : [];
  const home = env.HOME || homedir();
  const placeOf = (name: string): string => (name.startsWith('~/') ? join(home, name.slice(2)) : name);
  const folders = new Set<string>();
  const unnamable = new Set<string>();
  const names = mentionedFiles(prompt, (name) => {
    const kind = kindOf(resolve(cwd, placeOf(name)));
    if (kind === 'folder') folders.add(name);
    if (kind === null && isOnlySimilar(resolve(cwd, placeOf(name)))) unnamable.add(name);
    return kind === 'file' || (kind === null && isResource(name, servers));
  });
  const notes = Array.from(
    folders,
    (name) => `@${visibleName(name)} is a folder and was not attached; the agent can look into it`,
  );
  const problems = Array.from(
    unnamable,
    (name) => `@${visibleName(name)}: its name is not valid UTF-8, so it cannot be attached; rename it`,
  );
  // The prompt is handed back: nothing of it is attached.
  if (problems.length > 0) return { paths: [], notes: [], problems };
  return { paths: names.map(placeOf), notes, problems };
}

/** A name that was listed with signs in place of bytes that are no text: the file is there, under another name. */
function isOnlySimilar(path: string): boolean {
  if (!path.includes('\ufffd')) return false;
  let found: Buffer[] = [Buffer.from('/')];
  for (const part of path.split('/').slice(1)) found = found.flatMap((folder) => entriesLike(folder, part));
  return found.length > 0;
}

function entriesLike(folder: Buffer, name: string): Buffer[] {
  try {
    const entries = readdirSync(folder, { encoding: 'buffer' });
    return entries
      .filter((entry) => entry.toString() === name)
      .map((entry) => Buffer.concat([folder, entry, Buffer.from('/')]));
  } catch {
    return [];
  }
}

/** `server:uri`; without what may follow it in a sentence. */
const RESOURCE = /^([\w.-]+):[a-z][a-z\d+.-]*:\S*[^\s.,;:!?)\]}'"]$/i;

/** Only then is it asked which servers there are. */
const MAY_NAME_RESOURCE = /(?:^|[\s(])@[\w.-]+:[a-z][a-z\d+.-]*:/i;

async function serverNames(options: SessionOptions): Promise<readonly string[]> {
  const { knownOffers } = await import('../../../../sdk/mcp/known-offers.ts');
  const { servers, configured } = await knownOffers(options);
  return [...servers, ...configured];
}

function isResource(name: string, servers: readonly string[]): boolean {
  return servers.includes(RESOURCE.exec(name)?.[1] ?? '');
}

/** Why a pipe or a device cannot be attached is for the tool to say. */
function kindOf(path: string): 'file' | 'folder' | null {
  try {
    const stats = statSync(path, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return null;
    return stats.isDirectory() ? 'folder' : 'file';
  } catch {
    return null;
  }
}

/** `attached notes -> /home/me/notes.md, 24 lines`: what a link leads to is said, because its name does not. */
export function attachedLine({ path, blocks }: Attachment, cwd: string): string {
  const real = leadsTo(path, cwd);
  const arrow = real === null ? '' : ` -> ${visibleName(real)}`;
  return `attached ${visibleName(path)}${arrow}, ${blocks.map(sizeOf).join(', ')}`;
}

/** Null for a file that is where its name says. */
function leadsTo(path: string, cwd: string): string | null {
  try {
    const root = realpathSync(cwd);
    const real = realpathSync(resolve(cwd, path));
    const inside = relative(root, real);
    if (real === path || inside === normalize(path)) return null;
    return inside.startsWith('..') || isAbsolute(inside) ? real : inside;
  } catch {
    return null;
  }
}

/** As the Read tool numbers them; it says itself if there are more. */
function sizeOf(block: TextBlock | ImageBlock): string {
  if (block.type === 'image') return 'an image';
  if (block.text.includes('<attached-resource ')) return `${block.text.length} characters`;
  const lines = block.text.match(/^ *\d+\t/gm)?.length ?? 0;
  return `${lines} line${lines === 1 ? '' : 's'}${block.text.includes('\n(More follows: ') ? ' of more' : ''}`;
}
