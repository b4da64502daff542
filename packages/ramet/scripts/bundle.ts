/**
 * What is bundled and how: shared by the build and by the test that looks into the bundles. Dependencies are
 * bundled too, except those that carry binaries.
 */
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { builtinModules, knownSchemas, oneZodLocale } from './bundle-plugins.ts';
import { shellText } from './shell-text.ts';

export const PACKAGE_ROOT: string = join(import.meta.dirname, '..');

/**
 * Output name to source file: the `exports` of package.json. They share files, so a class is the same in all of them.
 */
export const ENTRIES: Readonly<Record<string, string>> = {
  'sdk/index': 'src/sdk/index.ts',
  'emulator/index': 'src/emulator/index.ts',
  'testing/index': 'src/testing/index.ts',
};

/**
 * What `bin` runs. It is one file, since finding and linking many costs a third of a start. What is imported late is in
 * the file too and is evaluated when it is asked for.
 */
export const COMMAND: Readonly<Record<string, string>> = { 'cli/main': 'src/cli/main.ts' };

/** The programs that the command starts: one file each. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  'executors/child-main': 'src/executors/process/child-main.ts',
  'memory/keep-lines': 'src/memory/extraction/keep-lines.ts',
  'git/shared-git': 'src/git/shared-git/main.ts',
  'system/starter-main': 'src/system/processes/starter-main.ts',
  'tools/render-worker': 'src/tools/web/render-worker.ts',
};

const EXTERNAL = ['@vscode/ripgrep', 'tree-sitter-bash', 'web-tree-sitter'];

/** Names stay readable for stack traces: shortening them was measured to save no time. */
export function bundleOptions(entries: Readonly<Record<string, string>>): BuildOptions & { metafile: true } {
  return {
    absWorkingDir: PACKAGE_ROOT,
    entryPoints: { ...entries },
    outdir: join(PACKAGE_ROOT, 'dist'),
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    // Node prints the line that an uncaught error came from.
    lineLimit: 300,
    legalComments: 'external',
    external: EXTERNAL,
    // The bundle contains names of modules: the target of a link would name the machine.
    preserveSymlinks: true,
    plugins: [builtinModules, oneZodLocale, knownSchemas, shellText],
    metafile: true,
    write: false,
    logLevel: 'warning',
  };
}

export function programOptions(): BuildOptions & { metafile: true } {
  return { ...bundleOptions(PROGRAMS), splitting: false };
}

/**
 * One function as a script, and no module: V8 can then keep the code of every function that ran, where Node keeps only
 * what is compiled before a module runs. The launcher calls it with what a module would have: `import.meta`, and a way
 * to packages outside of the bundle (an `import()` in a script makes Node warn). It is ASCII, to be read without
 * decoding.
 */
export function commandOptions(): BuildOptions & { metafile: true } {
  return {
    ...bundleOptions(COMMAND),
    splitting: false,
    format: 'cjs',
    charset: 'ascii',
    outExtension: { '.js': '.cjs' },
    define: { 'import.meta.url': 'moduleUrl', 'import.meta.compiledCode': 'compiledCode' },
    supported: { 'dynamic-import': false },
    banner: { js: '(function(moduleUrl,compiledCode,require){' },
    footer: { js: '})' },
  };
}
