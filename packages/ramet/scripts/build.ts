/**
 * Bundles the command and the library entries into `dist/`; `npm install` runs it through `prepare`. A file is
 * replaced in one step and only when it changed, and stale ones go last, so a command that starts meanwhile finds it
 * whole.
 */
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, type OutputFile } from 'esbuild';
import { bundleOptions, commandOptions, ENTRIES, PACKAGE_ROOT, programOptions } from './bundle.ts';
import { warmCompileCache } from './compile-cache.ts';

const DIST = join(PACKAGE_ROOT, 'dist');

async function bundle(): Promise<OutputFile[]> {
  const all = [bundleOptions(ENTRIES), programOptions(), commandOptions()];
  const built = await Promise.all(all.map((options) => build(options)));
  return built.flatMap(({ outputFiles = [] }) => outputFiles);
}

function replaceFile({ path, contents }: OutputFile): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, contents);
  renameSync(temporary, path);
}

/**
 * Type declarations are `tsc`'s, which `npm run build` runs next; it never removes those of a source that is gone. `test` is of
 * the tests.
 */
function removeStale(current: readonly string[]): void {
  const built = globSync('**/*.{js,cjs,txt}', { cwd: DIST, exclude: ['test/**'] });
  const stale = built.filter((file) => !current.includes(file));
  const types = globSync('types/**/*.d.ts', { cwd: DIST }).filter((file) => !existsSync(sourceOf(file)));
  for (const file of [...stale, ...types]) rmSync(join(DIST, file));
}

function sourceOf(types: string): string {
  return join(PACKAGE_ROOT, 'src', `${relative('types', types).slice(0, -'.d.ts'.length)}.ts`);
}

const files = await bundle();
const changed = files.filter(
  ({ path, contents }) => !existsSync(path) || !readFileSync(path).equals(contents),
);
for (const file of changed) replaceFile(file);
removeStale(files.map(({ path }) => relative(DIST, path)));
if (changed.length > 0) await warmCompileCache(PACKAGE_ROOT);
