/**
 * A plugin: a folder with agents, skills, commands, hooks and MCP servers (EXT-3), and a manifest that is optional. This
 * reads the manifest; nothing of the plugin is executed by it.
 */
import { basename, join, relative, resolve } from 'node:path';
import * as z from '../../schema/zod.ts';
import { isInside } from '../../system/landing-path.ts';
import { type ExtensionKind, type PluginFolder, realOrSame } from '../extension-places.ts';
import { foundFile, readFound } from '../folder-scan.ts';

const MANIFEST = '.claude-plugin/plugin.json';
const KINDS: readonly ExtensionKind[] = ['agents', 'skills', 'commands'];
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

const paths = z.optional(z.union([z.string(), z.array(z.string())]));
const manifest = z.looseObject({
  name: z.optional(z.string()),
  agents: paths,
  skills: paths,
  commands: paths,
});

export type ReadPlugin = { plugin: PluginFolder; notes: readonly string[] } | { problem: string };

export function readPlugin(folder: string): ReadPlugin {
  const root = realOrSame(folder);
  const path = join(root, MANIFEST);
  const found = foundFile(path, path);
  if (found.stamp === 'gone') return named(basename(root), root, {});
  const read = readFound(found);
  if ('problem' in read) return { problem: `${path}: ${read.problem}` };
  try {
    const parsed = manifest.safeParse(JSON.parse(read.text));
    if (!parsed.success) return { problem: `${path}: ${z.describeIssues(parsed.error)}` };
    return named(parsed.data.name ?? basename(root), root, parsed.data);
  } catch {
    return { problem: `${path}: it is no valid JSON` };
  }
}

function named(name: string, root: string, declared: z.infer<typeof manifest>): ReadPlugin {
  if (!NAME.test(name))
    return {
      problem: `${root}: ${JSON.stringify(name.slice(0, 80))} is no name for a plugin: use letters, digits and dashes`,
    };
  const notes: string[] = [];
  const more: Partial<Record<ExtensionKind, string[]>> = {};
  for (const kind of KINDS) {
    for (const path of [declared[kind] ?? []].flat()) {
      const below = relative(root, resolve(root, path));
      if (!isInside(resolve(root, path), root))
        notes.push(`${root}: ${kind}: ${path} leads out of it: left out`);
      else if (below !== kind && below !== '') more[kind] = [...(more[kind] ?? []), below];
    }
  }
  return { plugin: { name, root, more }, notes };
}
