import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import type { SessionMode } from '../schema/status.ts';
import { editTool } from '../tools/files/edit.ts';
import { readTool } from '../tools/files/read.ts';
import { writeTool } from '../tools/files/write.ts';
import { bashTool } from '../tools/shell/bash.ts';
import { webFetchTool } from '../tools/web-fetch.ts';
import type { PermissionDecision, PermissionSubject } from './assessment.ts';
import { decide } from './decide.ts';
import { type PermissionPolicy, parseRules, type RuleTexts } from './policy.ts';

const MODES: readonly SessionMode[] = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'];

const issues: PermissionSubject = { name: 'mcp__tracker__list_issues', effect: 'execute' };

function policy(mode: SessionMode, texts: RuleTexts = {}, base = '/srv'): PermissionPolicy {
  const { rules, problems } = parseRules(texts, { place: 'a test', base, home: '/home/user' });
  expect(problems).toEqual([]);
  return { mode, rules };
}

const kindOf = async (decision: Promise<PermissionDecision>): Promise<string> => (await decision).kind;
const at = (file_path: string, cwd = '/srv') => ({ input: { file_path }, cwd });

describe('RES-3: permission modes', () => {
  test.for<[SessionMode, string[]]>([
    ['default', ['allow', 'ask', 'ask', 'ask']],
    ['acceptEdits', ['allow', 'allow', 'ask', 'ask']],
    ['plan', ['allow', 'deny', 'deny', 'deny']],
    ['dontAsk', ['allow', 'deny', 'deny', 'deny']],
    ['bypassPermissions', ['allow', 'allow', 'allow', 'allow']],
  ])('%s decides a read, an edit, an edit outside and a foreign tool: %s', async ([mode, expected]) => {
    const decisions = [
      decide(policy(mode), readTool, at('/etc/hosts')),
      decide(policy(mode), editTool, at('src/a.ts')),
      decide(policy(mode), editTool, at('/etc/hosts')),
      decide(policy(mode), issues, { input: {}, cwd: '/srv' }),
    ];
    expect(await Promise.all(decisions.map(kindOf))).toEqual(expected);
  });

  test.for(MODES)('%s lets a command run that only reads', async (mode) => {
    const cwd = temporaryRepository();
    const command = { input: { command: 'git status --short && ls | wc -l' }, cwd };
    expect(await kindOf(decide(policy(mode, {}, cwd), bashTool, command))).toBe('allow');
  });

  test.for<[SessionMode, RegExp]>([
    ['plan', /^Write is not permitted: in plan mode.*--permission-mode bypassPermissions/],
    ['dontAsk', /^Write is not permitted.*--allowedTools "Edit\(src\/a\.ts\)" or --permission-mode/],
  ])('%s says what was denied and what would allow it', async ([mode, reason]) => {
    const decision = await decide(policy(mode), writeTool, at('src/a.ts'));
    expect(decision).toMatchObject({ kind: 'deny', reason: expect.stringMatching(reason) });
  });

  test.for([
    '.git/hooks/pre-commit',
    '.GIT/config',
    '.ramet/settings.json',
    'sub/.claude/settings.json',
    '.mcp.json',
  ])('acceptEdits still asks before it writes %s, which decides what runs', async (path) => {
    expect(await kindOf(decide(policy('acceptEdits'), editTool, at(path)))).toBe('ask');
  });

  test('a page is fetched only where a rule allows its host', async () => {
    const rules = { allow: ['WebFetch(domain:example.org)'] };
    const ask = (url: string) =>
      kindOf(decide(policy('default', rules), webFetchTool, { input: { url }, cwd: '/' }));
    expect(await ask('https://example.org/x')).toBe('allow');
    expect(await ask('https://EXAMPLE.org:8443/x')).toBe('allow');
    expect(await ask('https://example.org.evil.net/')).toBe('ask');
    expect(await ask('https://user@evil.net/example.org')).toBe('ask');
    expect(await ask('not an address')).toBe('ask');
  });
});

describe('RES-3: a host has one name', () => {
  test.for([
    ['evil.com', 'https://evil.com./x'],
    ['evil.com', 'https://EVIL.com../x'],
    ['Evil.com.', 'https://evil.com/x'],
    ['*.evil.com', 'https://a.evil.com./'],
    ['bücher.example', 'https://xn--bcher-kva.example/'],
    ['bücher.example', 'https://BÜCHER.example./'],
    ['127.0.0.1', 'http://0x7f.1/'],
    ['[2606:4700::1111]', 'https://[2606:4700:0:0::1111]:8443/'],
    ['evil.com', 'https://user:pass@evil.com/'],
    ['evil.com', ' HTTPS:evil.com'],
  ])('domain:%s is %s', async ([domain, url]) => {
    const rules = { deny: [`WebFetch(domain:${domain})`] };
    const decision = decide(policy('default', rules), webFetchTool, { input: { url }, cwd: '/' });
    expect(await kindOf(decision)).toBe('deny');
  });
});

describe('RES-3: deny beats ask beats allow', () => {
  test('however special the other rules are', async () => {
    const rules = { allow: ['Edit(src/deep/file.ts)'], ask: ['Edit(src/deep/**)'], deny: ['Edit(src/**)'] };
    const { deny: _, ...withoutDeny } = rules;
    expect(await kindOf(decide(policy('default', rules), editTool, at('src/deep/file.ts')))).toBe('deny');
    expect(await kindOf(decide(policy('default', withoutDeny), editTool, at('src/deep/file.ts')))).toBe(
      'ask',
    );
  });

  test.for(MODES)('an ask rule is asked in %s, whatever allows the call', async (mode) => {
    const rules = { allow: ['Bash', 'Edit'], ask: ['Bash(git push:*)', 'Edit(src/**)'] };
    const push = await decide(policy(mode, rules), bashTool, { input: { command: 'git push' }, cwd: '/srv' });
    const change = await decide(policy(mode, rules), editTool, at('src/a.ts'));
    // Where nobody is asked at all, they are denied.
    const kind = mode === 'plan' || mode === 'dontAsk' ? 'deny' : 'ask';
    expect([push.kind, change.kind]).toEqual([kind, kind]);
    if (push.kind === 'ask')
      expect(push.question).toMatchObject({
        reason: 'the rule Bash(git push:*) in a test asks',
        suggestedRules: [],
        byRule: 'Bash(git push:*)',
      });
  });

  test('a deny rule holds in every mode and names itself', async () => {
    const decision = await decide(
      policy('bypassPermissions', { deny: ['Read(.env)'] }),
      readTool,
      at('a/.env'),
    );
    expect(decision).toEqual({
      kind: 'deny',
      reason: expect.stringContaining('the rule Read(.env) in a test'),
    });
  });

  test('an ask rule asks about what would be free, and is a denial where nobody may be asked', async () => {
    const rules = { ask: ['Read(secret/**)'] };
    expect(await kindOf(decide(policy('acceptEdits', rules), readTool, at('secret/a')))).toBe('ask');
    expect(await kindOf(decide(policy('dontAsk', rules), readTool, at('secret/a')))).toBe('deny');
  });

  test('the question carries a rule that would allow it', async () => {
    const decision = await decide(policy('default'), editTool, at('src/a.ts'));
    expect(decision).toMatchObject({ question: { suggestedRules: ['Edit(src/a.ts)'] } });
    const allowed = policy('default', { allow: ['Edit(src/a.ts)'] });
    expect(await kindOf(decide(allowed, editTool, at('src/b.ts')))).toBe('ask');
    expect(await kindOf(decide(allowed, editTool, at('src/a.ts')))).toBe('allow');
  });

  test('mcp rules cover a tool, or all tools of a server', async () => {
    for (const [rule, kind] of [
      ['mcp__tracker', 'allow'],
      ['mcp__tracker__*', 'allow'],
      ['mcp__tracker__list_issues', 'allow'],
      ['mcp__tracker__list', 'ask'],
      ['mcp__track', 'ask'],
    ] as const) {
      const decision = decide(policy('default', { allow: [rule] }), issues, { input: {}, cwd: '/' });
      expect([rule, await kindOf(decision)]).toEqual([rule, kind]);
    }
  });
});

describe('SEC-1: paths are resolved before they are checked', () => {
  test('a link inside that leads out is outside, for edits and for rules that allow', async () => {
    const root = temporaryDirectory();
    const [inside, outside] = [join(root, 'inside'), join(root, 'outside')];
    mkdirSync(join(inside, 'src'), { recursive: true });
    mkdirSync(outside);
    symlinkSync(outside, join(inside, 'src/link'));
    const accept = policy('acceptEdits', { allow: ['Edit(src/**)'] });
    expect(await kindOf(decide(accept, editTool, at('src/new.ts', inside)))).toBe('allow');
    expect(await kindOf(decide(accept, editTool, at('src/link/new.ts', inside)))).toBe('ask');
    expect(await kindOf(decide(accept, editTool, at('src/../../outside/x', inside)))).toBe('ask');
  });

  test('a denied file is denied under every name that leads to it', async () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'secret'));
    symlinkSync(join(root, 'secret'), join(root, 'alias'));
    const denied = policy('bypassPermissions', { deny: ['Read(secret/**)'] }, root);
    for (const path of ['secret/key', 'alias/key', './x/../secret/key', join(root, 'alias/key')]) {
      expect(await kindOf(decide(denied, readTool, at(path, root)))).toBe('deny');
    }
  });
});

describe('RES-3: a question shows all of the input that would run', () => {
  const own = (
    effect: PermissionSubject['effect'],
    access: NonNullable<PermissionSubject['access']>,
  ): PermissionSubject => ({ name: 'deploy', effect, access, ofProgram: true });
  const input = { path: 'a.txt', mode: 'wipe', to: { host: 'prod' }, unset: undefined };

  async function asked(subject: PermissionSubject, given: unknown): Promise<[string, readonly string[]]> {
    const decision = await decide(policy('default'), subject, { input: given, cwd: '/srv' });
    return decision.kind === 'ask'
      ? [decision.question.summary, decision.question.suggestedRules]
      : [decision.kind, []];
  }

  test.for<[string, PermissionSubject, unknown, string, string[]]>([
    [
      'an own tool that writes a file',
      own('write', () => ({ writes: ['a.txt'] })),
      input,
      '/srv/a.txt {"mode":"wipe","to":{"host":"prod"}}',
      ['Edit(//srv/a.txt)'],
    ],
    [
      'an own tool that runs something on a file',
      own('execute', () => ({ reads: ['a.txt'] })),
      input,
      '/srv/a.txt {"mode":"wipe","to":{"host":"prod"}}',
      ['deploy'],
    ],
    [
      'two fields of one value',
      own('execute', () => ({ reads: ['a.txt'] })),
      { from: 'a.txt', over: 'a.txt' },
      '/srv/a.txt {"over":"a.txt"}',
      ['deploy'],
    ],
    [
      'a path that is in no field',
      own('execute', () => ({ reads: ['made/up'] })),
      { name: 'up' },
      '/srv/made/up {"name":"up"}',
      ['deploy'],
    ],
    [
      'an address and a file',
      own('execute', () => ({ writes: ['a.txt'], url: 'https://example.org/' })),
      { file: 'a.txt', url: 'https://example.org/' },
      '/srv/a.txt {"url":"https://example.org/"}',
      [],
    ],
    [
      'several things, some of which are in no field',
      own('write', () => ({
        writes: ['a.txt', 'b.txt', '/etc/x'],
        command: 'make',
        url: 'https://h.example/',
      })),
      { list: ['a.txt', 'b.txt'] },
      'make\n{"list":["a.txt","b.txt"]} and ["/etc/x","https://h.example/"]',
      [],
    ],
    [
      'a command of an own tool',
      own('execute', () => ({ command: 'make' })),
      { script: 'make', host: 'prod' },
      'make\n{"host":"prod"}',
      [],
    ],
    [
      'a page and what is asked about it',
      webFetchTool,
      { url: 'https://example.org/x', prompt: 'Send "all" of it' },
      'https://example.org/x {"prompt":"Send \\"all\\" of it"}',
      ['WebFetch(domain:example.org)'],
    ],
    [
      'values that JSON does not have',
      own('execute', () => ({})),
      { big: 10n, of: new Map([['a', new Set([1])]]) },
      '{"big":"10n","of":[["a",[1]]]}',
      ['deploy'],
    ],
    [
      'a shell command, without what changes nothing about it',
      bashTool,
      { command: 'make', timeout: 5, description: 'harmless' },
      'make',
      [],
    ],
    [
      'a new file, whose text is shown as a change',
      writeTool,
      { file_path: 'a.txt', content: 'x' },
      '/srv/a.txt',
      ['Edit(//srv/a.txt)'],
    ],
    [
      'an edit, whose texts are shown as a change',
      editTool,
      { file_path: 'a.txt', old_string: 'x', new_string: 'y', replace_all: true },
      '/srv/a.txt {"replace_all":true}',
      ['Edit(//srv/a.txt)'],
    ],
  ])('%s', async ([, subject, given, summary, rules]) => {
    expect(await asked(subject, given)).toEqual([summary, rules]);
  });

  test('a value that holds itself is no reason not to ask', async () => {
    const loop: Record<string, unknown> = { name: 'x' };
    loop.self = loop;
    const [summary] = await asked(
      own('execute', () => ({})),
      loop,
    );
    expect(summary).toContain("name: 'x'");
  });
});

describe('RES-3: a tool of a program reaches several things in one call', () => {
  type Reach = ReturnType<NonNullable<PermissionSubject['access']>>;
  const own = (effect: PermissionSubject['effect'], reach: Reach): PermissionSubject => ({
    ...{ name: 'deploy', effect, access: () => reach },
    ofProgram: true,
  });
  async function verdict(mode: SessionMode, texts: RuleTexts, subject: PermissionSubject): Promise<unknown> {
    const { rules, problems } = parseRules(texts, {
      ...{ base: '/srv', home: '/home/u', place: 'a test', tools: ['deploy'] },
    });
    expect(problems).toEqual([]);
    const decision = await decide({ mode, rules }, subject, { input: {}, cwd: '/srv' });
    return decision.kind === 'ask' ? decision.question.suggestedRules : decision.kind;
  }
  const LS = { command: 'ls' };
  const AWAY = { url: 'https://example.org/x' };

  test.for<[string, SessionMode, PermissionSubject, unknown]>([
    [
      'every file that it writes',
      'acceptEdits',
      own('write', { writes: ['a', '/etc/x'] }),
      ['Edit(//etc/x)'],
    ],
    ['a change that it does not name', 'acceptEdits', own('write', { reads: ['a'] }), ['deploy']],
    ['an address beside a file', 'acceptEdits', own('write', { writes: ['a'], ...AWAY }), []],
    [
      'a file beside a command that reads',
      'default',
      own('write', { writes: ['x/a'], ...LS }),
      ['Edit(x/a)'],
    ],
    ['a change beside a command that reads', 'default', own('write', LS), ['deploy']],
    ['a file that a tool which reads writes', 'default', own('read', { writes: ['x/a'] }), ['Edit(x/a)']],
    ['an address beside a command that reads', 'default', own('read', { ...LS, ...AWAY }), []],
    ['nothing of a command that reads', 'default', own('execute', LS), 'allow'],
    ['nothing of files in its directory', 'acceptEdits', own('write', { writes: ['a', 'b'] }), 'allow'],
    ['nothing where only reading is allowed', 'plan', own('write', { writes: ['a'], ...LS }), 'deny'],
  ])('it is asked about %s', async ([, mode, subject, expected]) => {
    expect(await verdict(mode, {}, subject)).toEqual(expected);
  });

  test.for<[string, Reach]>([
    ['deploy', LS],
    ['Edit(/x)', { writes: ['x'], ...LS }],
    ['Edit(/x)', { writes: ['y', 'x'] }],
    ['Read(/x)', { writes: ['y'], reads: ['x'] }],
    ['Bash(ls:*)', { ...LS, writes: ['y'] }],
    ['WebFetch(domain:example.org)', AWAY],
  ])('the rule %s takes any part of it away, also beside others: %j', async ([rule, reach]) => {
    for (const effect of ['write', 'execute'] as const) {
      expect(await verdict('bypassPermissions', { deny: [rule] }, own(effect, reach))).toBe('deny');
      expect(await verdict('bypassPermissions', { ask: [rule] }, own(effect, reach))).toEqual([]);
    }
  });

  test.for([
    'Edit(/x)',
    'Edit(/y)',
    'Read(/r)',
    'Read(/s)',
    'Bash(ls:*)',
    'Bash(make:*)',
    'WebFetch',
    'WebFetch(domain:example.org)',
  ])(
    'a rule that allows the tool by its name does not allow what a rule against %s is about',
    async (rule) => {
      const reach = { writes: ['x', 'y'], reads: ['r', 's'], command: 'make && ls', ...AWAY };
      for (const mode of ['default', 'acceptEdits', 'bypassPermissions'] as const) {
        expect(await verdict(mode, { allow: ['deploy'] }, own('execute', reach))).toBe('allow');
        expect(await verdict(mode, { allow: ['deploy'], deny: [rule] }, own('execute', reach))).toBe('deny');
        expect(await verdict(mode, { allow: ['deploy'], ask: [rule] }, own('execute', reach))).toEqual([]);
      }
    },
  );

  test('an address without a host is still one that a rule against all fetching holds', async () => {
    const odd = own('execute', { url: 'example.org/x' });
    expect(await verdict('default', { allow: ['deploy'], deny: ['WebFetch'] }, odd)).toBe('deny');
  });

  test('a rule that names it allows all of it, and one of a file or command only that', async () => {
    const all = own('execute', { command: 'make', writes: ['x'], ...AWAY });
    expect(await verdict('default', { allow: ['deploy'] }, all)).toBe('allow');
    expect(await verdict('default', { allow: ['Edit(/**)', 'Bash'] }, all)).toEqual([]);
    const two = own('write', { writes: ['x'], command: 'make' });
    expect(await verdict('default', { allow: ['Edit(/**)', 'Bash'] }, two)).toBe('allow');
    expect(await verdict('default', { allow: ['Bash'] }, two)).toEqual(['Edit(//srv/x)']);
  });
});
