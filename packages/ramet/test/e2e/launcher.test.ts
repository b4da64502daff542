/**
 * The launcher in throw-away copies of the places it lives in. A small stand-in command says which copy ran; an
 * old Node is this one with its version number replaced before the launcher starts.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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

/** Starts the command as an installed package: which compile cache it has, and what was in it. */
function cacheUsed(...args: string[]): string {
  place(
    'ramet/dist/cli/main.js',
    `import { existsSync } from 'node:fs';
     import { getCompileCacheDir } from 'node:module';
     const cache = getCompileCacheDir();
     console.log(cache === undefined ? 'none' : cache.includes(${JSON.stringify(CACHE)}) ? 'own' : 'other',
       existsSync(${JSON.stringify(join(root, CACHE, 'poor'))}) ? 'kept' : 'empty');`,
  );
  return launch('ramet', { args }).stdout.trim();
}

function makeCache(mode: number): void {
  mkdirSync(join(root, CACHE), { recursive: true });
  chmodSync(join(root, CACHE), mode);
}

describe('the compile cache of an installed package', () => {
  test('is used by every command once it is filled', () => {
    makeCache(0o700);
    place(join(CACHE, 'filled'), '');
    place(join(CACHE, 'poor'), '');
    expect(cacheUsed('ps')).toBe('own kept');
    expect(cacheUsed('-p', 'prompt')).toBe('own kept');
  });

  test('is filled by a session from nothing, and not by a command that does little', () => {
    makeCache(0o700);
    place(join(CACHE, 'poor'), '');
    expect(cacheUsed('ps')).toBe('none kept');
    expect(cacheUsed('--version')).toBe('none kept');
    expect(cacheUsed('-p', 'prompt')).toBe('own empty');
    expect(statSync(join(root, CACHE)).mode & 0o777).toBe(0o700);
  });

  test('is not used where there is none: a launcher makes nothing in the home', () => {
    expect(cacheUsed('-p', 'prompt')).toBe('none empty');
    expect(existsSync(join(root, 'home'))).toBe(false);
  });

  test('is not used when others could write to it, for what lies there is run', () => {
    makeCache(0o770);
    place(join(CACHE, 'filled'), '');
    expect(cacheUsed('-p', 'prompt')).toBe('none empty');
  });

  test('is not used when it is a link to somewhere', () => {
    mkdirSync(join(root, 'elsewhere'), { mode: 0o700 });
    mkdirSync(dirname(join(root, CACHE)), { recursive: true });
    symlinkSync(join(root, 'elsewhere'), join(root, CACHE));
    expect(cacheUsed('-p', 'prompt')).toBe('none empty');
  });

  test('is not used when it is another user’s', ({ skip }) => {
    makeCache(0o700);
    place(join(CACHE, 'filled'), '');
    if (process.getuid?.() !== 0) skip('only root can give a folder away');
    chownSync(join(root, CACHE), 65_534, 65_534);
    expect(cacheUsed('-p', 'prompt')).toBe('none empty');
  });

  test('is not looked for in a home that is no absolute path', () => {
    makeCache(0o700);
    place(join(CACHE, 'filled'), '');
    const main = 'console.log(process.getBuiltinModule("node:module").getCompileCacheDir() ?? "none")';
    place('ramet/dist/cli/main.js', main);
    const env = { RAMET_HOME: 'home', HOME: '' };
    expect(launch('ramet', { env, args: ['-p', 'prompt'] }).stdout).toBe('none\n');
    expect(launch('ramet', { env: { RAMET_HOME: '', HOME: '' } }).stdout).toBe('none\n');
  });
});

describe('the launcher', () => {
  test('runs the bundle when there is one', () => {
    place('ramet/dist/cli/main.js', 'console.log("bundle")');
    place('ramet/src/cli/main.ts', 'console.log("sources")');
    expect(launch('ramet')).toEqual({ status: 0, stdout: 'bundle\n', stderr: '' });
  });

  test('runs the sources, without a warning, when there is no bundle', () => {
    place('ramet/src/cli/main.ts', 'const word: string = "sources"; console.log(word)');
    expect(launch('ramet')).toEqual({ status: 0, stdout: 'sources\n', stderr: '' });
  });

  test('does no harm with a compile cache it can neither read nor write', () => {
    place('ramet/dist/cli/main.js', 'console.log("bundle")');
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
    ['of the checkout it stands in', 'checkout/packages/ramet', 'checkout/node_modules'],
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
