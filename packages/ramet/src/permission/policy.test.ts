import { describe, expect, test } from 'vitest';
import { describeProblem, NO_RULES, parseRules, type RuleTexts, sessionRules } from './policy.ts';

const origin = { place: 'settings.json', base: '/srv', home: '/home/user' };

function problemsOf(texts: RuleTexts): string[] {
  return parseRules(texts, origin).problems.map(describeProblem);
}

describe('RES-3: rules that protect nothing are reported with text, place and reason', () => {
  test.for<[string, string]>([
    ['', 'cannot be read: write a tool'],
    ['Bash(', 'cannot be read: write a tool'],
    ['Bash(npm test', 'cannot be read: write a tool'],
    ['(npm test)', 'cannot be read: write a tool'],
    ['Bash npm test', 'cannot be read: write a tool'],
    ['Bash()', 'has nothing in its parentheses: write Bash for every call'],
    ['Bash( )', 'has nothing in its parentheses'],
    ['bash(ls)', 'there is no tool bash; write Bash'],
    ['Shell(ls)', 'there is no tool Shell; the tools are'],
    ['Bash(npm test && ls)', 'can never match: joined commands are judged one by one'],
    ['McpCall', 'can never match: calls of MCP servers are judged by the names of their tools'],
    ['Bash(ls | head)', 'can never match: joined commands'],
    ['Bash(echo x > y)', 'can never match: a redirect is judged as a file'],
    ['Bash(echo $(ls))', 'can never match: a command inside another'],
    ['Bash(npm:*test)', ':* may stand only at the end'],
    ['Edit(src/{a,b)', 'cannot be read: Bad glob'],
    ['Read(!secret)', '! is not known here'],
    ['WebFetch(https://example.org)', 'write a host name without scheme or path'],
    ['WebFetch(domain:)', 'write a host name'],
    ['WebFetch(domain:example.org/path)', 'write a host name'],
    ['TodoWrite(x)', 'TodoWrite takes nothing in parentheses'],
    ['mcp__server__tool(x)', 'takes nothing in parentheses'],
    ['mcp__', 'write mcp__server or mcp__server__tool'],
    ['mcp__server__', 'write mcp__server or mcp__server__tool'],
    ['mcp__*__read', 'would allow servers it does not name'],
    ['*', 'would allow more than it names'],
    ['Web*', 'would allow more than it names'],
  ])('%j: %s', ([text, reason]) => {
    expect(problemsOf({ allow: [text] })).toEqual([
      expect.stringContaining(`the allow rule ${JSON.stringify(text)} in settings.json `),
    ]);
    expect(problemsOf({ allow: [text] })[0]).toContain(reason);
  });

  test('one bad rule does not take the others with it', () => {
    const { rules, problems } = parseRules({ deny: ['Bash(', 'Read(.env)'], ask: ['*'] }, origin);
    expect(rules.deny.map(({ text }) => text)).toEqual(['Read(.env)']);
    expect(rules.ask).toHaveLength(1);
    expect(problems).toHaveLength(1);
  });

  test('a rule with ~ is reported where there is no home', () => {
    const { problems } = parseRules({ deny: ['Read(~/.ssh/**)'] }, { ...origin, home: null });
    expect(problems[0]?.reason).toContain('there is no home directory');
  });

  test.for([
    'Bash',
    'Bash(*)',
    'Bash(git * main)',
    'Bash(grep "a|b" *)',
    'Edit(src/**)',
    'Read(//etc/**)',
    'Read(~/x)',
    'Agent(reviewer)',
    'mcp__s',
    'mcp__s__*',
    'mcp__my db__query',
    'McpSearch',
    'WebFetch(domain:*.example.org)',
  ])('%s is a rule', (text) => {
    expect(problemsOf({ allow: [text], deny: [text] })).toEqual([]);
  });
});

describe('RES-3: command patterns', () => {
  test.for<[string, string[], string[]]>([
    ['Bash(npm test)', ['npm test'], ['npm test -w x', 'npm tests', 'xnpm test']],
    ['Bash(npm test:*)', ['npm test', 'npm test -w x'], ['npm testing', 'npm run test']],
    ['Bash(npm test *)', ['npm test', 'npm test -w x'], ['npm testing']],
    ['Bash(npm test*)', ['npm test', 'npm testing'], ['npm run test']],
    ['Bash(git * main)', ['git push origin main'], ['git main', 'git push main2']],
    ['Bash(* --version)', ['node --version'], ['node --version x']],
    ['Bash(*)', ['anything at all'], []],
  ])('%s', ([text, matching, others]) => {
    const scope = parseRules({ allow: [text] }, origin).rules.allow[0]?.scope;
    const matches = (command: string) => scope?.kind === 'commands' && scope.pattern.matches(command);
    expect(matching.filter((command) => !matches(command))).toEqual([]);
    expect(others.filter(matches)).toEqual([]);
  });
});

describe('RES-3: path patterns', () => {
  test.for<[string, string[], string[]]>([
    ['Edit(src/**)', ['/srv/src/a.ts', '/srv/src/b/c.ts'], ['/srv/lib/src/a.ts', '/srv/src2/a', '/src/a']],
    ['Edit(src)', ['/srv/src/a.ts', '/srv/lib/src/a.ts'], ['/srv/src2/a']],
    ['Edit(*.md)', ['/srv/a.md', '/srv/docs/b.md'], ['/srv/a.mdx', '/other/a.md']],
    ['Edit(/docs/*.md)', ['/srv/docs/a.md'], ['/srv/sub/docs/a.md', '/srv/docs/sub/a.md']],
    ['Edit(//opt-x/y/**)', ['/opt-x/y/a'], ['/srv/opt-x/y/a', '/opt-x/z']],
    ['Edit(~/notes/**)', ['/home/user/notes/a'], ['/srv/notes/a']],
    ['Edit(./src/**)', ['/srv/src/a'], ['/srv/lib/src/a']],
    ['Edit(../shared/**)', ['/shared/a'], ['/srv/shared/a']],
    ['Edit(**)', ['/srv/a', '/srv/b/c'], ['/other']],
  ])('%s', ([text, matching, others]) => {
    const scope = parseRules({ allow: [text] }, origin).rules.allow[0]?.scope;
    const covers = (path: string) => scope?.kind === 'paths' && scope.pattern.covers({ path, cwd: '/srv' });
    expect(matching.filter((path) => !covers(path))).toEqual([]);
    expect(others.filter(covers)).toEqual([]);
  });
});

test('RES-3: rules of a session grow with an answer, once, and bad ones come back', () => {
  const session = sessionRules(NO_RULES, origin);
  expect(session.allow(['Bash(npm test:*)', 'Bash('])).toHaveLength(1);
  session.allow(['Bash(npm test:*)']);
  expect(session.rules.allow.map(({ text, place }) => [text, place])).toEqual([
    ['Bash(npm test:*)', 'this session'],
  ]);
  expect(NO_RULES.allow).toEqual([]);
});
