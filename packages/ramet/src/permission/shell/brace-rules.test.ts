import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { bashTool } from '../../tools/shell/bash.ts';
import { decide } from '../decide.ts';
import { parseRules } from '../policy.ts';

interface Place {
  base: string;
  cwd: string;
}

function project(): Place {
  const base = temporaryDirectory();
  for (const folder of ['.git', 'docs/deep', 'a']) mkdirSync(join(base, folder), { recursive: true });
  for (const file of ['top', '.env', 'docs/b', 'docs/deep/c']) writeFileSync(join(base, file), 'd\n');
  return { base, cwd: base };
}

/** The commands that pass under two deny rules; in a worktree, rules are about the same paths of the checkout. */
async function passing(commands: readonly string[], { base, cwd }: Place = project()): Promise<string[]> {
  const texts = { deny: ['Edit(/docs/**)', 'Read(/.env)'] };
  const { rules } = parseRules(texts, { place: 'a test', base, home: '/home/user' });
  const counterpart = (path: string): string | null =>
    base === cwd || !path.startsWith(`${cwd}/`) ? null : join(base, path.slice(cwd.length));
  const decisions = await Promise.all(
    commands.map((command) =>
      decide({ mode: 'bypassPermissions', rules, counterpart }, bashTool, { input: { command }, cwd }),
    ),
  );
  return commands.filter((_, index) => decisions[index]?.kind === 'allow');
}

const NAMED = [
  'rm {top,docs/b}',
  'git rm -q {top,docs/b}',
  'mv docs/{b,bb}',
  'cat {.env,top}',
  'rm -r {a,docs}',
  'echo hi | tee {top,docs/b}',
  'git checkout -- {top,docs/b}',
  'touch {a/y,docs/new}',
];

describe('RES-3: names that braces make are held against rules', () => {
  test('in the checkout', async () => {
    expect(await passing(NAMED)).toEqual([]);
  });

  test('in a worktree, whose rules were written for the checkout', async () => {
    expect(await passing(NAMED, { base: project().base, cwd: project().base })).toEqual([]);
  });

  test('nested, from a range, and beside quotes', async () => {
    const commands = [
      'rm {a,{b,{c,docs/b}}}',
      'rm {a,{c..e}}ocs/b',
      'touch docs/{1..3}',
      'touch docs/x{a..c}{3..1}',
      'rm "docs"/{a,b}',
      'rm docs/"{a,b}"',
      'rm {top,"docs/b"}',
      'rm {"a,b",docs/b}',
      'rm {"a}",docs/b}',
      "rm {'a}',docs/b}",
      "rm {'a{',docs/b}",
      'rm {"a{",docs/b}',
      'rm {a\\},docs/b}',
      'rm {$(echo "}"),docs/b}',
      'rm {${x:-","},docs/b}',
    ];
    expect(await passing(commands)).toEqual([]);
  });

  test('where bash drops the empty one of two', async () => {
    expect(await passing(['cp top {docs/b,}', 'mv top {,docs/b}', 'rm {,docs/b}'])).toEqual([]);
  });

  test('in redirects', async () => {
    const commands = [
      'echo x > {docs/b,}',
      'echo x >> docs/{b..b}',
      'cd a && echo x > {../docs/b,}',
      'cat < {.env,}',
      'cat < .{e..e}nv',
    ];
    expect(await passing(commands)).toEqual([]);
  });

  test('after cd, and in the value of an option', async () => {
    const commands = [
      'cd docs && rm {x,b}',
      'cd docs && touch {x,y}',
      '(cd docs; rm -rf {deep,x})',
      'cd a && rm ../{docs,x}/b',
      'sometool --file={a,docs/b}',
      'sometool --file=docs/{a,b}',
      'sometool -f{a,docs/b}',
      'sometool --file={a,.env}',
      'cp a --target-directory={a,docs}',
      'dd {if=top,of=docs/b}',
    ];
    expect(await passing(commands)).toEqual([]);
  });

  test('not what quotes, assignments and braces without a partner leave as it is', async () => {
    const commands = [
      "rm '{top,docs/b}'",
      'rm "{top,docs/b}"',
      'rm \\{top,docs/b\\}',
      'rm {top\\,docs/b}',
      'rm {top,docs/b',
      'rm {"a,docs/b,c"}',
      'X={a,docs/b} rm top',
      'rm {top,a/b}',
      'touch a/{1..3}',
      'echo x > {a/b,}',
      'cat {top,docs/b}',
      'git add {top,docs/b}',
      'cp docs/{a,b} a',
      'sometool --file={a,b}',
    ];
    expect(await passing(commands)).toEqual(commands);
  });
});
