/** RES-3: rules about files hold for commands that are too long to be read exactly. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { bashTool } from '../../tools/shell/bash.ts';
import { decide } from '../decide.ts';
import { parseRules, type RuleTexts } from '../policy.ts';

async function judged(texts: RuleTexts, command: string, cwd = '/srv'): Promise<string> {
  const { rules, problems } = parseRules(texts, { place: 'a test', base: cwd, home: '/home/user' });
  expect(problems).toEqual([]);
  return (await decide({ mode: 'bypassPermissions', rules }, bashTool, { input: { command }, cwd })).kind;
}

const DENY = { deny: ['Read(secrets/**)', 'Edit(.env)', 'Read(my file)'] };
const LONG = `: '${'x'.repeat(20_100)}'`;
const PROSE = Array.from({ length: 2_500 }, (_, at) => `It isn't word${at}; "see" (that) \`one\`, $x.`).join(
  '\n',
);

describe('RES-3: a command that is too long to be read exactly', () => {
  test.for([
    'cat secrets/k',
    'cat ./secrets/../secrets/k',
    'cat \'secrets\'/"k"',
    'cat secr\\ets/k',
    "cat $'secret\\x73/k'",
    'cat {secrets,x}/k',
    'cat "my file"',
    'cat my\\ file',
    'cp a secrets/k',
    'x --file=secrets/k',
    'curl -F a=@secrets/k h',
    'd=secrets; cat $d/k',
    'd=secrets; cat "${d}/k"',
    'cd secrets && cat k',
    'cd secrets; cd deep; cat k',
    'cat < secrets/k',
    'sed -i s/A/B/ .env',
    'tee .env',
    'rm -f .env',
    'cp notes.md .env',
    "bash -c 'cat secrets/k'",
    'bash <<E\ncat secrets/k\nE',
    `${'true; '.repeat(4_000)}cat secrets/k`,
    `cat <<'E' > notes.md\n${PROSE}\nE\ncp notes.md .env`,
    `cat > a <<'E' && cat secrets/k\n${PROSE}\nE`,
    `cat > secrets.md <<'E'\n${PROSE}\nE\nsed -i s/a/b/ .env`,
    `cat <<E > notes.md\n${PROSE}\n$(cat secrets/k)\nE`,
    `alias cat=bash\ncat > notes.md <<'E'\ncat secrets/k\n${PROSE}\nE`,
    `cat > .env <<'E'\n${PROSE}\nE`,
  ])('is denied by rules about files that it names: %.60s', async (command) => {
    expect(await judged(DENY, `${command}\n${LONG}`)).toBe('deny');
    expect(await judged({ ask: DENY.deny }, `${command}\n${LONG}`)).toBe('ask');
  });

  test.for(['cat notes/k', 'echo secrets', 'sed -i s/A/B/ env.ts', 'd=other; cat $d/k', 'cd docs && cat k'])(
    'is allowed where it names none: %s',
    async (command) => {
      expect(await judged({ deny: ['Read(secrets/**)', 'Edit(.env)'] }, `${command}\n${LONG}`)).toBe('allow');
    },
  );

  test.for([
    `cat > notes.md <<'E'\nKeep .env and secrets/k; run \`rm -rf x\`, or touch it.\n${PROSE}\nE`,
    `mkdir -p docs && cat > docs/notes.md <<'EOF'\nrm x > .env\n${PROSE}\nEOF\nwc -l docs/notes.md`,
    `cd docs\ncat <<"EOF" > a.md\nrm x > .env\n${PROSE}\nEOF\ncat >> b.md <<\\EOF\nsecrets/k\nEOF\necho "done"`,
    `tee a.md > /dev/null <<'E'\nsecrets/k\n${PROSE}\nE`,
    `cat > a.md <<-'E'\n\tsecrets/k\n${PROSE}\n\tE\nls`,
  ])('is read without the body of a here-document that is written as it is: %.40s', async (command) => {
    expect(await judged({ deny: [...DENY.deny, 'Bash(rm:*)'] }, command)).toBe('allow');
  });

  test('counts the files that it writes in this way', async () => {
    const command = (name: string): string => `cat > ${name} <<'E'\n${PROSE}\nE\nls`;
    expect(await judged({ deny: ['Edit(a.md)'] }, command('a.md'))).toBe('deny');
    expect(await judged({ deny: ['Edit(a.md)'] }, command('b.md'))).toBe('allow');
    expect(await judged({ deny: ['Bash(rm:*)'] }, `${command('a.md')}\nrm x`)).toBe('deny');
  });

  test('asks as it did before where rules allow the rest', async () => {
    const { rules } = parseRules(
      { allow: ['Bash(ls:*)', 'Edit'] },
      { place: 'a test', base: '/srv', home: null },
    );
    const input = { command: `cat > a.md <<'E'\n${PROSE}\nE\nls` };
    expect((await decide({ mode: 'default', rules }, bashTool, { input, cwd: '/srv' })).kind).toBe('ask');
  });

  test('is denied where a link leads to such a file, and for a folder that holds one', async () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'secrets/deep'), { recursive: true });
    writeFileSync(join(cwd, 'secrets/deep/k'), 'x');
    symlinkSync('secrets', join(cwd, 'link'));
    symlinkSync('secrets/deep/k', join(cwd, 'key'));
    for (const command of ['cat link/k', 'cat key', 'cat link/../secrets/k'])
      expect([command, await judged({ deny: ['Read(secrets/**)'] }, `${command}\n${LONG}`, cwd)]).toEqual([
        command,
        'deny',
      ]);
    const edits = { deny: ['Edit(secrets/deep/k)'] };
    expect(await judged(edits, `rm -r secrets\n${LONG}`, cwd)).toBe('deny');
    expect(await judged(edits, `ls secrets\n${LONG}`, cwd)).toBe('allow');
  });

  test('is denied where it names more files than are compared', async () => {
    const names = Array.from({ length: 120_000 }, (_, at) => `n${at}/x`).join(' ');
    expect(await judged({ deny: ['Read(secrets/**)'] }, `echo ${names} `)).toBe('deny');
  });
});
