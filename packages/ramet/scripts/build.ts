/**
 * Bundles the command and the library entries into `dist/`; `npm install` runs it through `prepare`. Files are
 * replaced one by one and stale ones removed last, so a command started meanwhile finds a bundle.
 */
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions, ENTRIES, PACKAGE_ROOT } from './bundle.ts';
import { warmCompileCache } from './compile-cache.ts';

const DIST = join(PACKAGE_ROOT, 'dist');

async function bundle(): Promise<string[]> {
  const present = Object.entries(ENTRIES).filter(([, source]) => existsSync(join(PACKAGE_ROOT, source)));
  const { outputFiles = [] } = await build(bundleOptions(Object.fromEntries(present)));
  for (const file of outputFiles) {
    mkdirSync(dirname(file.path), { recursive: true });
    writeFileSync(file.path, file.contents);
  }
  return outputFiles.map((file) => relative(DIST, file.path));
}

/** Type declarations are `tsc`'s, made only for publishing, and not ours to remove. */
function removeStale(current: readonly string[]): void {
  const stale = globSync('**/*.{js,txt}', { cwd: DIST }).filter((file) => !current.includes(file));
  for (const file of stale) rmSync(join(DIST, file));
}

const files = await bundle();
removeStale(files);
warmCompileCache(PACKAGE_ROOT);
