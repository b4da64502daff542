/**
 * The paths that can be named at the prompt: all that git tracks or would track, so ignore files count; outside git what is
 * found without hidden folders and `node_modules`. Read in the background when they are first asked for, and again once
 * they are old.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runGit } from '../../git/run-git.ts';
import { childEnvironment } from '../../system/child-environment.ts';
import { findPlace } from '../place.ts';
import { type CallOptions, callerOf } from './caller.ts';

const MOST_FILES = 200_000;

/** Relative to the directory of the caller; those above it begin with `../`. Empty where they cannot be read. */
export async function projectFiles(options: CallOptions = {}): Promise<string[]> {
  const { cwd, env } = callerOf(options);
  const { repository } = findPlace({ cwd, env });
  if (repository === null) return walk(cwd);
  const call = { cwd, env: childEnvironment(env) };
  const listing = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z'];
  const { code, stdout } = await runGit(listing, call);
  return code === 0 ? stdout.split('\0').filter((path) => path !== '') : walk(cwd);
}

async function walk(root: string): Promise<string[]> {
  const found: string[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile()) found.push(path);
      else if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
        folders.push(path);
    }
    if (found.length >= MOST_FILES) break;
  }
  return found;
}
