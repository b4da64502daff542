/** The repository as the shape tests see it: files by path from its root, read once. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT: string = join(import.meta.dirname, '../../../..');

export const SOURCE_ROOT = 'packages/ramet/src/';

const IGNORED = ['node_modules', 'dist', '.git', 'coverage'];

/** Paths from the root, sorted, generated folders left out. */
export function filesMatching(pattern: string | readonly string[]): string[] {
  return globSync(pattern, {
    cwd: ROOT,
    exclude: (name) => IGNORED.includes(name.split('/').at(-1) ?? ''),
  }).sort();
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

/** The code of the product: `src/` without its tests. */
export function sourceFiles(): string[] {
  return filesMatching(`${SOURCE_ROOT}**/*.ts`).filter((path) => !isTest(path));
}

/** Every TypeScript file in the repository. */
export function typescriptFiles(): string[] {
  return filesMatching([
    'packages/**/*.ts',
    'examples/**/*.ts',
    'bench/**/*.ts',
    'campaigns/**/*.ts',
    '*.ts',
  ]);
}

/** `journal/sqlite/open.ts` is in `journal`. */
export function roomOf(path: string): string {
  return path.slice(SOURCE_ROOT.length).split('/')[0] ?? '';
}
