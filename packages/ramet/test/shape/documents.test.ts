import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hookEventKind, isHookEvent } from '../../src/extensions/hooks/hook-event.ts';
import { LIVE_CAUSES } from '../../src/schema/status.ts';
import { documentReferences } from './document-references.ts';
import { filesMatching, ROOT, readText } from './repository.ts';

const documents = [
  ...['README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'CHANGELOG.md'],
  ...filesMatching('docs/**/*.md'),
].map((path) => ({ path, ...documentReferences(readText(path)) }));

const PATH_ROOTS = ['', 'packages/ramet', 'packages/ramet/src'];

function exists(path: string): boolean {
  return existsSync(join(ROOT, path));
}

function scriptsOf(workspace: string | undefined): string[] {
  const manifest: { scripts: Record<string, string> } = JSON.parse(
    readText(join(workspace ?? '', 'package.json')),
  );
  return Object.keys(manifest.scripts);
}

describe.each(documents)('$path', ({ path, links, paths, scripts }) => {
  test('links to files that exist', () => {
    const broken = links.filter((link) => !exists(join(dirname(path), link.replace(/#.*$/, ''))));
    expect(broken).toEqual([]);
  });

  test('names paths that exist', () => {
    expect(paths.filter((name) => !PATH_ROOTS.some((root) => exists(join(root, name))))).toEqual([]);
  });

  test('names scripts that exist', () => {
    const missing = scripts.filter(({ name, workspace }) => !scriptsOf(workspace).includes(name));
    expect(missing).toEqual([]);
  });
});

describe('the documents as a whole', () => {
  test('name enough to be worth checking', () => {
    expect(documents.flatMap(({ paths }) => paths).length).toBeGreaterThan(30);
    expect(documents.flatMap(({ scripts }) => scripts).length).toBeGreaterThan(5);
  });

  test('.ci/run calls the test command that the README gives', () => {
    const command = 'npm ci && npm test';
    expect(readText('README.md')).toContain(`\n${command}\n`);
    const calls = readText('.ci/run')
      .split('\n')
      .filter((line) => /^(npm|npx|node)\b/.test(line));
    expect(calls).toEqual([command]);
  });

  test('docs/README.md leads to every page (npm run fix lists the decisions)', () => {
    const pages = filesMatching('docs/**/*.md').filter((path) => path !== 'docs/README.md');
    const index = documents.find(({ path }) => path === 'docs/README.md');
    expect(pages.filter((path) => !index?.links.includes(path.slice('docs/'.length)))).toEqual([]);
  });

  describe('docs/views.md lists what programs read', () => {
    const rows = readText('docs/views.md')
      .split('\n')
      .flatMap((line) => /^\| (`.*?) \|/.exec(line)?.[1]?.match(/(?<=`)[\w: ]+(?=`)/g) ?? []);
    const source = readText('packages/ramet/src/cli/output/stream-json.ts');
    const printed = (field: string): string[] =>
      Array.from(source.matchAll(new RegExp(`\\b${field}: '(\\w+)'`, 'g')), ([, word = '']) => word);

    test('every line of stream-json', () => {
      const subtypes = printed('subtype');
      expect(subtypes).toContain('api_retry');
      // A message has a type of its own, the Messages API's.
      const types = printed('type').filter((type) => type !== 'message');
      expect(types).toContain('stream_event');
      expect([...types, ...subtypes].filter((word) => !rows.includes(word))).toEqual([]);
    });

    test('every status of an agent under way', () => {
      const statuses = Object.entries(LIVE_CAUSES).flatMap(([status, causes]) =>
        causes.map((cause) => `${status}: ${cause}`),
      );
      expect(['running', ...statuses].filter((status) => !rows.includes(status))).toEqual([]);
    });
  });

  test('docs/hooks.md says how long a hook of each event has, and that it may set another time', () => {
    const text = readText('docs/hooks.md');
    const events = Array.from(text.matchAll(/`(\w+)`/g), ([, name = '']) => name).filter(isHookEvent);
    expect(events).toContain('SessionEnd');
    const times = events.map((name) => ({ name, seconds: hookEventKind(name).seconds }));
    const others = times.filter(({ seconds }) => seconds !== 600);
    expect(text).toContain('`timeout` is in seconds: 600 without it');
    expect(others.filter(({ name, seconds }) => !text.includes(`${seconds} for \`${name}\``))).toEqual([]);
    expect(text).toContain('it has 1.5 seconds, unless it sets `timeout`');
  });

  test('docs/troubleshooting.md quotes messages that exist', () => {
    const rows = readText('docs/troubleshooting.md').split('\n');
    const messages = rows.flatMap((row) => /^\| `(.*?)` \| .* \| /.exec(row)?.[1] ?? []);
    const source = [...filesMatching('packages/ramet/{src,bin}/**/*.{ts,js}'), 'packages/ramet/bin/ramet']
      .filter((path) => !path.endsWith('.test.ts'))
      .map(readText)
      .join('\n');
    // What stands between < and > differs from case to case.
    const pieces = messages.flatMap((message) => message.split(/<[^>]*>/)).map((piece) => piece.trim());
    const known = pieces.filter((piece) => piece.length > 9 && !piece.startsWith('ramet: '));
    expect(known.length).toBeGreaterThan(15);
    expect(known.filter((piece) => !source.includes(piece))).toEqual([]);
  });

  test('AGENTS.md stays within 100 lines', () => {
    expect(readText('AGENTS.md').split('\n').length - 1).toBeLessThanOrEqual(100);
  });
});

describe('what counts as a reference', () => {
  test.each([
    ['see `engine/loop/loop.ts` and `docs/`', ['engine/loop/loop.ts', 'docs/']],
    ['`.ci/run` and `packages/ramet/bin/ramet.js`.', ['.ci/run', 'packages/ramet/bin/ramet.js']],
    ['```sh\nnode examples/x/run.ts\n```', ['examples/x/run.ts']],
    ['`ramet/emulator`, `text|json`, `and/or`', []],
    ['`~/.ramet/x.json`, `$RAMET_HOME/y.json`, `<repository>/.ramet/z.json`, `/etc/passwd.md`', []],
    ['`dist/cli/main.cjs`, `src/**/*.ts`, `https://example.org/a.md`', []],
  ])('in %j the paths are %j', (markdown, paths) => {
    expect(documentReferences(markdown).paths).toEqual(paths);
  });

  test('a link with a scheme or to a heading is not a file', () => {
    const markdown = '[a](docs/a.md#part) [b](https://example.org) [c](#part) [d](mailto:x@example.org)';
    expect(documentReferences(markdown).links).toEqual(['docs/a.md#part']);
  });

  test('a script may belong to a workspace', () => {
    expect(documentReferences('`npm ci && npm test`, `npm run build -w packages/ramet`').scripts).toEqual([
      { name: 'test', workspace: undefined },
      { name: 'build', workspace: 'packages/ramet' },
    ]);
  });
});
