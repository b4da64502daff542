import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { LARGEST_FILE } from '../folder-scan.ts';
import { readPlugin } from '../plugins/read-plugin.ts';
import { currentBody, findPrompt, PromptStore } from './prompt-store.ts';
import { skillLines } from './skill-list.ts';

const skill = (name: string, description = `does ${name}`, more = ''): string =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n# ${name}\nSteps.\n`;

interface Opened {
  store: PromptStore;
  base: string;
  names(): string[];
  errors(): string[];
}

async function open(files: Record<string, string>, trusted = true): Promise<Opened> {
  const base = temporaryDirectory();
  mkdirSync(join(base, 'work/deep'), { recursive: true });
  writeFiles(base, files);
  const store = new PromptStore({
    place: () => ({
      cwd: join(base, 'work/deep'),
      root: join(base, 'work'),
      home: join(base, 'user/.ramet'),
      userHome: join(base, 'user'),
      managed: [join(base, 'managed')],
      plugins: [{ name: 'tool', root: join(base, 'plugin') }],
    }),
    trust: () => ({ isTrusted: trusted, verdictOnOwn: () => 'trusted' }),
  });
  await store.refresh();
  return {
    store,
    base,
    names: () => store.catalog.prompts.map(({ name, source }) => `${name} ${source}`),
    errors: () =>
      store.catalog.problems
        .filter(({ level }) => level === 'error')
        .map(({ path, message }) => `${path.slice(base.length + 1)}: ${message}`),
  };
}

describe('EXT-3: where skills and commands come from', () => {
  test('managed policy, the project up to its root, the user and plugins; of one name the first counts', async () => {
    const opened = await open({
      'managed/skills/one/SKILL.md': skill('one'),
      'work/deep/.claude/skills/one/SKILL.md': skill('one'),
      'work/.ramet/skills/two/SKILL.md': skill('two'),
      'user/.claude/skills/two/SKILL.md': skill('two'),
      'user/.ramet/skills/three/SKILL.md': skill('three'),
      'plugin/skills/three/SKILL.md': skill('three'),
      'work/.claude/commands/ship.md': 'Ship it.',
      'work/.claude/commands/git/commit.md': '---\ndescription: commits\n---\nCommit.',
      'plugin/commands/git/push.md': 'Push.',
    });
    expect(opened.names()).toEqual([
      'git:commit project',
      'one managed',
      'ship project',
      'three user',
      'tool:git:push plugin',
      'tool:three plugin',
      'two project',
    ]);
    expect(opened.store.catalog.shadowed.map(({ prompt }) => prompt.source)).toEqual(['project', 'user']);
    expect(opened.errors()).toEqual([]);
    const { prompts } = opened.store.catalog;
    expect(findPrompt(prompts, 'PUSH')?.name).toBe('tool:git:push');
    expect(findPrompt(prompts, 'three')?.name).toBe('three');
    expect(findPrompt(prompts, 'nothing')).toBeUndefined();
  });

  test('SEC-1: those of a project that is not trusted are named, and neither act nor shadow', async () => {
    const opened = await open(
      {
        'work/.claude/skills/one/SKILL.md': skill('one'),
        'user/.claude/skills/one/SKILL.md': skill('one'),
        'work/.claude/commands/ship.md': 'Ship it.',
      },
      false,
    );
    expect(opened.names()).toEqual(['one user']);
    expect(opened.store.catalog.untrusted.map(({ name }) => name)).toEqual(['one', 'ship']);
  });

  test('what lies beside SKILL.md is no skill and is not walked through', async () => {
    const opened = await open({
      'user/.claude/skills/one/SKILL.md': skill('one'),
      'user/.claude/skills/one/examples/two/SKILL.md': skill('two'),
      'user/.claude/skills/group/three/SKILL.md': skill('three'),
    });
    expect(opened.names()).toEqual(['one user', 'three user']);
  });

  test('a change is seen by the next look, and a body is read as it is now', async () => {
    const opened = await open({ 'user/.claude/skills/one/SKILL.md': skill('one') });
    const [one] = opened.store.catalog.prompts;
    if (one === undefined) throw new Error('no skill');
    writeFileSync(one.path, skill('one', 'other').replace('Steps.', 'New steps.'));
    await opened.store.refresh();
    expect(opened.store.catalog.prompts[0]?.description).toBe('other');
    expect(currentBody(one)).toEqual({ body: '# one\nNew steps.' });
  });
});

describe('EXT-3: bad skills and commands', () => {
  test('are named, with the reason, and harm nobody', async () => {
    const opened = await open({
      'user/.claude/skills/good/SKILL.md': skill('good'),
      'user/.claude/skills/open/SKILL.md': '---\nname: open\ndescription: x\n',
      'user/.claude/skills/empty/SKILL.md': '---\nname: empty\ndescription: x\n---\n',
      'user/.claude/skills/large/SKILL.md': skill('large') + 'x'.repeat(LARGEST_FILE),
      'user/.claude/skills/yaml/SKILL.md': '---\n{ [ not: fields\n---\nText.\n',
      'work/.claude/commands/bad name.md': 'Text.',
    });
    writeFileSync(join(opened.base, 'user/.claude/skills/good/data.bin'), Buffer.from([0, 255, 254]));
    mkdirSync(join(opened.base, 'user/.claude/skills/binary'));
    writeFileSync(join(opened.base, 'user/.claude/skills/binary/SKILL.md'), Buffer.from([0, 255, 254]));
    await opened.store.refresh();
    expect(opened.names()).toEqual(['good user']);
    expect(opened.errors().sort()).toEqual([
      expect.stringMatching(/^user.*binary.*: it is not UTF-8 text/),
      expect.stringMatching(/^user.*empty.*: it has no text/),
      expect.stringMatching(/^user.*large.*: it has \d+ bytes/),
      expect.stringMatching(/^user.*open.*: the front matter has no end/),
      expect.stringMatching(/^user.*yaml.*: /),
      expect.stringMatching(/^work.*bad name.*: "bad name" is no name/),
    ]);
  });

  test('SEC-1: a link out of the repository is refused, one of the user within the home directory is not', async () => {
    const opened = await open({
      'outside/far/SKILL.md': skill('far'),
      'user/kept/near/SKILL.md': skill('near'),
      'work/.claude/skills/good/SKILL.md': skill('good'),
    });
    symlinkSync(join(opened.base, 'outside/far'), join(opened.base, 'work/.claude/skills/far'));
    mkdirSync(join(opened.base, 'work/.claude/skills/file'));
    symlinkSync(
      join(opened.base, 'outside/far/SKILL.md'),
      join(opened.base, 'work/.claude/skills/file/SKILL.md'),
    );
    mkdirSync(join(opened.base, 'user/.claude/skills'), { recursive: true });
    symlinkSync(join(opened.base, 'user/kept/near'), join(opened.base, 'user/.claude/skills/near'));
    await opened.store.refresh();
    expect(opened.names()).toEqual(['good project', 'near user']);
    expect(opened.errors()).toEqual([
      expect.stringMatching(/^work\/\.claude\/skills\/far: it is a link that leads out/),
      expect.stringMatching(/^work\/\.claude\/skills\/file\/SKILL\.md: it is a link that leads out/),
    ]);
  });

  test('a hint that YAML cannot read is taken as it stands', async () => {
    const text = '---\nargument-hint: [issue] [branch]\ndescription: fixes: an issue\n---\nFix $1 on $2.';
    const opened = await open({ 'user/.claude/commands/fix.md': text });
    expect(opened.store.catalog.prompts).toMatchObject([
      { name: 'fix', argumentHint: '[issue] [branch]', description: 'fixes: an issue' },
    ]);
  });

  test.for(['[file] | [folder]', '<id> [--all]', '[a] [b]', '{name} [x]', '[only]', '[one, two]'])(
    'the hint %s is no mistake',
    async (hint) => {
      const opened = await open({ 'user/.claude/commands/go.md': `---\nargument-hint: ${hint}\n---\nGo.` });
      expect(opened.store.catalog.prompts).toMatchObject([
        { name: 'go', argumentHint: hint === '[one, two]' ? '[one] [two]' : hint },
      ]);
      expect(opened.store.catalog.problems).toEqual([]);
    },
  );

  test('a name for people, as public skills have it, is no mistake: the folder names the skill', async () => {
    const opened = await open({ 'user/.claude/skills/audit/SKILL.md': skill('Access Auditor', 'd') });
    expect(opened.store.catalog.prompts).toMatchObject([{ name: 'audit' }]);
    expect(opened.store.catalog.problems.filter(({ level }) => level !== 'note')).toEqual([]);
  });

  test('fields that are unknown or cannot be read are said, and the file is used', async () => {
    const fields =
      'allowed-tools: Bash(git log:*), Task\nmodel: [x]\neffort: huge\nfoo: bar\nhooks: {}\ndisable-model-invocation: true\nuser-invocable: false\ncontext: fork\n';
    const opened = await open({ 'user/.claude/skills/one/SKILL.md': skill('one', 'd', fields) });
    expect(opened.store.catalog.prompts).toMatchObject([
      { allowedTools: ['Bash(git log:*)', 'Agent'], model: null, forModel: false, forUser: false },
    ]);
    expect(opened.store.catalog.prompts[0]?.agent).toBe('general-purpose');
    expect(opened.store.catalog.problems.map(({ field, level }) => `${field} ${level}`)).toEqual([
      'effort warning',
      'model warning',
      'foo note',
      'hooks inactive',
    ]);
  });
});

test('EXT-3: a folder among the skills that is none is named, and one that only holds some is not', async () => {
  const { errors, names } = await open({
    'work/.claude/skills/lower/skill.md': skill('lower'),
    'work/.claude/skills/group/one/SKILL.md': skill('one'),
    'work/.claude/skills/two/SKILL.md': skill('two'),
    'work/.claude/skills/two/notes/x.md': 'x',
  });
  expect(names()).toEqual(['one project', 'two project']);
  expect(errors()).toEqual(['work/.claude/skills/lower: it has no SKILL.md: left out']);
});

test('EXT-3: what a plugin brings and nothing reads is named', () => {
  const root = temporaryDirectory();
  const manifest = { name: 'p', version: '1.0.0', author: 'a', lspServers: './.lsp.json', zzz: 1 };
  writeFiles(root, {
    '.claude-plugin/plugin.json': JSON.stringify(manifest),
    ...{ '.lsp.json': '{}', 'output-styles/a.md': 'x', 'skills/one/SKILL.md': skill('one') },
  });
  expect(readPlugin(root)).toMatchObject({
    notes: [`${root}: without effect in Ramet: lspServers, zzz, .lsp.json, output-styles`],
  });
});

describe('EXT-3: the list of skills for a model', () => {
  test('is one line each, shorter with many, and by name alone beyond the limit', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [
        `user/.claude/skills/s${at}/SKILL.md`,
        skill(`s${at}`, `Use it for <b>this</b> ${'and that '.repeat(40)}`),
      ]),
    );
    const { prompts } = (await open(files)).store.catalog;
    const [first] = skillLines(prompts.slice(0, 3));
    expect(first).toMatch(/^- s0: Use it for this and that/);
    expect(first?.length).toBeGreaterThan(300);
    const all = skillLines(prompts);
    expect(all.join('\n').length).toBeLessThanOrEqual(8_000);
    expect(all.at(-1)).toMatch(/^Also, without a description here: s/);
  });
});
