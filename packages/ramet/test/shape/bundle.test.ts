import { spawnSync } from 'node:child_process';
import { build, type Metafile } from 'esbuild';
import { describe, expect, test } from 'vitest';
import {
  bundleOptions,
  COMMAND,
  commandOptions,
  ENTRIES,
  PACKAGE_ROOT,
  PROGRAMS,
  programOptions,
} from '../../scripts/bundle.ts';
import { builtinSource } from '../../scripts/bundle-plugins.ts';
import { builtInTools } from '../../src/tools/registry.ts';
import { toolSchema } from '../../src/tools/tool.ts';
import { ROOT, sourceFiles } from './repository.ts';

/** What must not be in a bundle: `start` is what is evaluated before the first request, `all` also what comes late. */
const ABSENT: readonly { entry: string; scope: 'start' | 'all'; absent: RegExp; because: string }[] = [
  { entry: 'cli/main', scope: 'start', absent: /^src\/emulator\//, because: 'only `emulate` needs it' },
  { entry: 'cli/main', scope: 'start', absent: /^src\/model\/openai/, because: 'few runs use it' },
  { entry: 'cli/main', scope: 'start', absent: /\/yaml\//, because: 'it takes 12 ms and is seldom needed' },
  {
    entry: 'cli/main',
    scope: 'start',
    absent: /^builtin:node:(https|tls|readline|dns|worker_threads|v8|vm|inspector)/,
    because: 'they take 1 to 8 ms each, and a first request on this machine needs none',
  },
  {
    entry: 'cli/main',
    scope: 'start',
    absent: /^src\/permission\/shell\//,
    because: 'it comes with the first shell command',
  },
  {
    entry: 'cli/main',
    scope: 'start',
    absent: /^src\/sandbox\/bubblewrap/,
    because: 'it comes with the first agent that only reads',
  },
  {
    entry: 'cli/main',
    scope: 'start',
    absent:
      /^src\/agents\/definitions\/(definition-(store|file|catalog|watch)|plain-fields)|^src\/sdk\/agent-types\/child-view/,
    because: 'few sessions have definition files',
  },
  {
    entry: 'cli/main',
    scope: 'start',
    absent: /^src\/tools\/web\/|^src\/files\/(undo|restor)/,
    because: 'few runs fetch a page or undo anything',
  },
  {
    entry: 'cli/main',
    scope: 'start',
    absent: /^src\/(engine\/later|git\/(merges|managed-worktrees|provenance)|files\/undo)\.ts/,
    because: 'what is behind these doors is loaded with its first use',
  },
  {
    entry: 'cli/main',
    scope: 'all',
    absent: /@anthropic-ai\/sdk|node_modules\/openai\//,
    because: 'we have a transport of our own',
  },
  {
    entry: 'cli/main',
    scope: 'start',
    absent: /\/zod\/v4\/classic\//,
    because: 'mini does the same for 1 ms; the SDK of MCP servers brings it along',
  },
  {
    entry: 'cli/main',
    scope: 'start',
    absent: /@modelcontextprotocol|^src\/extensions\/mcp\/|^src\/sdk\/mcp\/(?!mcp-source)/,
    because: 'most sessions have no MCP server',
  },
  {
    entry: 'cli/main',
    scope: 'start',
    absent:
      /^src\/memory\/(secrets|server|sync|wire)\/|^src\/sdk\/memory\/team-memory|\/(hono|node-server|node-diff3|@secretlint)\//,
    because: 'few sessions share memory',
  },
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

/** What `ramet -p` evaluates before it can do anything: what these import, late imports left out. */
const START = ['src/cli/main.ts', 'src/cli/commands/print.ts'];

function evaluatedAtStart({ inputs }: Metafile): string[] {
  const found = new Set(START);
  for (const path of found) {
    for (const { path: next, kind } of inputs[path]?.imports ?? []) {
      if (kind !== 'dynamic-import') found.add(next);
    }
  }
  return [...found];
}

/** The inputs of an output file and of all that it imports, at once or late. */
function inputsOf({ outputs }: Metafile, output: string): string[] {
  const found = new Set([output]);
  for (const path of found) for (const next of outputs[path]?.imports ?? []) found.add(next.path);
  return [...found].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
}

describe('the bundles', async () => {
  const [libraries, programs, command] = await Promise.all([
    build(bundleOptions(ENTRIES)),
    build(programOptions()),
    build(commandOptions()),
  ]);

  test.each(ABSENT)('$entry holds no $absent ($scope): $because', ({ entry, scope, absent }) => {
    const [{ metafile }, end] = entry in ENTRIES ? [libraries, 'js'] : [command, 'cjs'];
    const inputs = scope === 'all' ? inputsOf(metafile, `dist/${entry}.${end}`) : evaluatedAtStart(metafile);
    expect(inputs).toContain(ENTRIES[entry] ?? COMMAND[entry]);
    expect(inputs.filter((path) => absent.test(path))).toEqual([]);
  });

  test('leave out every language of zod but one', () => {
    const inputs = [libraries, programs, command].flatMap(({ metafile }) => Object.keys(metafile.inputs));
    const locales = inputs.filter((path) => /\/zod\/v4\/locales\//.test(path));
    expect(locales.filter((path) => !path.endsWith('/en.js'))).toEqual([]);
  });

  test('hold every program in one file: finding and linking many costs a third of a start', () => {
    const outputs = { ...programs.metafile.outputs, ...command.metafile.outputs };
    const files = Object.entries(outputs).filter(([path]) => /\.c?js$/.test(path));
    expect(files.map(([path]) => path).sort()).toEqual(
      ['dist/cli/main.cjs', ...Object.keys(PROGRAMS).map((name) => `dist/${name}.js`)].sort(),
    );
    const own = files.flatMap(([, { imports }]) => imports.filter(({ external }) => !external));
    expect(own).toEqual([]);
  });

  test('hold the command as a function in ASCII, which the launcher reads without decoding', () => {
    const [script] = (command.outputFiles ?? []).filter(({ path }) => path.endsWith('.cjs'));
    expect(script?.text).toMatch(/^\(function\(moduleUrl,compiledCode,require\)\{\n"use strict";.*\}\)\n$/s);
    expect(script?.text, 'an import() that Node would warn of').not.toMatch(/\bimport\("/);
    expect(script?.contents.find((byte) => byte > 0x7f)).toBeUndefined();
  });
});

describe('the tools in a bundle', () => {
  test('are described to the model as in the sources, without computing it', async () => {
    const tools = builtInTools({ fork: true, types: [] }).map(toolSchema);
    const program = `
      import { builtInTools } from './src/tools/registry.ts';
      import { toolSchema } from './src/tools/tool.ts';
      const tools = builtInTools({ fork: true, types: [] });
      const without = tools.map((tool) => ({ ...tool, input: null }));
      console.log(JSON.stringify(without.map(toolSchema)));`;
    const { outputFiles } = await build({
      ...bundleOptions({}),
      splitting: false,
      entryPoints: [],
      stdin: { contents: program, resolveDir: PACKAGE_ROOT },
    });
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-'], {
      input: outputFiles?.find(({ path }) => path.endsWith('.js'))?.text ?? '',
      encoding: 'utf8',
    });
    expect(stdout.trim()).toBe(JSON.stringify(tools));
  });
});

describe('EXEC-2: the program of an agent’s own process', () => {
  test('cannot ask models or write the journal by itself', async () => {
    const { metafile } = await build(programOptions());
    const inputs = inputsOf(metafile, 'dist/executors/child-main.js');
    const absent =
      /^src\/(emulator|sdk|cli|testing)\/|^src\/model\/(anthropic|openai|http-post|select-provider)|^src\/journal\/(writer|sessions)/;
    expect(inputs).toContain('src/engine/loop/loop.ts');
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
    expect(script, 'a name of node:http that nobody imports').not.toContain('ServerResponse');
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

test('LIB-1: where Node is too old for the bundle, importing it does not fail: its functions say so', () => {
  const [first = ''] = builtinSource('node:sqlite').split('; export');
  const load = new Function('process', `${first}; return whole`);
  expect(load({ getBuiltinModule: () => undefined })).toEqual({});
  expect(load({ getBuiltinModule: () => 'the module' })).toBe('the module');
});
