/** What has changed in the configuration and the hooks that all checkouts of a repository share (WORK-9). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GitCall, runGit } from '../run-git.ts';
import type { RepositorySetup } from './checkout-state.ts';
import { differences, listed } from './differences.ts';

/** A line for each of the two. Values of settings may be secrets: only their names are told. */
export async function setupChanges(
  before: RepositorySetup,
  after: RepositorySetup,
  call: GitCall,
  ofHooks: () => readonly string[],
): Promise<string[]> {
  const changed = before.config === after.config ? [] : await settingChanges(before, after, call);
  // What git notes of a branch that follows a remote one.
  const notes = changed.length === 0 ? [] : ofHooks().map((branch) => `branch.${branch}.`);
  const settings = changed.filter((text) => !notes.some((note) => text.startsWith(note)));
  const hooks = differences(before.hooks, after.hooks, 'made');
  return [
    ...(settings.length === 0 ? [] : [`.git/config: ${listed(settings)}`]),
    ...(hooks.length === 0 ? [] : [`.git/hooks: ${listed(hooks)}`]),
  ];
}

async function settingChanges(
  before: RepositorySetup,
  after: RepositorySetup,
  call: GitCall,
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ramet-config-'));
  try {
    const [then, now] = await Promise.all([
      settingsOf(join(folder, 'then'), before.config, call),
      settingsOf(join(folder, 'now'), after.config, call),
    ]);
    if (now === null) return ['it has other content, which git cannot read'];
    return differences(then ?? new Map(), now, 'set');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What git writes of an agent's own branch, with `push -u`. */
const OF_AGENTS = /^branch\.ramet\//;

/** Null for a text that git cannot read. */
async function settingsOf(
  path: string,
  text: string,
  call: GitCall,
): Promise<ReadonlyMap<string, string> | null> {
  writeFileSync(path, text, { mode: 0o600 });
  const { code, stdout } = await runGit(['config', '--file', path, '--no-includes', '-z', '--list'], call);
  if (code !== 0) return null;
  const settings = new Map<string, string>();
  for (const entry of stdout.split('\0').filter((each) => each !== '')) {
    const [name = '', ...value] = entry.split('\n');
    if (!OF_AGENTS.test(name)) settings.set(name, `${settings.get(name) ?? ''}\n${value.join('\n')}`);
  }
  return settings;
}
