/**
 * The launcher in throw-away copies of the places it lives in. A small stand-in command says which copy ran; an
 * old Node is this one with its version number replaced before the launcher starts.
 */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const LAUNCHER = join(import.meta.dirname, '../../bin/ramet.js');
const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-launcher-')));
});
afterEach(() => rmSync(root, { recursive: true }));

function place(path: string, content: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** Puts a copy of the launcher into the package folder `inside` and starts it. */
function launch(
  inside: string,
  options: { pretend?: string; args?: readonly string[]; env?: Record<string, string> } = {},
) {
  place(join(inside, 'package.json'), '{"type":"module","version":"1.2.3"}');
  const launcher = join(root, inside, 'bin/ramet.js');
  cpSync(LAUNCHER, launcher);
  const versions = `{...process.versions,node:${JSON.stringify(options.pretend)}}`;
  const disguise = `data:text/javascript,Object.defineProperty(process,'versions',{value:${versions}})`;
  const flags = options.pretend === undefined ? [] : ['--import', disguise];
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, launcher, ...(options.args ?? [])],
    { encoding: 'utf8', env: { ...env, RAMET_HOME: join(root, 'home'), ...options.env } },
  );
  return { status, stdout, stderr };
}

const CACHE = `home/cache/1.2.3-${process.versions.node}`;

/** A bundle that keeps its code if it can, and says what it found. */
const BUNDLE = `(function (moduleUrl, compiledCode) {
  function late() { return 'ran'; }
  late();
  console.log(compiledCode === undefined ? 'none' : compiledCode.kept);
  if (compiledCode !== undefined && compiledCode.kept === 'nothing') compiledCode.keep('session');
})`;

/** Starts the command as an installed package: whether it has a compile cache, and whether its code was in it. */
function cacheUsed(...args: string[]): string {
  place('ramet/dist/cli/main.cjs', BUNDLE);
  const { status, stdout, stderr } = launch('ramet', { args });
  return status === 0 && stderr === '' ? stdout.trim() : `${status}: ${stderr}`;
}

function makeCache(mode: number): void {
  mkdirSync(join(root, CACHE), { recursive: true });
  chmodSync(join(root, CACHE), mode);
}

/** The one file in it. */
function cachedFile(): string {
  const [name = '', ...others] = readdirSync(join(root, CACHE));
  expect(others).toEqual([]);
  return join(root, CACHE, name);
}

test('the build keeps the code of its bundle beside it', () => {
  const dist = join(dirname(LAUNCHER), '../dist');
  const digest = hash('sha256', readFileSync(join(dist, 'cli/main.cjs'))).slice(0, 32);
  expect(readdirSync(join(dist, '.compile-cache'))).toContain(`${digest}-${process.version}-${process.arch}`);
});

describe('the compile cache of an installed package', () => {
  test('holds the code of the functions that ran, and every later command starts from it', () => {
    makeCache(0o700);
    expect(cacheUsed('-p', 'prompt')).toBe('nothing');
    expect(statSync(cachedFile()).mode & 0o777).toBe(0o600);
    expect(readFileSync(cachedFile(), 'latin1')).toContain('ran');
    expect(cacheUsed('ps')).toBe('session');
  });

  test.each([
    ['cut short', (content: Buffer) => content.subarray(0, -8)],
    ['empty', () => Buffer.alloc(0)],
    ['changed in one bit', (content: Buffer) => content.map((byte, at) => (at === 200 ? byte ^ 1 : byte))],
  ])('is written again when it is %s: damaged code would end the process', (_, damage) => {
    makeCache(0o700);
    cacheUsed();
    writeFileSync(cachedFile(), damage(readFileSync(cachedFile())));
    expect(cacheUsed()).toBe('nothing');
    expect(cacheUsed()).toBe('session');
  });

  test('is not taken for that of another bundle of the same length', () => {
    makeCache(0o700);
    cacheUsed();
    place('ramet/dist/cli/main.cjs', BUNDLE.replace("'none'", "'NONE'"));
    expect(launch('ramet').stdout).toBe('nothing\n');
    expect(launch('ramet').stdout).toBe('session\n');
  });

  test('is not made if missing: a launcher makes nothing in the home', () => {
    expect(cacheUsed('-p', 'prompt')).toBe('none');
    expect(existsSync(join(root, 'home'))).toBe(false);
  });

  test('is not used when others could write to it, for what lies there is run', () => {
    makeCache(0o770);
    expect(cacheUsed('-p', 'prompt')).toBe('none');
  });

  test('is not used when it is a link to somewhere', () => {
    mkdirSync(join(root, 'elsewhere'), { mode: 0o700 });
    mkdirSync(dirname(join(root, CACHE)), { recursive: true });
    symlinkSync(join(root, 'elsewhere'), join(root, CACHE));
    expect(cacheUsed('-p', 'prompt')).toBe('none');
  });

  test('is not used when it is another user’s', ({ skip }) => {
    makeCache(0o700);
    if (process.getuid?.() !== 0) skip('only root can give a folder away');
    chownSync(join(root, CACHE), 65_534, 65_534);
    expect(cacheUsed('-p', 'prompt')).toBe('none');
  });

  test('is not looked for in a home that is no absolute path', () => {
    makeCache(0o700);
    place('ramet/dist/cli/main.cjs', BUNDLE);
    const env = { RAMET_HOME: 'home', HOME: '' };
    expect(launch('ramet', { env, args: ['-p', 'prompt'] }).stdout).toBe('none\n');
    expect(launch('ramet', { env: { RAMET_HOME: '', HOME: '' } }).stdout).toBe('none\n');
  });
});

describe('the launcher', () => {
  test('runs the bundle when there is one', () => {
    place('ramet/dist/cli/main.cjs', '(() => console.log("bundle"))');
    place('ramet/src/cli/main.ts', 'console.log("sources")');
    expect(launch('ramet')).toEqual({ status: 0, stdout: 'bundle\n', stderr: '' });
  });

  test('tells the bundle where it is, and lets it load what is installed beside it', () => {
    const bundle = '(url, code, require) => { console.log(url); console.log(require("beside").word); }';
    const file = place('ramet/dist/cli/main.cjs', bundle);
    place('ramet/node_modules/beside/package.json', '{"type":"module","exports":"./index.js"}');
    place('ramet/node_modules/beside/index.js', 'export const word = "beside";');
    const stdout = `${pathToFileURL(file).href}\nbeside\n`;
    expect(launch('ramet')).toEqual({ status: 0, stdout, stderr: '' });
  });

  test('runs the sources, without a warning, when there is no bundle', () => {
    place('ramet/src/cli/main.ts', 'const word: string = "sources"; console.log(word)');
    expect(launch('ramet')).toEqual({ status: 0, stdout: 'sources\n', stderr: '' });
  });

  test('does no harm with a compile cache it can neither read nor write', () => {
    place('ramet/dist/cli/main.cjs', '(() => console.log("bundle"))');
    place('ramet/dist/.compile-cache', 'not a folder');
    expect(launch('ramet')).toEqual({ status: 0, stdout: 'bundle\n', stderr: '' });
  });

  test('tells an old Node in one line to install a newer one', () => {
    const { status, stdout, stderr } = launch('ramet', { pretend: '20.20.2' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toBe(
      'ramet needs Node 24 or newer, this is 20.20.2; install Node 24 (https://nodejs.org) and try again\n',
    );
  });

  test.each([
    ['of the checkout it is in', 'checkout/packages/ramet', 'checkout/node_modules'],
    ['of the project it is installed in', 'my project/node_modules/ramet', 'my project/node_modules'],
  ])('tells an old Node how to use the newer one %s', (_, inside, modules) => {
    place(join(modules, NODE_PACKAGE, 'bin/node'), '');
    const { status, stderr } = launch(inside, { pretend: '23.11.0' });
    expect(status).toBe(2);
    const [node, launcher] = [join(root, modules, '.bin/node'), join(root, inside, 'bin/ramet.js')];
    const link = `mkdir -p ~/.local/bin && ln -sf '${launcher.slice(0, -3)}' ~/.local/bin/ramet and try again`;
    expect(stderr).toContain(`so run: ${inside.startsWith('checkout') ? link : `'${node}' '${launcher}'`}\n`);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('is written in syntax that Node 12 parses', async () => {
    const source = readFileSync(LAUNCHER, 'utf8');
    const asItIs = await transform(source, { target: 'esnext' });
    // import() and import.meta came in 12.17 and 12.0; esbuild leaves them alone and lowers what is newer.
    const forNode12 = await transform(source, { target: 'node12.20' });
    expect(forNode12.code).toBe(asItIs.code);
    expect(source).not.toMatch(/^import\s/m);
  });
});
