import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { UNTRUSTED } from '../setting-value.ts';
import { NOTHING } from './other-tools.ts';
import { foldersUpTo, otherToolsNotices, readOtherTools } from './read-other-tools.ts';

function placeIn(directory: string) {
  mkdirSync(join(directory, 'home'), { recursive: true });
  mkdirSync(join(directory, 'repo'), { recursive: true });
  return {
    root: join(directory, 'repo'),
    home: join(directory, 'home/.ramet'),
    userHome: join(directory, 'home'),
  };
}

const json = (value: unknown): string => JSON.stringify(value);

describe('EXT-1: settings of another tool', () => {
  test('are nothing where there are none', async ({ directory }) => {
    const place = placeIn(directory);
    const found = await readOtherTools(place);
    expect(found).toEqual(NOTHING);
    expect(otherToolsNotices(found, place)).toEqual([]);
  });

  test('narrow: deny and ask rules of all three files count, with the file they are from', async ({
    directory,
  }) => {
    const place = placeIn(directory);
    writeFiles(directory, {
      'repo/.claude/settings.json': json({
        permissions: { deny: ['Read(.env)', 'Bash(curl:*)'], ask: ['Task(x)'] },
      }),
      'repo/.claude/settings.local.json': json({ permissions: { deny: ['WebFetch'] } }),
      'home/.claude/settings.json': `\ufeff${json({ permissions: { ask: ['Bash(git push:*)'] } })}`,
    });
    const found = await readOtherTools(place);
    expect(found.rules).toEqual([
      {
        place: '.claude/settings.json',
        base: place.root,
        texts: { deny: ['Read(.env)', 'Bash(curl:*)'], ask: ['Agent(x)'] },
      },
      { place: '.claude/settings.local.json', base: place.root, texts: { deny: ['WebFetch'] } },
      { place: '~/.claude/settings.json', base: place.root, texts: { ask: ['Bash(git push:*)'] } },
    ]);
    expect(otherToolsNotices(found, place)).toEqual([]);
  });

  /** Rows of docs/settings.md: the key, and what it says about it. */
  const rows = Array.from(
    readFileSync(new URL('../../../../../docs/settings.md', import.meta.url), 'utf8').matchAll(
      /^\| `([\w$.]+)` \| (used|used after trust|not used) \|/gm,
    ),
    ([, key = '', state = '']) => [key, state] as const,
  );

  /** Where a list of texts is no value that could count. */
  const FITTING: Readonly<Record<string, unknown>> = {
    ...{ model: 'opus', fallbackModel: 'haiku', effortLevel: 'high', cleanupPeriodDays: 7 },
    'permissions.defaultMode': 'plan',
  };

  test('the table of keys has them', () => {
    expect(rows.length).toBeGreaterThan(40);
    expect(new Set(rows.map(([key]) => key)).size).toBe(rows.length);
  });

  test.for(rows)('%s is %s, as the table of keys says', async ([key, state], { directory }) => {
    const [first = '', second] = key.split('.');
    const given = FITTING[key] ?? ['Read'];
    const value = { [first]: second === undefined ? given : { [second]: given } };
    const place = placeIn(directory);
    writeFiles(directory, {
      'repo/.claude/settings.json': json(value),
      'home/.claude/settings.json': json(value),
    });
    const unusedIn = async (isTrusted: boolean) => {
      const { unused } = await readOtherTools({ ...place, isAsTrusted: async () => isTrusted });
      const about = (file: string) =>
        unused.find(({ what, source }) => what === key && source === join(directory, file));
      return [about('repo/.claude/settings.json'), about('home/.claude/settings.json')];
    };
    const [ofTrusted, ofUser] = await unusedIn(true);
    const [ofUntrusted] = await unusedIn(false);
    expect(ofTrusted !== undefined).toBe(state === 'not used');
    expect(ofUntrusted !== undefined).toBe(state !== 'used');
    expect(ofUntrusted?.needsTrust === UNTRUSTED).toBe(state === 'used after trust');
    expect(ofUser !== undefined).toBe(state === 'not used');
  });

  test('a key that nobody knows is named as unknown', async ({ directory }) => {
    const place = placeIn(directory);
    writeFiles(directory, { 'repo/.claude/settings.json': json({ modle: 'x', permissions: { alow: [] } }) });
    const { unused } = await readOtherTools(place);
    expect(unused.map(({ what }) => what)).toEqual(['permissions.alow (unknown)', 'modle (unknown)']);
  });

  test('say by name what has no effect here, and what needs trust, in a line each', async ({ directory }) => {
    const place = placeIn(directory);
    writeFiles(directory, {
      'repo/.claude/settings.json': json({
        hooks: {},
        env: {},
        permissions: { allow: ['Bash'], deny: ['Read(.env)'] },
      }),
      'repo/.claude/output-styles/x.md': '',
      'repo/.claude/agents/x.md': '',
      'repo/.mcp.json': '{}',
      'home/.claude/plugins/x/y': '',
      'repo/.claude/workflows/w.js': '',
      'home/.claude/settings.local.json': '{}',
    });
    expect(otherToolsNotices(await readOtherTools(place), place)).toEqual([
      'not applied before you trust this folder (ramet trust): permissions.allow in .claude/settings.json, env in .claude/settings.json',
      'set up for Claude Code and without effect in Ramet: .claude/output-styles, .claude/workflows, ~/.claude/plugins, ~/.claude/settings.local.json (see ramet settings)',
    ]);
  });

  test.for([
    ['{ "permissions": ', 'is no valid JSON'],
    ['[]', 'holds no JSON object'],
    ['{ "permissions": [] }', 'permissions in .claude/settings.json is no object'],
    ['{ "permissions": { "deny": "Read" } }', 'permissions.deny in .claude/settings.json is no list'],
    ['{ "permissions": { "deny": [7] } }', 'the deny rule "7" in .claude/settings.json'],
    ['{ "permissions": { "deny": ["Bash("] } }', 'the deny rule "Bash(" in .claude/settings.json'],
  ])(
    'that cannot be read say that their rules are not in force: %s',
    async ([text = '', problem = ''], { directory }) => {
      const place = placeIn(directory);
      writeFiles(directory, { 'repo/.claude/settings.json': text });
      const { problems } = await readOtherTools(place);
      expect(problems).toEqual([expect.stringContaining(problem)]);
      expect(problems[0]).toMatch(/NOT in force$/);
    },
  );

  test('that are a folder say so too, and good rules beside a bad one count', async ({ directory }) => {
    const place = placeIn(directory);
    mkdirSync(join(place.root, '.claude/settings.json'), { recursive: true });
    writeFiles(directory, {
      'repo/.claude/settings.local.json': json({ permissions: { deny: ['Nope(x)', 'Read(.env)'] } }),
    });
    const { rules, problems } = await readOtherTools(place);
    expect(problems).toEqual([
      '.claude/settings.json cannot be read (EISDIR): deny and ask rules in it are NOT in force',
      expect.stringMatching(/^the deny rule "Nope\(x\)" in \.claude\/settings\.local\.json .*NOT in force$/),
    ]);
    expect(rules).toEqual([
      { place: '.claude/settings.local.json', base: place.root, texts: { deny: ['Read(.env)'] } },
    ]);
  });

  test('count from every folder between the working directory and the root, with what has no effect', async ({
    directory,
  }) => {
    const { root, ...place } = placeIn(directory);
    const cwd = join(root, 'packages/one');
    writeFiles(directory, {
      'repo/packages/one/.claude/settings.local.json': json({ permissions: { ask: ['Bash(git push:*)'] } }),
      'repo/packages/.claude/settings.json': json({ permissions: { deny: ['Edit(/x)'] }, env: {} }),
      'repo/.claude/settings.json': json({ permissions: { deny: ['Read(.env)'] } }),
      'repo/packages/two/.claude/settings.json': json({ permissions: { deny: ['WebFetch'] } }),
      '.claude/settings.json': json({ permissions: { deny: ['WebSearch'] } }),
    });
    const here = { ...place, root, folders: foldersUpTo(cwd, root) };
    const found = await readOtherTools(here);
    expect(found.rules.map((one) => [one.place, one.base])).toEqual([
      ['packages/one/.claude/settings.local.json', cwd],
      ['packages/.claude/settings.json', join(root, 'packages')],
      ['.claude/settings.json', root],
    ]);
    expect(otherToolsNotices(found, here)).toEqual([
      expect.stringContaining('env in packages/.claude/settings.json'),
    ]);
  });

  test('that have a key twice, or are a link to nowhere, say so', async ({ directory }) => {
    const place = placeIn(directory);
    writeFiles(directory, {
      'repo/.claude/settings.json':
        '{ "permissions": { "deny": ["Read(a)"] },\n "permissions": { "deny": ["Read(b)"] } }',
    });
    symlinkSync('nowhere.json', join(place.root, '.claude/settings.local.json'));
    const { rules, problems } = await readOtherTools(place);
    expect(rules).toMatchObject([{ texts: { deny: ['Read(b)'] } }]);
    expect(problems).toEqual([
      expect.stringMatching(
        /^\.claude\/settings\.json line 2: the key "permissions" stands twice.*NOT in force$/,
      ),
      '.claude/settings.local.json is a link that leads nowhere: deny and ask rules in it are NOT in force',
    ]);
  });

  test('SEC-1: variables of a trusted folder choose no program and load no code', async ({
    directory: base,
  }) => {
    const refused = [
      'PATH',
      'NODE_OPTIONS',
      'LD_PRELOAD',
      'GIT_SSH_COMMAND',
      'BASH_ENV',
      'https_proxy',
      'npm_config_prefix',
      'XDG_CONFIG_HOME',
      'PYTEST_ADDOPTS',
      'MYAPP_DATA',
    ];
    const env = {
      ...Object.fromEntries(refused.map((name) => [name, './x'])),
      ...{ NODE_ENV: 'test', DEBUG: 1, MYAPP_MODE: 'dev' },
    };
    writeFiles(base, { 'repo/.claude/settings.json': json({ env }) });
    const root = join(base, 'repo');
    const place = {
      root,
      home: join(base, 'home'),
      userHome: base,
      folders: [root],
      isAsTrusted: async () => true,
    };
    const found = await readOtherTools(place);
    expect(found.env).toEqual({ NODE_ENV: 'test', DEBUG: '1', MYAPP_MODE: 'dev' });
    expect(found.problems).toEqual([
      `env in .claude/settings.json: ${refused.join(', ')} not set: a folder does not say what programs run, load or reach (set it in ~/.claude/settings.json if you want it)`,
    ]);
  });

  const CHOICES = {
    ...{ model: 'claude-opus-5[1m]', fallbackModel: 'haiku', effortLevel: 'high', cleanupPeriodDays: 7 },
    permissions: { defaultMode: 'plan', additionalDirectories: ['../beside', '~/notes'] },
  };
  const chosen = ({ values }: Awaited<ReturnType<typeof readOtherTools>>): unknown[] =>
    values.map(({ level, path, value }) => [level, path.join('.'), value]);

  test('choose what has a counterpart: of a repository after trust', async ({ directory }) => {
    const place = placeIn(directory);
    writeFiles(directory, { 'repo/.claude/settings.json': json(CHOICES) });
    const before = await readOtherTools({ ...place, isAsTrusted: async () => false });
    expect([before.values, before.directories]).toEqual([[], []]);
    const after = await readOtherTools({ ...place, isAsTrusted: async () => true });
    expect(chosen(after)).toEqual([
      ['repository', 'model', 'claude-opus-5'],
      ['repository', 'fallbackModel', 'haiku'],
      ['repository', 'effort', 'high'],
      ['repository', 'permissions.defaultMode', 'plan'],
      ['repository', 'cleanupPeriodDays', 7],
    ]);
    expect(after.directories.map(({ path }) => path)).toEqual([
      join(directory, 'beside'),
      join(directory, 'home/notes'),
    ]);
    expect(after.unused).toEqual([]);
  });

  test('count whole where they are the user’s own, and the nearer file comes after', async ({
    directory,
  }) => {
    const place = placeIn(directory);
    const env = { PATH: '/own', OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', AWS_BEARER_TOKEN_BEDROCK: 'k' };
    writeFiles(directory, {
      'home/.claude/settings.json': json({
        permissions: { allow: ['Bash(ls:*)'] },
        env,
        statusLine: {},
        model: 'opus',
      }),
      'repo/.claude/settings.json': json({ model: 'haiku' }),
      'repo/.claude/settings.local.json': json({ model: 'sonnet', statusLine: {} }),
    });
    const found = await readOtherTools({ ...place, isAsTrusted: async () => true });
    expect(found.rules.at(-1)).toMatchObject({
      place: '~/.claude/settings.json',
      texts: { allow: ['Bash(ls:*)'] },
    });
    expect(found.env).toEqual({ PATH: '/own' });
    expect(found.statusLines).toEqual([
      join(place.root, '.claude/settings.local.json'),
      join(directory, 'home/.claude/settings.json'),
    ]);
    expect(chosen(found)).toEqual([
      ['user', 'model', 'opus'],
      ['repository', 'model', 'haiku'],
      ['local', 'model', 'sonnet'],
    ]);
  });

  test('SEC-1: of a repository take every server of .mcp.json only after trust', async ({ directory }) => {
    const place = placeIn(directory);
    writeFiles(directory, {
      'home/.claude/settings.json': json({ enabledMcpjsonServers: ['mine'] }),
      'repo/.claude/settings.json': json({ enableAllProjectMcpServers: true, effortLevel: 'xhigh' }),
    });
    const taken = async (isTrusted: boolean) => {
      const { servers, values } = await readOtherTools({ ...place, isAsTrusted: async () => isTrusted });
      return [servers.some(({ takesAll }) => takesAll), values.map(({ value }) => value)];
    };
    expect([await taken(false), await taken(true)]).toEqual([
      [false, []],
      [true, ['high']],
    ]);
  });

  test('that say what nothing here can be are named', async ({ directory }) => {
    const place = placeIn(directory);
    const odd = { model: 'gpt-5', effortLevel: 'huge', permissions: { defaultMode: 'bypassPermissions' } };
    writeFiles(directory, { 'home/.claude/settings.json': json(odd) });
    const { values, unused } = await readOtherTools(place);
    expect(values).toEqual([]);
    expect(unused.map(({ what }) => what)).toEqual(['permissions.defaultMode', 'model', 'effortLevel']);
  });

  const HOOKS = { hooks: { Stop: [] } };

  test.for([
    ['of the user, all hooks of other tools', 'home/.claude/settings.json', []],
    ['of a repository, its own', 'repo/.claude/settings.local.json', ['home/.claude/settings.json']],
  ] as const)('SEC-1: disableAllHooks turns off, %s', async ([, off, left], { directory }) => {
    const place = placeIn(directory);
    const files = [
      'home/.claude/settings.json',
      'repo/.claude/settings.json',
      'repo/.claude/settings.local.json',
    ];
    writeFiles(
      directory,
      Object.fromEntries(
        files.map((file) => [file, json({ ...HOOKS, ...(file === off && { disableAllHooks: true }) })]),
      ),
    );
    const { hooks, unused } = await readOtherTools({ ...place, isAsTrusted: async () => false });
    expect(hooks).toEqual(left.map((file) => join(directory, file)));
    expect(unused.map(({ what, source }) => [what, source])).toEqual(
      ['repo/.claude/settings.json', 'repo/.claude/settings.local.json', 'home/.claude/settings.json']
        .filter((file) => !left.some((one) => one === file))
        .map((file) => ['hooks, turned off by disableAllHooks,', join(directory, file)]),
    );
  });
});
