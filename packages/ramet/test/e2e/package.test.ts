/**
 * The package as npm would publish it, unpacked into a project that uses it. It is packed in a copy of the checkout:
 * packing rebuilds `dist` and puts files beside it, and other tests run meanwhile.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
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
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../scripts/bundle.ts';
import { runSync } from '../fixtures/run-sync.ts';
import { documentReferences } from '../shape/document-references.ts';
import { ROOT } from '../shape/repository.ts';

const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-package-')));
const checkout = join(temporary, 'checkout');
const project = join(temporary, 'project');
const installed = join(project, 'node_modules/ramet');
const manifest: { version: string; dependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'),
);

/** The types of a source that an earlier build had and that is gone. */
const STALE = 'packages/ramet/dist/types/engine/gone.d.ts';

function copyCheckout(): void {
  const inPackage = ['bin', 'src', 'scripts', 'package.json', 'tsconfig.types.json'];
  const paths = [
    ...['README.md', 'LICENSE', 'CHANGELOG.md', 'CONTRIBUTING.md', 'docs'],
    'tsconfig.json',
    ...inPackage.map((name) => `packages/ramet/${name}`),
  ];
  for (const path of paths) cpSync(join(ROOT, path), join(checkout, path), { recursive: true });
  copyBuilt();
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  mkdirSync(dirname(join(checkout, STALE)), { recursive: true });
  writeFileSync(join(checkout, STALE), 'export {};\n');
}

/** The build replaces only what differs, and makes a compile cache only then: so it stands there already. */
function copyBuilt(): void {
  const from = join(PACKAGE_ROOT, 'dist');
  const to = join(checkout, 'packages/ramet/dist');
  for (const path of globSync('**/*.{js,cjs,txt}', { cwd: from })) cpSync(join(from, path), join(to, path));
  mkdirSync(join(to, '.compile-cache'));
  writeFileSync(join(to, '.compile-cache/of-this-machine'), '');
}

function installPackage(): void {
  const packed = ['pack', '--silent', '--pack-destination', temporary];
  const env = { ...process.env, npm_config_cache: join(temporary, 'npm-cache') };
  execFileSync('npm', packed, { cwd: join(checkout, 'packages/ramet'), env, stdio: 'pipe' });
  mkdirSync(installed, { recursive: true });
  const tarball = join(temporary, `ramet-${manifest.version}.tgz`);
  runSync('tar', ['xzf', tarball, '--strip-components=1', '-C', installed]);
}

/** What npm would install beside it, and the types of Node that a TypeScript project has. */
function linkDependencies(): void {
  for (const name of [...Object.keys(manifest.dependencies), '@types/node']) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
}

beforeAll(() => {
  copyCheckout();
  installPackage();
  linkDependencies();
});

afterAll(() => rmSync(temporary, { recursive: true }));

/** What the compiler says about programs in the project; nothing when they are right. */
function compile(programs: Record<string, string>): string {
  const files = Object.keys(programs);
  for (const file of files) writeFileSync(join(project, file), programs[file] ?? '');
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', '--lib', 'esnext'];
  const { stdout } = spawnSync('tsc', [...flags, '--types', 'node', ...files], {
    cwd: project,
    encoding: 'utf8',
  });
  return stdout.trim();
}

const PROGRAM = `
import { join } from 'node:path';
import { cost, openSession, status, type RunEvent, type RunResult, type SessionBill } from 'ramet';
import { type Answer, type RequestView, startEmulator } from 'ramet/emulator';

const respond = ({ turn }: RequestView): Answer =>
  turn === 0 ? { tool_use: [{ name: 'Grep', input: { pattern: 'needle' } }] } : { text: 'found it' };
await using emulator = await startEmulator({ respond });
const env = { ...process.env, RAMET_HOME: join(process.cwd(), 'home'), ANTHROPIC_BASE_URL: emulator.url, ANTHROPIC_API_KEY: 'any' };
await using session = await openSession({ env, permissionMode: 'plan' });
const events: AsyncGenerator<RunEvent, RunResult> = session.run('Find the needle.');
for (;;) {
  const { done, value } = await events.next();
  if (done) {
    console.log(value.status, value.text, value.usage.output_tokens > 0);
    break;
  }
  if (value.type === 'tool_completed') console.log(value.result.content);
}
const { ledger }: SessionBill = await cost(session.id, { env });
const [newest] = await status({ env });
console.log(ledger.total.requests, newest?.agents[0]?.agent.status);
`;

describe('the published package', () => {
  test('has nothing that publint would warn of', async () => {
    const { messages, pkg } = await publint({ pkgDir: installed, level: 'warning', pack: false });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  test('holds the bundle, its types and the documents, and neither sources nor a compile cache', () => {
    const documents = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'docs'];
    expect(readdirSync(installed).sort()).toEqual([...documents, 'bin', 'dist', 'package.json'].sort());
    for (const name of ['.compile-cache', 'test'])
      expect(existsSync(join(installed, 'dist', name))).toBe(false);
    const files = globSync('**/*', { cwd: installed }).filter((path) =>
      statSync(join(installed, path)).isFile(),
    );
    expect(files.filter((path) => /\.test\.|(?<!\.d)\.ts$/.test(path))).toEqual([]);
  });

  test('its documents link only to what it holds, and no message sends a user to a page', () => {
    const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: installed });
    expect(pages.length).toBeGreaterThan(30);
    const broken = pages.flatMap((page) => {
      const { links } = documentReferences(readFileSync(join(installed, page), 'utf8'));
      const files = links.map((link) => join(dirname(page), link.replace(/#.*$/, '')));
      return files.filter((file) => !existsSync(join(installed, file))).map((file) => `${page}: ${file}`);
    });
    expect(broken).toEqual([]);
    // Where the package is installed is not where its user is.
    const scripts = globSync('dist/**/*.{js,cjs}', { cwd: installed });
    const sending = scripts.flatMap(
      (path) => readFileSync(join(installed, path), 'utf8').match(/\bdocs\/[a-z-]+\.md\b/g) ?? [],
    );
    expect(sending).toEqual([]);
  });

  test('holds no types of a source that is gone', () => {
    const types = globSync('dist/types/**/*.d.ts', { cwd: installed });
    expect(types.length).toBeGreaterThan(100);
    const sources = types.map((path) => path.replace('dist/types/', 'src/').replace(/\.d\.ts$/, '.ts'));
    expect(sources.filter((path) => !existsSync(join(PACKAGE_ROOT, path)))).toEqual([]);
  });

  test('does not name the machine it was packed on', () => {
    const files = globSync('**/*.{js,ts,json,txt}', { cwd: installed });
    expect(files.length).toBeGreaterThan(10);
    const places = [temporary, ROOT];
    const telling = files.filter((path) => {
      const text = readFileSync(join(installed, path), 'utf8');
      return places.some((place) => text.includes(place));
    });
    expect(telling).toEqual([]);
  });

  test('lets a strict project import each part with its types', () => {
    const wrong = (name: string): string =>
      `import * as library from '${name}';\nexport const wrong: string = library;\n`;
    const complaints = compile({
      'wrong-1.mts': wrong('ramet'),
      'wrong-2.mts': wrong('ramet/emulator'),
      'wrong-3.mts': wrong('ramet/testing'),
      'program.mts': PROGRAM,
    });
    // The errors are those that were asked for: everything imported has a type, and all types compile.
    expect(complaints.split('\n').sort()).toEqual(
      [1, 2, 3].map((number) =>
        expect.stringMatching(new RegExp(`^wrong-${number}\\.mts\\(2,14\\): error TS2322`)),
      ),
    );
  });

  test('carries a program that uses it through a session', () => {
    writeFileSync(join(project, 'program.mts'), PROGRAM);
    writeFileSync(join(project, 'hay.txt'), 'a needle\n');
    const { status, stdout, stderr } = spawnSync(process.execPath, ['program.mts'], {
      cwd: project,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('hay.txt');
    expect(stdout).toMatch(/^done found .* true$/ms);
    expect(stdout).toMatch(/^2 done$/m);
  });

  const ENTRIES = ['ramet', 'ramet/emulator', 'ramet/testing'];

  test.each([
    ['import', 'mjs', (name: string) => `await import('${name}')`],
    ['require', 'cjs', (name: string) => `require('${name}')`],
  ])('LIB-1: on an older Node, %s says in one line which one is needed', (_, extension, load) => {
    // What else such a Node lacks is missing too: nothing may ask for it before.
    const older = `
      Object.defineProperty(process.versions, 'node', { value: '20.10.0' });
      process.getBuiltinModule = undefined;
    `;
    const tries = ENTRIES.map((name) => `try { ${load(name)}; } catch (error) { console.log(error); }`);
    const file = `on-old-node.${extension}`;
    writeFileSync(join(project, file), tries.join('\n'));
    const preload = `data:text/javascript,${encodeURIComponent(older)}`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', preload, file], {
      cwd: project,
      encoding: 'utf8',
    });
    const line = '[Error: ramet needs Node 24 or newer, this is 20.10.0: install Node 24]\n';
    expect({ stdout, stderr }).toEqual({ stdout: line.repeat(3), stderr: '' });
  });

  test('LIB-1: a CommonJS program gets the same functions', () => {
    const same = ENTRIES.map(
      (name) => `import('${name}').then((own) => console.log(own.VERSION === require('${name}').VERSION,
        Object.keys(own).filter((key) => key !== 'module.exports').every((key) => own[key] === require('${name}')[key])))`,
    );
    writeFileSync(join(project, 'common.cjs'), `${same.join(';\n')};\n`);
    const { stdout } = spawnSync(process.execPath, ['common.cjs'], { cwd: project, encoding: 'utf8' });
    expect(stdout).toBe('true true\n'.repeat(3));
  });

  test('keeps compiled code in the home of its user: one session makes the folder, the next fills it', () => {
    const home = join(temporary, 'user');
    const { NODE_COMPILE_CACHE: _, ...inherited } = process.env;
    const env = { ...inherited, RAMET_HOME: home, RAMET_PROVIDER: 'recipe' };
    const args = [join(installed, 'bin/ramet.js'), '-p', 'Say something.'];
    const cache = join(home, 'cache', `${manifest.version}-${process.versions.node}`);
    spawnSync(process.execPath, args, { cwd: project, env });
    expect(readdirSync(cache)).toEqual([]);
    spawnSync(process.execPath, args, { cwd: project, env });
    const [file = '', ...others] = readdirSync(cache);
    expect(file).toMatch(new RegExp(`^[0-9a-f]{32}-${process.version}-${process.arch}$`));
    expect(others).toEqual([]);
    const { ino } = statSync(join(cache, file));
    const { signal } = spawnSync(process.execPath, args, { cwd: project, env });
    expect(signal).toBeNull();
    // A run that starts from it writes nothing.
    expect(statSync(join(cache, file)).ino).toBe(ino);
    expect(existsSync(join(installed, 'dist/.compile-cache'))).toBe(false);
  });

  test('starts its command', () => {
    const launcher = join(installed, 'bin/ramet.js');
    const { status, stdout } = spawnSync(process.execPath, [launcher, '--version'], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${manifest.version}\n` });
  });
});
