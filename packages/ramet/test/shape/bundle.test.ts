import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { bundleOptions, ENTRIES, PACKAGE_ROOT, programOptions } from '../../scripts/bundle.ts';
import { ROOT, sourceFiles } from './repository.ts';

const present = Object.fromEntries(
  Object.entries(ENTRIES).filter(([, source]) => existsSync(join(PACKAGE_ROOT, source))),
);

/** What must not be in an entry: `start` is what loads with it, `all` also what it loads late. */
const ABSENT: readonly { entry: string; scope: 'start' | 'all'; absent: RegExp; because: string }[] = [
  { entry: 'cli/main', scope: 'start', absent: /^src\/emulator\//, because: 'only `emulate` needs it' },
  { entry: 'cli/main', scope: 'start', absent: /^src\/model\/openai/, because: 'few runs use it' },
  { entry: 'cli/main', scope: 'start', absent: /\/yaml\//, because: 'it takes 12 ms and is seldom needed' },
  {
    entry: 'cli/main',
    scope: 'start',
    absent: /^src\/permission\/shell\//,
    because: 'it comes with the first shell command',
  },
  {
    entry: 'cli/main',
    scope: 'start',
    absent: /^src\/workspace\/bubblewrap/,
    because: 'it comes with the first agent that only reads',
  },
  {
    entry: 'cli/main',
    scope: 'start',
    absent: /^src\/agents\/(definition-(store|file|catalog|watch)|plain-fields)|^src\/sdk\/child-view/,
    because: 'few sessions have definition files',
  },
  {
    entry: 'cli/main',
    scope: 'start',
    absent: /^src\/tools\/web\/|^src\/workspace\/(undo|restor)/,
    because: 'few runs fetch a page or undo anything',
  },
  {
    entry: 'cli/main',
    scope: 'all',
    absent: /@anthropic-ai\/sdk|node_modules\/openai\//,
    because: 'we have a transport of our own',
  },
  { entry: 'cli/main', scope: 'all', absent: /\/zod\/v4\/classic\//, because: 'mini does the same for 1 ms' },
  {
    entry: 'sdk/index',
    scope: 'all',
    absent: /^src\/cli\/|\/commander\//,
    because: 'a library has no command line',
  },
  {
    entry: 'sdk/index',
    scope: 'all',
    absent: /^src\/(testing|emulator)\//,
    because: 'they have entries of their own',
  },
  {
    entry: 'emulator/index',
    scope: 'all',
    absent: /^src\/(journal|engine|agents|tools|sdk|cli)\//,
    because: 'it serves anyone',
  },
  {
    entry: 'testing/index',
    scope: 'all',
    absent: /^src\/cli\//,
    because: 'test doubles have no command line',
  },
];

/** The inputs of an output file and of what it imports. */
function inputsOf(metafile: Metafile, output: string, late: boolean, seen = new Set<string>()): string[] {
  const file = metafile.outputs[output];
  if (file === undefined || seen.has(output)) return [];
  seen.add(output);
  const next = file.imports.filter(({ kind, external }) => !external && (late || kind !== 'dynamic-import'));
  return [...Object.keys(file.inputs), ...next.flatMap(({ path }) => inputsOf(metafile, path, late, seen))];
}

describe('the bundles', async () => {
  const { metafile } = await build(bundleOptions(present));
  const rules = ABSENT.filter(({ entry }) => entry in present);

  test.each(rules)('$entry holds no $absent ($scope): $because', ({ entry, scope, absent }) => {
    const inputs = inputsOf(metafile, `dist/${entry}.js`, scope === 'all');
    expect(inputs).toContain(ENTRIES[entry]);
    expect(inputs.filter((path) => absent.test(path))).toEqual([]);
  });

  test('leave out every language of zod but one', () => {
    const locales = Object.keys(metafile.inputs).filter((path) => /\/zod\/v4\/locales\//.test(path));
    expect(locales.filter((path) => !path.endsWith('/en.js'))).toEqual([]);
  });
});

describe('EXEC-2: the program of an agent’s own process', () => {
  test('is one file, and cannot ask models or write the journal by itself', async () => {
    const { metafile } = await build(programOptions());
    const programs = Object.entries(metafile.outputs).filter(([path]) => path.endsWith('.js'));
    expect(programs.map(([path]) => path)).toEqual([
      'dist/executors/child-main.js',
      'dist/workspace/shared-git.js',
      'dist/tools/render-worker.js',
    ]);
    const outputs = programs.slice(0, 1);
    const inputs = outputs.flatMap(([, output]) => Object.keys(output.inputs));
    const absent =
      /^src\/(emulator|sdk|cli|testing)\/|^src\/model\/(anthropic|openai|http-post|select-provider)|^src\/journal\/(writer|sessions)/;
    expect(inputs).toContain('src/engine/loop.ts');
    expect(inputs.filter((path) => absent.test(path))).toEqual([]);
  });
});

describe('the schema', () => {
  test('bundles for a browser, with nothing of Node', async () => {
    const schema = sourceFiles().filter((path) => path.startsWith('packages/ramet/src/schema/'));
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: schema,
      outdir: 'dist',
      bundle: true,
      platform: 'browser',
      format: 'esm',
      write: false,
      metafile: true,
      logLevel: 'silent',
    });
    const outside = Object.values(metafile.outputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external),
    );
    expect(outside).toEqual([]);
  });
});

describe('the modules of Node in a bundle', () => {
  const program = `
    import http, { request } from 'node:http';
    import * as process from 'node:process';
    import { readFile } from 'node:fs/promises';
    import path from 'path';
    import { DatabaseSync } from 'node:sqlite';
    const early = process.moduleLoadList.filter((name) => name.includes('undici'));
    console.log(JSON.stringify({
      early,
      same: http.request === request,
      named: [request, readFile, DatabaseSync, process.cwd].map((value) => typeof value),
      joined: path.posix.join('a', 'b'),
    }));`;

  test('work by name, by default, by subpath and by namespace, and load nothing late', async () => {
    const { outputFiles } = await build({
      ...bundleOptions({}),
      entryPoints: [],
      stdin: { contents: program, resolveDir: PACKAGE_ROOT },
    });
    const script = outputFiles?.[0]?.text ?? '';
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-'], {
      input: script,
      encoding: 'utf8',
    });
    expect(JSON.parse(stdout)).toEqual({
      early: [],
      same: true,
      named: ['function', 'function', 'function', 'function'],
      joined: 'a/b',
    });
  });
});
