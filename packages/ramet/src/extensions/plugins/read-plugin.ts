/**
 * A plugin: a folder with agents, skills, commands, hooks and MCP servers (EXT-3), and a manifest that is optional. This
 * reads the manifest; nothing of the plugin is executed by it.
 */
import { existsSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import * as z from '../../schema/zod.ts';
import { isInside } from '../../system/landing-path.ts';
import { type ExtensionKind, kindOfPath, type PluginFolder, realOrSame } from '../extension-places.ts';
import { filesEndingIn, foundFile, readFound, type ScanRules, SKILL_FILE } from '../folder-scan.ts';
import { isObject, readHooks } from '../hooks/hook-config.ts';

const MANIFEST = '.claude-plugin/plugin.json';
const KINDS: readonly ExtensionKind[] = ['agents', 'skills', 'commands'];
/** What a manifest says about the plugin, and what counts here. */
const KNOWN = new Set(
  'name version description author homepage repository license keywords category tags displayName $schema strict agents skills commands hooks mcpServers'.split(
    ' ',
  ),
);
/** What such a plugin may bring besides, and nothing here reads. */
const OTHERS = ['.lsp.json', 'settings.json', 'output-styles', 'themes', 'monitors', 'workflows', 'bin'];
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

const setUp = z.optional(z.union([z.string(), z.array(z.string()), z.record(z.string(), z.unknown())]));
const paths = z.optional(z.union([z.string(), z.array(z.string())]));
const manifest = z.looseObject({
  name: z.optional(z.string()),
  agents: paths,
  skills: paths,
  commands: paths,
  hooks: setUp,
  mcpServers: setUp,
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
  const more = Object.fromEntries(
    KINDS.map((kind) => [kind, namedPlaces(kind, [declared[kind] ?? []].flat(), { root, notes })]),
  );
  const unused = [
    ...Object.keys(declared).filter((key) => !KNOWN.has(key)),
    ...OTHERS.filter((other) => existsSync(join(root, other))),
  ];
  if (unused.length > 0) notes.push(`${root}: without effect in Ramet: ${unused.join(', ')}`);
  const hooks = readSetUp('hooks', declared.hooks, 'hooks/hooks.json', { root, notes });
  const servers = readSetUp('mcpServers', declared.mcpServers, '.mcp.json', { root, notes });
  for (const value of hooks)
    for (const what of readHooks(value, { label: name }).unused) notes.push(`${root}: hooks: ${what}`);
  const plugin = {
    ...{ name, root, more },
    ...(hooks.length > 0 && { hooks }),
    ...(servers.length > 0 && { servers: placed(Object.assign({}, ...servers), root) }),
  };
  return { plugin, notes };
}

/** What a file must be that is named by itself. */
const FILES: Readonly<Record<ExtensionKind, { isRight: ScanRules['isWanted']; said: string }>> = {
  agents: {
    isRight: filesEndingIn('.md', '.yaml', '.yml').isWanted,
    said: 'file ending in .md, .yaml or .yml',
  },
  commands: { isRight: filesEndingIn('.md').isWanted, said: 'file ending in .md' },
  skills: { isRight: (name) => name === SKILL_FILE, said: SKILL_FILE },
};
const MOST_NAMED = 5;

/** Those of a plugin's folders and files that count, from its root on. The others are named, all with one reason in one line. */
function namedPlaces(
  kind: ExtensionKind,
  stated: readonly string[],
  { root, notes }: { root: string; notes: string[] },
): string[] {
  const whyNot = Map.groupBy(stated, (path) => whyNotPlace(kind, resolve(root, path), root));
  for (const [why, [...all]] of whyNot) {
    if (why === null) continue;
    const rest = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : '';
    notes.push(`${root}: ${kind}: ${all.slice(0, MOST_NAMED).join(', ')}${rest}: ${why}: left out`);
  }
  const usual = join(root, kind);
  return (whyNot.get(null) ?? [])
    .map((path) => resolve(root, path))
    .filter((path) => path !== usual && !(kindOfPath(path) === 'file' && isInside(path, usual)))
    .map((path) => relative(root, path));
}

function whyNotPlace(kind: ExtensionKind, path: string, root: string): string | null {
  if (!isInside(path, root) || !isInside(realOrSame(path), root)) return 'leads out of it';
  if (path === root) return 'the plugin itself, name a folder in it';
  const what = kindOfPath(path);
  if (what === null) return 'not there';
  const { isRight, said } = FILES[kind];
  return what === 'folder' || isRight(basename(path)) ? null : `no folder and no ${said}`;
}

/** What the usual file says, and what the manifest holds or names besides. Files have a key around it, or none. */
function readSetUp(
  key: 'hooks' | 'mcpServers',
  declared: z.infer<typeof setUp>,
  usual: string,
  { root, notes }: { root: string; notes: string[] },
): Record<string, unknown>[] {
  const named = typeof declared === 'string' ? [declared] : Array.isArray(declared) ? declared : [];
  const held = declared !== undefined && named.length === 0 && !Array.isArray(declared) ? [declared] : [];
  const files = [...new Set([usual, ...named].map((path) => resolve(root, path)))];
  const read = files.flatMap((path): unknown[] => {
    if (!isInside(realOrSame(path), root)) {
      notes.push(`${root}: ${key}: ${path} leads out of it: left out`);
      return [];
    }
    const found = foundFile(path, path);
    if (found.stamp === 'gone' && path === resolve(root, usual)) return [];
    const text = readFound(found);
    const value = 'problem' in text ? null : parsedObject(text.text);
    if (value === null)
      notes.push(`${path}: ${'problem' in text ? text.problem : 'it holds no JSON object'}: left out`);
    return value === null ? [] : [value];
  });
  return [...read, ...held].map((value) => inner(value, key));
}

function inner(value: unknown, key: string): Record<string, unknown> {
  const whole: Record<string, unknown> = isObject(value) ? value : {};
  const own = whole[key];
  return isObject(own) ? own : whole;
}

function parsedObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** No shell expands a server's configuration. */
function placed(value: unknown, root: string): Record<string, unknown> {
  const replace = (_: string, one: unknown): unknown =>
    typeof one === 'string' ? one.replaceAll('${CLAUDE_PLUGIN_ROOT}', root) : one;
  return JSON.parse(JSON.stringify(value, replace));
}
