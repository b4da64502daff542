import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { writeTool } from '../tools/files/write.ts';
import { bashTool } from '../tools/shell/bash.ts';
import type { PermissionDecision, PermissionSubject } from './assessment.ts';
import { decide } from './decide.ts';
import { parseRules } from './policy.ts';

let home = '';
let cwd = '';

beforeEach(() => {
  home = temporaryDirectory();
  cwd = temporaryDirectory();
});

interface Called {
  readonly subject: PermissionSubject;
  readonly input: unknown;
}

function judge({ subject, input }: Called, allow: readonly string[] = []): Promise<PermissionDecision> {
  const { rules, problems } = parseRules({ allow }, { base: cwd, home, place: 'a test' });
  expect(problems).toEqual([]);
  return decide({ mode: 'default', rules }, subject, { input, cwd, home });
}

async function offers(call: Called): Promise<readonly string[]> {
  const decision = await judge(call);
  return decision.kind === 'ask' ? decision.question.suggestedRules : ['(not asked)'];
}

const write = (path: string): Called => ({
  subject: writeTool,
  input: { file_path: join(cwd, path), content: '' },
});
const bash = (command: string): Called => ({ subject: bashTool, input: { command } });
const fetching = (url: string): Called => ({
  subject: { name: 'WebFetch', effect: 'read', access: () => ({ url }) },
  input: { url },
});

/** What a person allows with "always", and what then runs unasked. */
async function runsAfter(asked: Called, other: Called): Promise<{ again: string; other: string }> {
  const rules = await offers(asked);
  const [again, another] = [await judge(asked, rules), await judge(other, rules)];
  return { again: rules.length === 0 ? 'nothing offered' : again.kind, other: another.kind };
}

describe('RES-3: no character of a call is a pattern in the rule that "always" offers', () => {
  test.each([
    ['**', 'other.txt'],
    ['*', 'src/a.ts'],
    ['a?.ts', 'ab.ts'],
    ['[ab].ts', 'a.ts'],
    ['{a,b}.ts', 'a.ts'],
    ['a\\b', 'ab'],
    ['!x', 'x'],
    ['*/a.ts', 'src/a.ts'],
    ['**/a.ts', 'src/deep/a.ts'],
    ['{src,}/a.ts', 'src/a.ts'],
    ['s[r]c/a.ts', 'src/a.ts'],
    ['!src/a.ts', 'src/a.ts'],
    [' src/a.ts', 'src/a.ts'],
    ['~/a.ts', 'src/a.ts'],
    ['src\\*/a.ts', 'src1/a.ts'],
    ['[/a.ts', 'src/a.ts'],
    ['}/a.ts', 'src/a.ts'],
  ])('a file %j: only that one, not %j', async (path, other) => {
    expect(await runsAfter(write(path), write(other))).toEqual({ again: 'allow', other: 'ask' });
  });

  test('a folder named ~ is not the home directory', async () => {
    const rules = await offers(write('~/a.ts'));
    expect(rules).toEqual(['Edit(\\~/a.ts)']);
    const inHome = { subject: writeTool, input: { file_path: join(home, 'a.ts'), content: '' } };
    expect((await judge(inHome, rules)).kind).toBe('ask');
  });

  test.each(['x ', 'two  blanks', 'a\nb', 'a\tb', 'a\u202eb', 'a) Bash Edit(b', 'a)', '(a', ')('])(
    'a file %j: no rule says it as it is shown',
    async (path) => {
      expect(await offers(write(path))).toEqual([]);
    },
  );

  test('parentheses that close are text', async () => {
    expect(await runsAfter(write('a(1).ts'), write('a.ts'))).toEqual({ again: 'allow', other: 'ask' });
  });

  test.each([
    ["make '*'", "make 'install' 'evil'"],
    ['make \\*', 'make \\evil'],
    ["make 'a:*'", 'make a evil'],
    ["make '*' && true", 'make x && true'],
    ["'./my script' x", './my script evil'],
    ["'./a*' x", './ab x'],
    ["'a b/tsc' x", 'a b/tsc evil'],
    ["'PATH=.' make x", 'PATH=. make x'],
    ["rm -r '~/x'", 'rm -r ~/x'],
    ["tool 'a) Bash Bash(b'", 'evil x'],
    ["tool 'a\nb'", 'tool a'],
    ['npm run', 'npm run undefined'],
    ["git commit -m 'x' && npm run build:*", 'npm run null'],
  ])('the command %j: %j is asked about', async (command, other) => {
    expect((await runsAfter(bash(command), bash(other))).other).toBe('ask');
  });

  test('a redirect into a file with a pattern for a name covers that file only', async () => {
    const asked = bash("true > '*.ts'");
    expect(await runsAfter(asked, bash('true > a.ts'))).toEqual({ again: 'allow', other: 'ask' });
  });

  test.each(['http://*.org/', 'http://*/', 'http://a*.org/'])('fetching %s: no rule', async (url) => {
    expect(await offers(fetching(url))).toEqual([]);
    expect(await offers(fetching('https://example.org/x'))).toEqual(['WebFetch(domain:example.org)']);
    expect(await offers(fetching('https://[2606::0:1]/x'))).toEqual(['WebFetch(domain:[2606::1])']);
  });

  test('a tool whose name holds a star: no rule', async () => {
    expect(await offers({ subject: { name: 'mcp__a__*', effect: 'execute' }, input: {} })).toEqual([]);
    expect(await offers({ subject: { name: 'mcp__a__b', effect: 'execute' }, input: {} })).toEqual([
      'mcp__a__b',
    ]);
  });

  test('a tool whose name has blanks: no rule, since in a list it would be several', async () => {
    expect(await offers({ subject: { name: 'mcp__a Bash', effect: 'execute' }, input: {} })).toEqual([]);
  });

  test('any names of files', async () => {
    const name = fc
      .array(fc.constantFrom(...'ab*?[]{},\\!~ ().^-'), { minLength: 1, maxLength: 5 })
      .map((letters) => letters.join(''))
      .filter((text) => text !== '.' && text !== '..');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
    const pair = fc
      .tuple(path, path, fc.constantFrom('anywhere', 'beside', 'below'))
      .map(([asked, other, where]): [asked: string, other: string] => {
        if (where === 'anywhere') return [asked, other];
        return [asked, join(where === 'beside' ? dirname(asked) : asked, other)];
      });
    await fc.assert(
      fc.asyncProperty(pair, async ([asked, other]) => {
        const rules = await offers(write(asked));
        if (rules.length === 0) return;
        expect((await judge(write(asked), rules)).kind).toBe('allow');
        // A rule is about the file, and about what lies below it if it is a folder one day.
        const isMeant = other === asked || other.startsWith(`${asked}/`);
        expect((await judge(write(other), rules)).kind).toBe(isMeant ? 'allow' : 'ask');
      }),
      // Both were asked about in the same folder, which a rule for the folder would have allowed.
      { numRuns: 500, examples: [[['^/a', '^/~']]] },
    );
  });

  test('any words of a command', async () => {
    const word = fc.string({ unit: fc.constantFrom(...'ab*?[{:\\!~ ()='), minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 3 }), word, async (words, other) => {
        const command = (given: readonly string[]): string =>
          ['unheard-of', ...given.map((each) => `'${each}'`)].join(' ');
        const rules = await offers(bash(command(words)));
        for (const [index, each] of words.entries()) {
          const changed = words.with(index, `${each}${other}`);
          expect((await judge(bash(command(changed)), rules)).kind).toBe('ask');
        }
      }),
      { numRuns: 300 },
    );
  });
});

test('RES-3: a rule named for the command line cannot run anything when it is pasted', async () => {
  const { rules } = parseRules({}, { base: cwd, home, place: 'a test' });
  const input = { file_path: join(cwd, '$(touch x)`y`\'"'), content: '' };
  const decision = await decide({ mode: 'dontAsk', rules }, writeTool, { input, cwd, home });
  expect(decision).toMatchObject({
    reason: expect.stringContaining(`--allowedTools 'Edit(/${cwd}/$(touch x)\`y\`'\\''")'`),
  });
});
