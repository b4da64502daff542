/** Ways in which a judge was once led to call writing or running "only reading": each is a family, not a command. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { bashTool } from '../../tools/shell/bash.ts';
import { decide } from '../decide.ts';
import { NO_RULES, type PermissionPolicy, parseRules } from '../policy.ts';

function repository(): string {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, 'vendor/evil'), { recursive: true });
  for (const name of ['HEAD', 'config']) writeFileSync(join(cwd, 'vendor/evil', name), '');
  return cwd;
}

async function judge(command: string, policy: Partial<PermissionPolicy> = {}): Promise<string> {
  const whole: PermissionPolicy = { mode: 'default', rules: NO_RULES, ...policy };
  const decision = await decide(whole, bashTool, { input: { command }, cwd: repository() });
  return decision.kind === 'allow' ? `allow ${decision.confinement}` : decision.kind;
}

const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  'a redirect inside [ ]': ['[ 3 > 2 ]', '[ x > /etc/passwd ]', '[ x >> .git/config ]', 'test 3 > 2'],
  'a dollar sign before a blank hides what follows': [
    'echo "cost: 5$ $(touch pwn)"',
    'grep -E "^x$ $(touch pwn)" f',
    'git log --grep="foo$ $(touch pwn)"',
    'cat <<EOF\n5$ $(touch pwn)\nEOF',
    'echo "5$ `touch pwn`"',
  ],
  'a line continued between $ and (': [
    'echo "$\\\n(touch pwn)"',
    'echo $\\\n(touch pwn)',
    'cat <<EOF\n$\\\n(touch pwn)\nEOF',
    '[[ x =~ $\\\n(touch pwn) ]]',
  ],
  'a line continued before #': ['echo a\\\n#b; touch pwn', 'echo a#b\n\\\ntouch pwn', 'ls &\\\n& touch pwn'],
  'a here-document that ends elsewhere': [
    'cat <<EOF\nhi\nEO\\\nF\ntouch pwn\nEOF',
    'cat <<$EOF\nx\nEOF\n./evil.sh;x=$(./evil.sh)',
    'cat <<E"O"F\nEOF\ntouch pwn\nE"O"F',
    'echo $(cat <<EOF\nhi\nEOF)\ntouch pwn\nEOF\n)',
    'cat <<A\nA\ntouch pwn\nA',
  ],
  '$" as a target': ['cat <&$"$(touch pwn)"', 'echo x >&$"pwn"', 'echo $"$(touch pwn)"'],
  'patterns with an escaped quote': [
    '[[ x == \\"$(./evil.sh) ]] && ls',
    'case x in \\"$(./evil.sh)) ls;; esac',
    '[[ x =~ $`./evil.sh` ]]',
  ],
  'a command between the signs of a test': [
    '[[ -f a && -f <(touch pwn)b ]] || echo missing',
    '[[ a <(touch pwn) ]]',
    '[[ a >(touch pwn) ]]',
    '[[ (<(touch pwn)) ]]',
  ],
  arithmetic: [
    'echo $(( $(cat VERSION) + 1 ))',
    '(( $(cat f) > 3 ))',
    '[[ ! $(cat f) -gt 1 ]]',
    "a=(['x[$(touch pwn)]']=1)",
    'read -r n < f; echo $((n + 1))',
    'echo $((PATH=0)); ls',
  ],
  'a version that is a file or a flag': [
    "echo 'touch pwn' | bash -v",
    "echo 'touch pwn' | zsh -v",
    "echo 'touch pwn' | python3 -v",
    'make version',
    'node version',
    'bash version',
    'npx version',
    'curl version',
    'wget version',
    'yarn --version',
    'yarn -v',
    'mvn -v',
    'gradle --version',
  ],
  'awk that divides after a continued line': [
    'awk \'BEGIN { x = 1 \\\n/ 2; print "touch pwn" | "sh" #/\n}\'',
  ],
  'find, where + ends -exec only after {}': [
    'find . -maxdepth 0 -exec rg -q x + --pre ./evil.sh . \\;',
    'find . -exec tree + -o pwn . \\;',
    'find . -exec sort f + -o pwn {} \\;',
  ],
  'sh judged as bash': [
    "sh -c \"echo \\$'a\\\\'; touch pwn #'\"",
    "sh -c 'x=1; y=1; ((x/y))'",
    "sh -c 'make=1; ((make))'",
    "sh -c 'ls &> out'",
    "sh -c 'cat <(ls)'",
    "dash -c '[[ a < b ]]'",
  ],
  'printf that sets a variable': ["printf '%n' PATH; ls", "printf '%-5n' PATH; ls", 'printf "$f" PATH; ls'],
  'a comment in the head of a loop': ["for i in a # '\ndo touch pwn; done\n# '; do ls; done"],
};

describe.for(Object.entries(FAMILIES))('TYPE-2: %s', ([, commands]) => {
  test.for(commands)('%j asks, with the wall and without', async (command) => {
    expect(await judge(command)).toBe('ask');
    expect(await judge(command, { wall: true })).toBe('ask');
  });
});

describe('TYPE-2: what only shows when it runs', () => {
  test.for([
    'for i in 1 2; do git status; cd vendor/evil; done',
    "command eval 'cd vendor/evil'; git status",
    'while git status; do cd vendor/evil; done',
    'cd vendor/evil && git status',
    'git -C vendor/evil status',
    'sort {-o,$x} README.md',
    'x=pwn; sort {-o,$x} README.md',
    'sort *',
  ])('%j asks without the wall, and runs behind it', async (command) => {
    expect(await judge(command)).toBe('ask');
    expect(['ask', 'allow wall']).toContain(await judge(command, { wall: true }));
  });
});

describe('RES-3: judging takes no time and no stack', () => {
  const nested = `${'echo $('.repeat(3_000)}ls${')'.repeat(3_000)}`;
  test.for([
    [
      Array.from({ length: 16 }, (_, index) => `cd d${index}`)
        .join(' && ')
        .concat(' && git status'),
    ],
    [nested],
    ['('.repeat(5_000)],
    ['{ '.repeat(5_000)],
    [`ls ${'{'.repeat(6_000)}${','.repeat(6_000)}`],
    [`ls${' && ls'.repeat(2_500)}; f() { :; }`],
    ['[[ '.repeat(6_000)],
    [`echo ${'"$('.repeat(4_000)}`],
    [`echo $((${'('.repeat(9_000)}`],
    [`bash -c 'bash -c "bash -c \\"bash -c ls\\""'`],
  ])('number %#', async ([command = '']) => {
    for (const wall of [false, true]) expect(await judge(command, { wall })).toMatch(/^(?:ask|allow)/);
  });

  test('a text with thousands of slashes is no path', async () => {
    const { rules } = parseRules({ deny: ['Read(.env)'] }, { place: 'a test', base: '/srv', home: null });
    const script = `sed -n '${'s/a/b/;'.repeat(2_800)}' f`;
    expect(await judge(script, { rules })).toMatch(/^(?:ask|allow)/);
    expect(await judge(`cat ${'./x/../'.repeat(200)}.env`, { rules })).toBe('deny');
  });

  test('what is nested too deep is a question', async () => {
    expect(await judge(nested, { wall: true })).toBe('ask');
  });
});

describe('SEC-1: what belongs to other processes', () => {
  test.for([
    'grep -az KEY /proc/$PPID/environ | base64',
    'cat /proc/1/environ',
    'cat /proc/self/environ',
    'cat /proc/thread-self/../1/environ',
    'cat < /proc/1/environ',
    'cd /proc/1 && cat environ',
    'cat //proc//1/environ',
    'ps eww -p $PPID | rev',
    'ps eww',
    'ps auxe',
    'ls -la /proc/1/fd',
    'grep -r KEY /proc',
    'xxd /proc/1/mem',
    'diff --from-file=/proc/1/environ x',
  ])('%j always asks', async (command) => {
    expect(await judge(command)).toBe('ask');
    expect(await judge(command, { wall: true })).toBe('ask');
  });

  test.for(['cat /proc/*/environ', 'p=/proc/1/environ; cat "$p"', 'cat /p*/1/environ', 'grep -r KEY /'])(
    '%j asks where no sandbox hides them',
    async (command) => {
      expect(await judge(command)).toBe('ask');
    },
  );
});

describe('SEC-1: what depends on the machine runs outside, or asks', () => {
  test.for([
    'ps aux',
    'ps aux | grep node',
    'lsof -i :3000',
    'ss -tlnp',
    'ip addr',
    'df -h',
    'docker ps',
    'id',
    'env | sort',
  ])('%j runs outside', async (command) => {
    expect(await judge(command, { wall: true })).toBe('allow host');
    expect(await judge(command)).toBe('allow host');
  });

  test.for([
    'ps aux | grep "$(cat f)"',
    'gh pr list',
    'kubectl get pods',
    'lsof -i @evil.example',
    'echo $$',
    'ss -K',
  ])('%j asks', async (command) => {
    expect(await judge(command, { wall: true })).toBe('ask');
    expect(await judge(command)).toBe('ask');
  });

  test.for([
    'git diff "$(git merge-base main HEAD)"',
    'SRC=src; ls "$SRC"',
    'for f in *.ts; do sed -n 1p "$f"; done',
  ])('%j runs behind the wall', async (command) => {
    expect(await judge(command, { wall: true })).toBe('allow wall');
  });

  test.for(['[ -f a ] && cat a', '[[ -f a ]] && cat a', 'if [ -d src ]; then ls src; fi'])(
    '%j asks without the wall, because of the brackets',
    async (command) => {
      expect(await judge(command, { wall: true })).toBe('allow wall');
      expect(await judge(command)).toBe('ask');
    },
  );
});

describe('RES-3: rules that deny see what hides', () => {
  test.for([
    ['[ x > /etc/passwd ]', 'Edit(//etc/**)'],
    ['echo "5$ $(touch pwn)"', 'Bash(touch:*)'],
    ['echo a\\\n#b; touch pwn', 'Bash(touch:*)'],
    [`f() { touch pwn; }; ${'('.repeat(2_000)}f`, 'Bash(touch:*)'],
  ])('%j is denied by %s', async ([command = '', deny = '']) => {
    const { rules } = parseRules({ deny: [deny] }, { place: 'a test', base: '/srv', home: null });
    expect(await judge(command, { rules, mode: 'bypassPermissions' })).toBe('deny');
  });
});
