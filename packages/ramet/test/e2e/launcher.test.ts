/**
 * The launcher in throw-away copies of the places it lives in. A small stand-in command says which copy ran; an
 * old Node is this one with its version number replaced before the launcher starts.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
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
function launch(inside: string, options: { pretend?: string } = {}) {
  place(join(inside, 'package.json'), '{"type":"module"}');
  const launcher = join(root, inside, 'bin/ramet.js');
  cpSync(LAUNCHER, launcher);
  const versions = `{...process.versions,node:${JSON.stringify(options.pretend)}}`;
  const disguise = `data:text/javascript,Object.defineProperty(process,'versions',{value:${versions}})`;
  const flags = options.pretend === undefined ? [] : ['--import', disguise];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, launcher], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

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
    expect(stderr).toContain(`run: alias ramet="'${node}' '${launcher}'" and try again`);
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
