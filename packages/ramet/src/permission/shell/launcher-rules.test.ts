/** RES-3: a rule that takes a command away, and a hook that guards it, see it behind every program that runs it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SessionMode } from '../../schema/status.ts';
import { bashTool } from '../../tools/shell/bash.ts';
import type { PermissionSubject } from '../assessment.ts';
import { decide, mayConcern } from '../decide.ts';
import { parseRules, type RuleTexts } from '../policy.ts';
import { parseRule } from '../rule.ts';

const FORMS = readFileSync(join(import.meta.dirname, 'launcher-forms.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.replaceAll('⏎', '\n'));

const PLACE = { place: 'a test', base: '/srv', home: '/home/user' };

async function judged(
  texts: RuleTexts,
  command: string,
  mode: SessionMode = 'bypassPermissions',
): Promise<string> {
  const { rules, problems } = parseRules(texts, PLACE);
  expect(problems).toEqual([]);
  return (await decide({ mode, rules }, bashTool, { input: { command }, cwd: '/srv' })).kind;
}

async function guards(text: string, command: string, tool: PermissionSubject = bashTool): Promise<boolean> {
  const rule = parseRule(text, { list: 'ask', ...PLACE });
  if (!rule.ok) throw new Error(rule.problem.reason);
  return mayConcern(rule.rule, tool, { input: { command }, cwd: '/srv' });
}

async function others(forms: readonly string[], look: (form: string) => Promise<boolean>): Promise<string[]> {
  const found: string[] = [];
  for (const form of forms) if (!(await look(form))) found.push(form);
  return found;
}

describe('RES-3: a command behind a launcher', () => {
  test('is denied by a rule about it, in every form', async () => {
    expect(
      await others(FORMS, async (form) => (await judged({ deny: ['Bash(touch:*)'] }, form)) === 'deny'),
    ).toEqual([]);
    expect(FORMS.length).toBeGreaterThan(200);
  });

  test('is a question by a rule about it, in every form', async () => {
    expect(
      await others(FORMS, async (form) => (await judged({ ask: ['Bash(touch:*)'] }, form)) === 'ask'),
    ).toEqual([]);
  });

  test('runs a hook whose condition is about it, in every form', async () => {
    expect(await others(FORMS, (form) => guards('Bash(touch:*)', form))).toEqual([]);
  });

  test('is denied behind any three launchers, one in another', async () => {
    const carriers = [
      ...[
        'flock -w 5 /tmp ',
        'taskset -c 1 ',
        'exec -a x ',
        'env -i A=b ',
        'sudo -nu root ',
        'setpriv --reuid 1 ',
      ],
      ...[
        'perf stat -e x ',
        'uv run --with x ',
        'npx -y ',
        'xvfb-run -a ',
        'bwrap --bind / / ',
        'watch -n 1 ',
      ],
    ].map((words) => (inner: string) => `${words}${inner}`);
    const scripts = [
      'bash -lc',
      'script -qc',
      'su -c',
      'flock /tmp -c',
      'trap',
      'nix-shell --run',
      'npm exec -c',
    ].map((words) => (inner: string) => `${words} '${inner.replaceAll("'", `'\\''`)}' EXIT`);
    const shape = fc.array(fc.constantFrom(...carriers, ...scripts), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(shape, async (around) => {
        const command = around.reduce((inner, wrap) => wrap(inner), 'touch ran');
        expect([command, await judged({ deny: ['Bash(touch:*)'] }, command)]).toEqual([command, 'deny']);
        expect([command, await guards('Bash(touch:*)', command)]).toEqual([command, true]);
      }),
      { numRuns: 150 },
    );
  });

  test.for(['sudo '.repeat(400), 'bwrap '.repeat(400), 'flock -Z '.repeat(400)])(
    'is denied where there are more launchers than anybody writes: %.20s',
    async (launchers) => {
      expect(await judged({ deny: ['Bash(touch:*)'] }, `${launchers}x touch ran`)).toBe('deny');
    },
  );

  test('is allowed by no rule about it that did not allow it before', async () => {
    const allowed = await others(
      FORMS,
      async (form) => (await judged({ allow: ['Bash(touch:*)'] }, form, 'default')) !== 'allow',
    );
    expect(allowed).toEqual([
      'time touch ran',
      'time -p touch ran',
      'command -p touch ran',
      'nice -n 5 touch ran',
      'nice -5 touch ran',
      'nohup touch ran',
      'env touch ran',
      'stdbuf -oL touch ran',
      'timeout 5 touch ran',
      'timeout -k 1 -s KILL 5 touch ran',
      'xargs touch',
      'xargs -r -n 1 touch',
      "xargs -I{} sh -c 'true; touch ran'",
      "sh -xc 'true; touch ran'",
    ]);
  });

  test.for([
    ...[
      'flock touch ls',
      'timeout 5 grep -rn touch src',
      'sudo ls touch',
      'nice -n 5 ls touch',
      'env A=touch ls',
    ],
    ...['find . -name touch', 'find . -exec ls {} \\; -name touch', 'npm run touch', 'npm exec eslint touch'],
    ...[
      'uv run pytest touch',
      'git commit -m "touch x"',
      'command -v touch',
      'type touch',
      'compgen -c touch',
    ],
    ...[
      'trap - EXIT',
      "trap 'rm x' touch",
      'xargs grep touch',
      'parallel grep touch ::: a',
      'parallel ls ::: touch',
    ],
    ...[
      "printf 'touch x'",
      "echo 'touch x' | cat",
      "cat <<< 'touch x'",
      'watch -n 1 ls touch',
      'watch -d ls touch',
    ],
    ...['git config user.name touch', 'git push origin touch', 'git fetch origin touch', "env -S 'ls touch'"],
    ...["EDITOR=vim git commit -m 'touch x'", 'GIT_AUTHOR_NAME=touch git log', 'ssh -o User=touch x'],
    ...['rsync -a touch b:', 'X=touch; echo $X', 'for f in touch; do rm $f; done', 'rm {touch,ran}'],
    ...[`bash -c 'echo "$1"' _ touch`, 'set -- touch; echo "$1"', 'f() { ls $1; }; f touch'],
    ...['read -r c <<< touch; echo $c', 'ls \\\n touch', 'git config --get alias.x', 'zip a.zip touch'],
    ...[
      'time -o touch ls',
      'docker run x touch',
      'hash touch',
      'script touch',
      'strace -e touch ls',
      'make touch',
    ],
  ])('is no command where its name is data: %s', async (command) => {
    expect(await judged({ deny: ['Bash(touch:*)'] }, command)).toBe('allow');
  });

  test.for([20, 90, 300])('is no command in a loop over %i files', async (count) => {
    const files = Array.from({ length: count }, (_, at) => `src/f${at}.ts`).join(' ');
    const deny = { deny: ['Bash(touch:*)', 'Edit(.env)'] };
    expect(await judged(deny, `for f in ${files}; do sudo -u x timeout 5 cp $f /tmp/; done`)).toBe('allow');
  });

  test('is held against rules about files, too', async () => {
    const deny = { deny: ['Edit(a.txt)'] };
    for (const command of [
      "flock /tmp sh -c 'echo x > a.txt'",
      "trap 'echo x > a.txt' EXIT",
      "script -qc 'sed -i s/a/b/ a.txt'",
    ])
      expect([command, await judged(deny, command)]).toEqual([command, 'deny']);
    expect(await judged(deny, "flock /tmp sh -c 'cat a.txt'")).toBe('allow');
  });

  test('is seen in a text that cannot be read exactly', async () => {
    const long = `a=(${'x '.repeat(3_000)})\n`;
    for (const line of [
      'taskset 1 touch ran',
      'while true; do touch ran; done',
      'if flock /tmp touch ran; then x; fi',
    ])
      expect([line, await judged({ deny: ['Bash(touch:*)'] }, long + line)]).toEqual([line, 'deny']);
  });

  test.for([
    ['after 4,000 lines of a here-document', `cat > y <<E\n${'a b c\n'.repeat(4_000)}E\ntouch ran`],
    ['after 20,000 launchers', `${'env '.repeat(20_000)}touch ran`],
    ['behind a launcher and 7,000 words', `timeout ${'-x '.repeat(7_000)}touch ran`],
  ])('is denied in a text that is too long to read: %s', async ([, command = '']) => {
    expect(await judged({ deny: ['Bash(touch:*)'] }, command)).toBe('deny');
    expect(await judged({ ask: ['Bash(touch:*)'] }, command)).toBe('ask');
  });

  test('a file that is written after 5,000 others is denied, too', async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `x > f${index}\n`).join('');
    expect(await judged({ deny: ['Edit(a.txt)'] }, `${many}echo > a.txt`)).toBe('deny');
    expect(await judged({ deny: ['Edit(b.txt)'] }, `${many}echo > a.txt`)).toBe('allow');
  });
});

describe('RES-3: a hook whose condition is a rule about files', () => {
  const WRITES = [
    'echo x > a.txt',
    'tee a.txt',
    'sed -i s/a/b/ a.txt',
    'cp b a.txt',
    "bash -c 'echo x > a.txt'",
  ];

  test.for(['Edit(*.txt)', 'Edit(a.txt)', 'Write(*.txt)', 'Edit(/a.txt)', 'Edit', 'Write'])(
    '%s runs for commands that the same deny rule refuses',
    async (text) => {
      for (const command of WRITES) {
        expect([command, await judged({ deny: [text] }, command)]).toEqual([command, 'deny']);
        expect([command, await guards(text, command)]).toEqual([command, true]);
      }
      expect(await guards(text, 'cat b.md')).toBe(false);
    },
  );

  test('Read(README.md) runs for commands that name the file', async () => {
    for (const command of ['cat README.md', 'grep x < README.md', 'cd . && head README.md'])
      expect([command, await guards('Read(README.md)', command)]).toEqual([command, true]);
    expect(await guards('Read(README.md)', 'cat b.md')).toBe(false);
  });

  test.for(['echo x > "$f"', '$program a', 'eval "$script"', 'curl x | sh'])(
    'Edit(*.txt) runs where it is known only then what is written: %s',
    async (command) => {
      expect(await guards('Edit(*.txt)', command)).toBe(true);
    },
  );

  test('rules about other things say nothing of commands', async () => {
    for (const text of ['WebFetch(domain:a.example)', 'WebFetch', 'Agent(x)', 'mcp__server', 'Grep'])
      expect([text, await guards(text, 'curl a.example; echo x > a.txt')]).toEqual([text, false]);
  });
});
