import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/fixtures/command.ts';
import {
  malformedFiles,
  realLookingFiles,
  type WrittenFile,
} from '../../../test/fixtures/definition-files.ts';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { LARGEST_FILE } from '../../extensions/folder-scan.ts';
import { builtInDefinitions, findDefinition } from '../prompts/built-in.ts';
import type { CatalogEntry } from './definition-catalog.ts';
import { DefinitionStore } from './definition-store.ts';

interface Opened {
  store: DefinitionStore;
  base: string;
  /** Each entry as `name source state`, files that shadow shortened. */
  listed(): string[];
  errors(): string[];
}

/** A store over `work/` (with the working directory `work/deep/er`), `home/`, `user/` and `managed/`. */
async function open(
  files: Record<string, string>,
  trusted: () => boolean = () => true,
  verdict: 'trusted' | 'changed' = 'trusted',
): Promise<Opened> {
  const base = temporaryDirectory();
  mkdirSync(join(base, 'work/deep/er'), { recursive: true });
  writeFiles(base, files);
  const store = new DefinitionStore({
    place: {
      cwd: join(base, 'work/deep/er'),
      root: join(base, 'work'),
      home: join(base, 'home'),
      userHome: join(base, 'user'),
      managed: [join(base, 'managed')],
      plugins: [{ name: 'p', root: join(base, 'home/plugins/p') }],
    },
    builtIn: builtInDefinitions,
    toolNames: ['Read', 'Write', 'Edit', 'Glob', 'Grep', 'Bash'],
    trust: () => ({ isTrusted: trusted(), verdictOn: () => verdict }),
    trustStamp: () => String(trusted()),
  });
  onTestFinished(() => store[Symbol.dispose]());
  await store.refresh();
  const line = ({ definition, source, state, by, file }: CatalogEntry): string =>
    [definition.name, source, state, file?.path, by].filter(Boolean).join(' ').replaceAll(`${base}/`, '');
  return {
    store,
    base,
    listed: () => store.catalog.entries.filter(({ source }) => source !== 'built-in').map(line),
    errors: () =>
      store.catalog.problems
        .filter(({ level }) => level === 'error')
        .map(({ path }) => path.slice(base.length + 1)),
  };
}

function definition(name: string, extra = '', body = `I am ${name}.`): string {
  return `---\nname: ${name}\ndescription: About ${name}.\n${extra}---\n${body}\n`;
}

function asFiles(folder: string, files: readonly WrittenFile[]): Record<string, string> {
  return Object.fromEntries(files.map(({ path, text }) => [join(folder, path), text]));
}

function promptOf({ store }: Opened, name: string): string | undefined {
  return findDefinition(store.catalog.definitions, name)?.system[0];
}

describe('TYPE-4: where definitions come from', () => {
  test('managed beats project, project beats user, user beats plugin, and plugins have names of their own', async () => {
    const all = {
      'managed/agents/a.md': definition('one', '', 'managed'),
      'work/.claude/agents/a.md': definition('one', '', 'project'),
      'work/.claude/agents/b.md': definition('two', '', 'project'),
      'home/agents/a.md': definition('two', '', 'user'),
      'home/agents/b.md': definition('three', '', 'user'),
      'home/plugins/p/agents/a.md': definition('three', '', 'plugin'),
      'home/plugins/p/agents/b.md': definition('four', '', 'plugin'),
      'home/plugins/p/agents/c.md': definition('EXPLORE', '', 'plugin'),
      'home/agents/c.md': definition('Plan', '', 'user'),
    };
    const opened = await open(all);
    expect(
      ['one', 'two', 'three', 'p:three', 'four', 'p:explore', 'plan'].map((name) => promptOf(opened, name)),
    ).toEqual(['managed', 'project', 'user', 'plugin', 'plugin', 'plugin', 'user']);
    expect(promptOf(opened, 'explore')).not.toBe('plugin');
    expect(opened.listed()).toContain('one project shadowed work/.claude/agents/a.md managed/agents/a.md');
    expect(opened.store.catalog.entries).toContainEqual(
      expect.objectContaining({
        source: 'built-in',
        state: 'shadowed',
        by: join(opened.base, 'home/agents/c.md'),
      }),
    );
  });

  test('ECO-1: the nearest folder of the project wins, and .ramet beats .claude in one folder', async () => {
    const opened = await open({
      'work/.ramet/agents/x.md': definition('x', '', 'root'),
      'work/deep/.claude/agents/x.md': definition('x', '', 'deep claude'),
      'work/deep/.ramet/agents/x.md': definition('x', '', 'deep ramet'),
      '.claude/agents/x.md': definition('outside'),
      'work/deep/er/.claude/agents/very/far/down.yaml': 'name: down\ndescription: d\nprompt: p\n',
    });
    expect(promptOf(opened, 'x')).toBe('deep ramet');
    expect(opened.listed().map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      'down project active',
      'x project active',
      'x project shadowed',
      'x project shadowed',
    ]);
  });

  test('of two with one name in a folder the first by path counts, and the other is reported', async () => {
    const opened = await open({
      'home/agents/b/x.md': definition('X', '', 'second'),
      'home/agents/a/x.md': definition('x', '', 'first'),
    });
    expect(promptOf(opened, 'x')).toBe('first');
    expect(opened.listed().at(1)).toBe('X user duplicate home/agents/b/x.md home/agents/a/x.md');
    expect(opened.store.catalog.problems.map(({ level, field }) => [level, field])).toEqual([
      ['warning', 'name'],
    ]);
  });

  test('SEC-1: those of a project that is not trusted are listed, do not act and do not shadow', async () => {
    const trust = { given: false };
    const opened = await open(
      {
        'work/.claude/agents/x.md': definition('x', '', 'project'),
        'work/.claude/agents/explore.md': definition('Explore', '', 'project'),
        'home/agents/x.md': definition('x', '', 'user'),
      },
      () => trust.given,
    );
    expect(promptOf(opened, 'x')).toBe('user');
    expect(findDefinition(opened.store.catalog.definitions, 'Explore')?.source).toBeUndefined();
    expect(opened.listed()).toContain('x project untrusted work/.claude/agents/x.md');
    trust.given = true;
    expect(await opened.store.check(null)).toBe(true);
    expect(promptOf(opened, 'x')).toBe('project');
  });
});

test('SEC-1: a type whose hook script has changed is known by its name, with the reason', async () => {
  const hooks = 'hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: sh ag.sh\n';
  const files = { 'work/.claude/agents/x.md': definition('hooked', hooks) };
  const { store } = await open(files, () => true, 'changed');
  const [file] = store.catalog.unusable;
  expect(file?.name).toBe('hooked');
  expect(file?.problems[0]?.message).toContain(
    'a file that its hooks or servers run, is not what you trusted',
  );
});

describe('TYPE-3: bad files', () => {
  test('two hundred of them beside a good one stop nobody, and each is named', async () => {
    const bad = malformedFiles(200);
    const opened = await open({ ...asFiles('home/agents', bad), 'home/agents/good.md': definition('good') });
    expect(opened.listed()).toEqual(['good user active home/agents/good.md']);
    const named = new Set(opened.store.catalog.problems.map(({ path }) => path));
    expect(bad.filter(({ path }) => !named.has(join(opened.base, 'home/agents', path)))).toEqual([]);
    expect(opened.store.catalog.problems.every(({ message }) => message.length > 10)).toBe(true);
  });

  test('one that is too large, not text, not regular, or a link that leads out is refused unread', async () => {
    const opened = await open({
      'secret.md': definition('secret'),
      'home/agents/good.md': definition('good'),
      'home/agents/large.md': `${definition('large')}${'x'.repeat(LARGEST_FILE)}`,
    });
    const folder = join(opened.base, 'home/agents');
    writeFileSync(join(folder, 'binary.md'), Buffer.from([0xff, 0xfe, 0x00, 0x80]));
    symlinkSync(join(opened.base, 'secret.md'), join(folder, 'out.md'));
    symlinkSync('../../secret.md', join(folder, 'relative.md'));
    symlinkSync(opened.base, join(folder, 'up'));
    symlinkSync('nowhere.md', join(folder, 'dangling.md'));
    symlinkSync('good.md', join(folder, 'inside.md'));
    symlinkSync('.', join(folder, 'circle'));
    runSync('mkfifo', [join(folder, 'pipe.md')]);
    await opened.store.refresh();
    expect(opened.errors().map((path) => path.slice('home/agents/'.length))).toEqual([
      'binary.md',
      'dangling.md',
      'large.md',
      'out.md',
      'pipe.md',
      'relative.md',
      'up',
    ]);
    expect(opened.store.catalog.definitions.map(({ name }) => name)).not.toContain('secret');
    expect(opened.listed()).toEqual([
      'good user active home/agents/good.md',
      'good user duplicate home/agents/inside.md home/agents/good.md',
    ]);
  });

  test("a project's folder that is a link out of the repository is refused", async () => {
    const opened = await open({ 'elsewhere/x.md': definition('x') });
    mkdirSync(join(opened.base, 'work/.claude'));
    symlinkSync(join(opened.base, 'elsewhere'), join(opened.base, 'work/.claude/agents'));
    await opened.store.refresh();
    expect(opened.listed()).toEqual([]);
    expect(opened.errors()).toEqual(['work/.claude/agents']);
  });

  test('several hundred files as they are in public collections are all there', async () => {
    const files = realLookingFiles(450);
    const opened = await open({
      ...asFiles('user/.claude/agents', files),
      'user/.claude/agents/README.md': '# Agents\n',
    });
    expect(opened.errors()).toEqual([]);
    expect(opened.listed()).toHaveLength(450);
    for (const { name } of files)
      expect(findDefinition(opened.store.catalog.definitions, name)?.name).toBe(name);
  });
});

describe('TYPE-3: files that change while a session runs', () => {
  test('are seen by the watcher: added, changed, removed, moved in place, in a new folder', async () => {
    const opened = await open({ 'home/agents/a.md': definition('a', '', 'old') });
    const { store, base } = opened;
    let changes = 0;
    store.watch(() => {
      changes += 1;
    });
    const folder = join(base, 'home/agents');
    writeFileSync(join(folder, 'a.md'), definition('a', '', 'new'));
    await eventually(() => promptOf(opened, 'a') === 'new');
    writeFileSync(join(folder, '.b.md.tmp'), definition('b'));
    renameSync(join(folder, '.b.md.tmp'), join(folder, 'b.md'));
    await eventually(() => promptOf(opened, 'b') !== undefined);
    mkdirSync(join(folder, 'more/still'), { recursive: true });
    writeFileSync(join(folder, 'more/still/c.md'), definition('c'));
    await eventually(() => promptOf(opened, 'c') !== undefined);
    rmSync(join(folder, 'a.md'));
    await eventually(() => promptOf(opened, 'a') === undefined);
    expect(changes).toBeGreaterThanOrEqual(4);
  });

  test('are seen without a watcher when a type is asked for', async () => {
    const opened = await open({ 'home/agents/a.md': definition('a', '', 'old') });
    const { store, base } = opened;
    expect(await store.check('a')).toBe(false);
    writeFileSync(join(base, 'home/agents/a.md'), definition('a', '', 'changed in place'));
    expect(await store.check('A')).toBe(true);
    expect(promptOf(opened, 'a')).toBe('changed in place');
    writeFiles(base, { 'work/.ramet/agents/b.md': definition('b') });
    expect(await store.check('b')).toBe(true);
    expect(promptOf(opened, 'b')).toBe('I am b.');
  });

  test('keep their last good version while an edit is broken, and report it', async () => {
    const opened = await open({ 'home/agents/a.md': definition('a', '', 'good') });
    const path = join(opened.base, 'home/agents/a.md');
    for (const broken of [
      '',
      '---\nname: a\n',
      '---\nname: a\n---\nno description',
      'x'.repeat(LARGEST_FILE + 1),
    ]) {
      writeFileSync(path, broken);
      await opened.store.refresh();
      expect(promptOf(opened, 'a')).toBe('good');
      expect(opened.store.catalog.problems.map(({ message }) => message)).toContainEqual(
        expect.stringContaining('last good version'),
      );
    }
    writeFileSync(path, definition('a', '', 'mended'));
    await opened.store.refresh();
    expect([promptOf(opened, 'a'), opened.errors()]).toEqual(['mended', []]);
    writeFileSync(path, '# No definition any more\n');
    await opened.store.refresh();
    expect(promptOf(opened, 'a')).toBeUndefined();
  });
});
