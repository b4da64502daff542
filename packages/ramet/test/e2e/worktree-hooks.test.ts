import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { eventually } from '../fixtures/command.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const COMMIT = 'git -c user.name=A -c user.email=a@example.invalid commit';
const BYPASS = ['--permission-mode', 'bypassPermissions'];

/** A hook as people write it: its own directory and branch, a file that git ignores, an installation, and the path at the end. */
const MAKES = `set -e
input=$(cat)
name=$(node -pe 'JSON.parse(process.argv[1]).name' "$input")
dir="$CLAUDE_PROJECT_DIR/../trees/$name"
git worktree add -q -b "task/$name" "$dir" HEAD >&2
cp "$CLAUDE_PROJECT_DIR/.env" "$dir/.env"
mkdir -p "$dir/node_modules/dep" && echo 1 > "$dir/node_modules/dep/index.js"
echo "added 1 package in 3ms"
`;
const PRINTS = `${MAKES}\necho "$dir"\n`;
const ANSWERS = `${MAKES.replace('echo "added', 'echo >&2 "added')}
printf '{"hookSpecificOutput":{"hookEventName":"WorktreeCreate","worktreePath":"%s"}}' "$dir"\n`;
const REMOVES = `path=$(node -pe 'JSON.parse(fs.readFileSync(0)).worktree_path')
git worktree remove "$path"
git branch -q -D "task/$(basename "$path")" || true
`;

interface Hooks {
  create: string;
  remove?: string;
  timeout?: number;
}

function setUp(user: User, { create, remove, timeout }: Hooks): void {
  const entry = (name: string, script: string, more: object = {}): object => {
    const file = join(user.root, name);
    writeFileSync(file, script);
    return [
      {
        hooks: [
          { type: 'command', command: `bash '${file}' 2> >(tee -a '${user.root}/errors' >&2)`, ...more },
        ],
      },
    ];
  };
  const hooks = {
    WorktreeCreate: entry('create.sh', create, timeout === undefined ? {} : { timeout }),
    ...(remove !== undefined && { WorktreeRemove: entry('remove.sh', remove) }),
  };
  writeFiles(user.root, {
    'home/.claude/settings.json': JSON.stringify({ hooks }),
    'work/.gitignore': '.env\nnode_modules/\n.trees/\n',
    'work/.env': 'KEY=1\n',
  });
  git(user.repository, 'add', '.gitignore');
  git(user.repository, 'commit', '-qm', 'ignore');
}

const start = (count = 1): Answer => ({
  tool_use: Array.from({ length: count }, () => ({
    name: 'Agent',
    input: { prompt: 'child', description: 'look', isolation: 'worktree' },
  })),
});
const bash = (command: string): Answer => ({ tool_use: [{ name: 'Bash', input: { command } }] });
const done: Answer = { text: 'Scope: none.' };

/** The main agent starts children, each of which does what is given, turn by turn. */
async function play(user: User, child: readonly Answer[], count = 1): Promise<Emulator> {
  return user.emulate({
    respond: ({ task, turn }) =>
      task.includes('child') ? (child[turn] ?? done) : [start(count), done][turn],
  });
}

const tree = (user: User, name = 'look'): string => join(user.root, 'trees', name);
const branches = (user: User): string[] =>
  git(user.repository, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n').sort();
const trees = (user: User): string[] =>
  git(user.repository, 'worktree', 'list', '--porcelain')
    .split('\n')
    .flatMap((line) => /^worktree (.+)/.exec(line)?.[1] ?? [])
    .slice(1)
    .filter((path) => !path.includes('/.pool/'));
const report = (emulator: Emulator): string => toolResults(emulator).at(-1)?.text ?? '';
const said = (emulator: Emulator, text: string): string =>
  emulator.requests.map(({ request }) => JSON.stringify(request)).find((sent) => sent.includes(text)) ?? '';
const list = async (user: User): Promise<{ name: string; path: string; branch: string }[]> =>
  JSON.parse((await user.here(['worktree', 'ls', '--json'])).stdout);

describe.concurrent('EXT-2, WORK-2: a WorktreeCreate hook that makes the worktree itself', () => {
  test.for([
    ['prints its path after noise', PRINTS],
    ['answers with its path', ANSWERS],
  ] as const)(
    'that %s: the agent works there, and its work is merged by name',
    async ([, create], { user }) => {
      setUp(user, { create });
      const work = `pwd -P; git rev-parse --abbrev-ref HEAD; cat .env; echo new > new.txt; git add new.txt; ${COMMIT} -qm new`;
      const emulator = await play(user, [bash(work), done]);
      const end = await user.here(['-p', 'go', ...BYPASS]);
      expect(end, end.stderr + report(emulator)).toMatchObject({ code: 0 });
      // The proof of its bounds, where there is bubblewrap.
      expect(end.stderr).not.toContain('bubblewrap does not hold');
      const result = said(emulator, 'KEY=1');
      expect(result).toContain(`${tree(user)}\\nramet/look\\nKEY=1`);
      expect(report(emulator)).toContain('ramet/look');
      expect(await list(user)).toMatchObject([{ name: 'look', path: tree(user), branch: 'ramet/look' }]);
      expect((await user.here(['worktree', 'diff', 'look'])).stdout).toContain('new.txt');
      expect((await user.here(['logs'])).stdout).toMatch(
        /worktree hook in \d+ ms: .*trees\/look on ramet\/look/,
      );
      const merged = await user.here(['merge', 'ramet/look', '--update-checkout'], { env: IDENTITY });
      expect(merged, merged.stdout).toMatchObject({ code: 0 });
      expect(git(user.repository, 'show', 'main:new.txt')).toBe('new');
      // The same verdict as for every worktree: its work has arrived, so it may go, with the branch of the hook.
      expect((await user.here(['worktree', 'gc'])).stdout).toContain('look');
      expect(trees(user)).toEqual([]);
      expect(existsSync(tree(user))).toBe(false);
      expect(branches(user)).toEqual(['main']);
    },
  );

  test('the agent is told the truth about it', async ({ user }) => {
    setUp(user, { create: PRINTS });
    writeFileSync(join(user.repository, 'README.md'), 'changed\n');
    writeFileSync(join(user.repository, 'package.json'), '{"dependencies":{"dep":"1"}}');
    const emulator = await play(user, []);
    expect(await user.here(['-p', 'go', ...BYPASS])).toMatchObject({ code: 0 });
    const body = said(emulator, 'a WorktreeCreate hook of the user has made');
    expect(body).toContain(`You work in your own git worktree ${tree(user)}, branch ramet/look from`);
    expect(body).toContain('not copied by Ramet; here they are as the hook left them');
    expect(body).toContain("the hook's branch task/look stays where it is: commit on ramet/look");
  });

  test.for([
    ['by Ramet, if no hook does', undefined],
    ['by the hook', REMOVES],
  ] as const)('one that is unchanged is removed %s, with its branches', async ([, remove], { user }) => {
    setUp(user, { create: PRINTS, ...(remove !== undefined && { remove }) });
    const emulator = await play(user, []);
    const end = await user.here(['-p', 'go', ...BYPASS]);
    expect(end, end.stderr + report(emulator)).toMatchObject({ code: 0 });
    expect(existsSync(tree(user))).toBe(false);
    expect(trees(user)).toEqual([]);
    expect(branches(user)).toEqual(['main']);
    expect(await list(user)).toEqual([]);
    expect(existsSync(join(user.root, 'trees', '.trash'))).toBe(false);
    expect(
      existsSync(join(user.root, 'errors')) && readFileSync(join(user.root, 'errors'), 'utf8'),
    ).not.toContain('fatal');
  });

  test.for([
    ['a directory of another name', PRINTS.replace('/../trees/$name"', '/../trees/of-$name"')],
    ['the directory of Ramet', 'exit 0'],
  ] as const)(
    '%s: the WorktreeRemove hook reads the name that WorktreeCreate read',
    async ([, create], { user }) => {
      const log = `tee -a '${user.root}/names' | `;
      setUp(user, {
        create: create.replace('$(cat)', `$(${log}cat)`).replace('exit 0', `${log}cat >&2`),
        remove: `${log}${REMOVES}`,
      });
      await play(user, []);
      expect(await user.here(['-p', 'go', ...BYPASS])).toMatchObject({ code: 0 });
      const read = readFileSync(join(user.root, 'names'), 'utf8').match(/"name":"[^"]*"/g);
      expect(read).toEqual(['"name":"look"', '"name":"look"']);
    },
  );

  test('one that the WorktreeRemove hook leaves stays, and that is told', async ({ user }) => {
    setUp(user, { create: PRINTS, remove: 'exit 0' });
    const emulator = await play(user, []);
    expect(await user.here(['-p', 'go', ...BYPASS])).toMatchObject({ code: 0 });
    expect(report(emulator)).toContain('the WorktreeRemove hook has left it in its place');
    expect(existsSync(join(tree(user), '.env'))).toBe(true);
    expect(await list(user)).toMatchObject([{ path: tree(user), state: 'kept', holds: [] }]);
  });

  test.for([
    ['a changed file', 'echo x >> README.md'],
    ['a new file', 'echo x > y.txt'],
    ['a change to a file that the hook copied', 'echo KEY=2 > .env'],
    ['a commit', `echo x > y.txt; git add y.txt; ${COMMIT} -qm y`],
  ] as const)('%s keeps it, and no hook is asked to remove it', async ([, work], { user }) => {
    setUp(user, { create: PRINTS, remove: `touch '${user.root}/removed'` });
    const emulator = await play(user, [bash(work), done]);
    expect(await user.here(['-p', 'go', ...BYPASS])).toMatchObject({ code: 0 });
    expect(report(emulator)).toContain(tree(user));
    expect(existsSync(join(user.root, 'removed'))).toBe(false);
    expect((await user.here(['worktree', 'gc'])).code).toBe(0);
    expect(await list(user)).toMatchObject([{ path: tree(user) }]);
    expect((await user.here(['worktree', 'rm', 'look'])).code).not.toBe(0);
    expect(existsSync(tree(user))).toBe(true);
  });

  test('what the hook left uncommitted is no work of the agent', async ({ user }) => {
    const create = PRINTS.replace(
      'echo "$dir"',
      'echo set > "$dir/hook.txt"; echo more >> "$dir/README.md"; echo "$dir"',
    );
    setUp(user, { create });
    const emulator = await play(user, []);
    expect(await user.here(['-p', 'go', ...BYPASS])).toMatchObject({ code: 0 });
    expect(said(emulator, 'from the hook and not your work: README.md')).not.toBe('');
    expect(existsSync(tree(user))).toBe(false);
  });

  test.for([
    [
      'the agent commits, and not',
      `echo x > y.txt; git add -A; ${COMMIT} -qm y; git show --stat --format= HEAD`,
      1,
    ],
    ['keeps it once the agent changes', 'echo changed > own.txt', 0],
  ] as const)('a new file of the hook %s', async ([, work, commits], { user }) => {
    setUp(user, {
      create: PRINTS.replace(
        'echo "$dir"',
        'echo own > "$dir/own.txt"; ln -s /nowhere "$dir/link"; echo "$dir"',
      ),
    });
    const emulator = await play(user, [bash(work), done]);
    expect(await user.here(['-p', 'go', ...BYPASS])).toMatchObject({ code: 0 });
    expect(git(tree(user), 'rev-list', '--count', 'main..ramet/look')).toBe(String(commits));
    expect(git(tree(user), 'ls-tree', '--name-only', '-r', 'HEAD')).not.toContain('own.txt');
    const [row] = await list(user);
    expect(row).toMatchObject({ holds: [expect.stringContaining(commits === 1 ? '1 commit' : 'own.txt')] });
    expect(report(emulator)).not.toContain('ramet worktree commit');
  });

  test('two agents at once each have their own', async ({ user }) => {
    setUp(user, { create: PRINTS });
    const emulator = await play(
      user,
      [bash('git rev-parse --show-toplevel > where.txt; cat where.txt'), done],
      2,
    );
    expect(await user.here(['-p', 'go', ...BYPASS])).toMatchObject({ code: 0 });
    const rows = await list(user);
    expect(rows.map(({ path }) => path).sort()).toEqual([tree(user), tree(user, 'look-2')]);
    for (const { path } of rows) expect(readFileSync(join(path, 'where.txt'), 'utf8')).toBe(`${path}\n`);
    // Neither learns what the hook of the other did in the repository.
    expect(
      toolResults(emulator)
        .map(({ text }) => text)
        .join(),
    ).not.toContain('refs/heads/task');
  });

  test('an agent that ends while the hook of another is at work is not asked about its branch', async ({
    user,
  }) => {
    const [working, made, ended] = ['working', 'made', 'ended'].map((name) => join(user.root, name));
    const until = (file: string | undefined): string => `until [ -e '${file}' ]; do sleep 0.05; done`;
    const second = `[ "$name" = look ] || { touch '${made}'; ${until(ended)}; }`;
    const hook = MAKES.replace('dir=', `[ "$name" = look ] || ${until(working)}\ndir=`);
    setUp(user, { create: `${hook}\n${second}\necho "$dir"\n` });
    const emulator = await user.emulate({
      respond: async ({ task, turn }) => {
        if (!task.includes('child')) return [start(2), done][turn];
        writeFileSync(working ?? '', '');
        if (turn === 0) await eventually(() => existsSync(made ?? ''));
        return [bash('echo x > y'), done][turn];
      },
    });
    const run = user.here(['-p', 'go', ...BYPASS]);
    await eventually(async () => (await user.here(['logs'])).stdout.includes('worktree given back'));
    writeFileSync(ended ?? '', '');
    expect(await run).toMatchObject({ code: 0 });
    for (const { text } of toolResults(emulator)) expect(text).not.toContain('changed meanwhile');
  });

  test('a path that is printed for two agents is of the first alone', async ({ user }) => {
    const one = join(user.root, 'one');
    setUp(user, { create: `[ -d '${one}' ] || git worktree add -q --detach '${one}' >&2\necho '${one}'` });
    const emulator = await user.emulate({
      respond: ({ task, turn }) =>
        task.includes('child') ? [bash('echo x > y'), done][turn] : [start(), start(), done][turn],
    });
    expect(await user.here(['-p', 'go', ...BYPASS])).toMatchObject({ code: 0 });
    const results = toolResults(emulator);
    expect(results[0]).toMatchObject({ isError: false });
    expect(results[1]?.text).toMatch(/it gave .*one, which agent \w+\.2 has: make one for each agent/);
    expect(results[1]?.isError).toBe(true);
    expect(await list(user)).toMatchObject([{ path: one }]);
  });

  test('works for --worktree NAME, which returns to it and asks no hook twice', async ({ user }) => {
    setUp(user, { create: `echo run >> '${user.root}/runs'\n${PRINTS}` });
    await user.model(bash('echo x > y.txt; pwd -P'), done, bash('cat y.txt; pwd -P'), done);
    const first = await user.here(['-p', 'go', '--worktree', 'fix', ...BYPASS]);
    expect(first, first.stderr).toMatchObject({ code: 0 });
    expect(readFileSync(join(tree(user, 'fix'), 'y.txt'), 'utf8')).toBe('x\n');
    expect(await user.here(['-p', 'go', '--worktree', 'fix', ...BYPASS])).toMatchObject({ code: 0 });
    expect(readFileSync(join(user.root, 'runs'), 'utf8')).toBe('run\n');
    expect(await list(user)).toMatchObject([{ name: 'fix', path: tree(user, 'fix') }]);
  });

  test('EnterWorktree goes there, and ExitWorktree back', async ({ user }) => {
    setUp(user, { create: PRINTS, remove: REMOVES });
    const emulator = await user.model(
      { tool_use: [{ name: 'EnterWorktree', input: { name: 'My fix' } }] },
      bash('pwd -P'),
      { tool_use: [{ name: 'ExitWorktree', input: {} }] },
      bash('pwd -P'),
      done,
    );
    const end = await user.here(['-p', 'go', ...BYPASS]);
    expect(end, end.stderr).toMatchObject({ code: 0 });
    const texts = toolResults(emulator).map(({ text }) => text);
    expect(texts[1]).toContain(tree(user, 'My-fix'));
    expect(texts[2]).toContain('was removed');
    expect(texts[3]).toContain(user.repository);
    expect(trees(user)).toEqual([]);
  });

  test('its agent writes there and nowhere else, also where it lies in the checkout', async ({ user }) => {
    const create = PRINTS.replace('/../trees/', '/.trees/');
    setUp(user, { create });
    const inside = join(user.repository, '.trees', 'look');
    const write = (file_path: string): Answer => ({
      tool_use: [{ name: 'Write', input: { file_path, content: 'x' } }],
    });
    const emulator = await play(user, [
      write(join(inside, 'own.txt')),
      write(join(user.repository, 'meant.txt')),
      write(join(user.root, 'out.txt')),
      bash(`echo x > '${user.repository}/by-bash.txt'`),
      done,
    ]);
    expect(await user.here(['-p', 'go', ...BYPASS])).toMatchObject({ code: 0 });
    for (const name of ['own.txt', 'meant.txt', 'by-bash.txt'])
      expect(existsSync(join(inside, name)), name).toBe(true);
    for (const name of ['meant.txt', 'by-bash.txt'])
      expect(existsSync(join(user.repository, name)), name).toBe(false);
    expect(existsSync(join(user.root, 'out.txt'))).toBe(false);
    expect(said(emulator, 'is outside your worktree')).not.toBe('');
    expect(git(user.repository, 'status', '--porcelain')).toBe('');
  });
});

describe.concurrent('EXT-2, WORK-8: an agent in the worktree of a hook', () => {
  test('is continued there after kill -9, and one whose hook was killed gets another', async ({ user }) => {
    const running = join(user.root, 'running');
    const once = `[ -e '${running}' ] || { touch '${running}'; exec sleep 1000; }`;
    setUp(user, { create: PRINTS.replace('echo "$dir"', `${once}\necho "$dir"`) });
    const gate = Promise.withResolvers<void>();
    let kills = 0;
    const emulator = await user.emulate({
      respond: async ({ task, turn, request }) => {
        if (!task.includes('child')) return turn === 0 ? start() : done;
        const text = JSON.stringify(request.messages);
        if (!text.includes('first-step')) return bash('echo one > one.txt; echo first-step-done');
        if (kills < 2) await gate.promise;
        if (!text.includes('second-step')) return bash('cat one.txt; pwd -P; echo second-step-done');
        return done;
      },
    });
    const first = user.start(['-p', 'go', ...BYPASS]);
    await eventually(() => existsSync(running));
    first.kill('SIGKILL');
    await first.ended;
    kills = 1;
    const second = user.start(['resume', ...BYPASS]);
    await eventually(() => said(emulator, 'first-step-done') !== '');
    second.kill('SIGKILL');
    await second.ended;
    kills = 2;
    gate.resolve();
    const last = await user.here(['resume', ...BYPASS]);
    expect(last, last.stderr).toMatchObject({ code: 0 });
    const row = (await list(user)).find(({ name }) => name === 'look-2');
    expect(said(emulator, 'second-step-done')).toContain(`one\\n${row?.path}\\nsecond-step-done`);
    expect(readFileSync(join(row?.path ?? '', 'one.txt'), 'utf8')).toBe('one\n');
    // What the killed hook had made is there as it was, and named.
    expect(row?.path).not.toBe(tree(user));
    expect(existsSync(join(tree(user), '.env'))).toBe(true);
    for (const command of ['ls', 'gc'])
      expect((await user.here(['worktree', command])).stderr).toContain(
        `${tree(user)}: left by the WorktreeCreate hook`,
      );
    expect(existsSync(join(tree(user), '.env'))).toBe(true);
  });

  test('that is continued after its removal gets it at the same place, and learns that no hook ran', async ({
    user,
  }) => {
    setUp(user, { create: `echo run >> '${user.root}/runs'\n${PRINTS}`, remove: REMOVES });
    const emulator = await user.emulate({
      respond: ({ task, turn, request }) => {
        const text = JSON.stringify(request.messages);
        if (text.includes('Go on, child') && task.includes('child'))
          return text.includes(':again') ? done : bash('pwd -P; echo :again');
        if (task.includes('child')) return done;
        const id = /Agent (\w+\.2)/.exec(text)?.[1] ?? '';
        return (
          [start(), { tool_use: [{ name: 'SendMessage', input: { to: id, message: 'Go on, child' } }] }][
            turn
          ] ?? done
        );
      },
    });
    const end = await user.here(['-p', 'go', ...BYPASS]);
    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(end.stderr).not.toContain('failed');
    expect(trees(user)).toEqual([]);
    expect(said(emulator, ':again')).toContain('without the hook: what the hook prepares');
    expect(said(emulator, ':again')).toContain(`${tree(user)}\\n:again`);
    expect(readFileSync(join(user.root, 'runs'), 'utf8')).toBe('run\n');
  });

  test('in a process of its own works there too', async ({ user }) => {
    setUp(user, { create: PRINTS, remove: REMOVES });
    const emulator = await play(user, [bash('pwd -P; echo there'), done]);
    const end = await user.here(['-p', 'go', '--executor', 'process', ...BYPASS]);
    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(said(emulator, '\\nthere')).toContain(`${tree(user)}\\nthere`);
    expect(trees(user)).toEqual([]);
  });
});

describe.concurrent('EXT-2, WORK-7: what a WorktreeCreate hook gives is refused', () => {
  const other = (user: User): string => join(user.root, 'other');
  const ways: readonly [string, (user: User) => string, RegExp][] = [
    [
      'a plain directory',
      (user) => `mkdir '${other(user)}'; echo '${other(user)}'`,
      /which is no git worktree/,
    ],
    ['nothing at all', (user) => `echo '${other(user)}'`, /where nothing is/],
    ['a file', (user) => `touch '${other(user)}'; echo '${other(user)}'`, /which is no directory/],
    [
      'a link',
      (user) =>
        `git worktree add -q --detach '${other(user)}-real' >&2; ln -s '${other(user)}-real' '${other(user)}'; echo '${other(user)}'`,
      /which is a link/,
    ],
    [
      'a clone',
      (user) => `git clone -q . '${other(user)}' >&2; echo '${other(user)}'`,
      /of another repository/,
    ],
    ['the checkout', (user) => `echo '${user.repository}'`, /which is the main checkout itself/],
    ['the root', () => 'echo /', /which is no git worktree/],
    ['a home', () => 'echo "$HOME/"', /which is no git worktree/],
    [
      'a folder of its worktree',
      (user) =>
        `git worktree add -q --detach '${other(user)}' >&2; mkdir '${other(user)}/in'; echo '${other(user)}/in'`,
      /which is a folder in .*other: print/,
    ],
    [
      'a copy of a worktree',
      (user) =>
        `git worktree add -q --detach '${other(user)}-real' >&2; cp -r '${other(user)}-real' '${other(user)}'; echo '${other(user)}'`,
      /which is a copy of the worktree .*other-real/,
    ],
    [
      'one that was there before',
      (user) => `echo '${user.root}/before'`,
      /which was there before the hook ran/,
    ],
    [
      'one that was moved',
      (user) => `git worktree move '${user.root}/before' '${other(user)}' && echo '${other(user)}'`,
      /which was there before the hook ran/,
    ],
    [
      'one in the checkout that is not ignored',
      (user) => `git worktree add -q --detach '${user.repository}/src' >&2; echo '${user.repository}/src'`,
      /which is inside .* and not ignored there/,
    ],
    [
      'one in another worktree',
      (user) => `git worktree add -q --detach '${user.root}/before/in' >&2; echo '${user.root}/before/in'`,
      /which is inside the worktree .*before/,
    ],
    [
      "one in Ramet's own directory",
      (user) => `git worktree add -q --detach '${user.rametHome}/in' >&2; echo '${user.rametHome}/in'`,
      /which is inside .*ramet, where only Ramet writes/,
    ],
    [
      'one without files',
      (user) => `git worktree add -q --no-checkout --detach '${other(user)}' >&2; echo '${other(user)}'`,
      /where no files are checked out/,
    ],
    [
      'one without a commit',
      (user) =>
        `git worktree add -q --detach '${other(user)}' >&2; git -C '${other(user)}' checkout -q --orphan none; echo '${other(user)}'`,
      /whose branch has no commit/,
    ],
    [
      'one in a merge',
      (user) =>
        `git worktree add -q --detach '${other(user)}' >&2; git -C '${other(user)}' rev-parse HEAD > "$(git -C '${other(user)}' rev-parse --absolute-git-dir)/MERGE_HEAD"; echo '${other(user)}'`,
      /where git is in the middle of something \(MERGE_HEAD\)/,
    ],
  ];

  test.for(ways)('%s', async ([, make, reason], { user }) => {
    setUp(user, { create: `cat > '${user.root}/input'\n${make(user)}` });
    git(user.repository, 'worktree', 'add', '-q', '--detach', join(user.root, 'before'));
    const emulator = await play(user, []);
    const end = await user.here(['-p', 'go', ...BYPASS]);
    expect(end).toMatchObject({ code: 0 });
    expect(toolResults(emulator)[0]).toMatchObject({ isError: true });
    expect(report(emulator)).toContain('a WorktreeCreate hook refused it: it gave ');
    expect(report(emulator)).toMatch(reason);
    // Ours is given back, and nothing of the hook's or of anybody else's is gone.
    const { worktree_path: ours } = JSON.parse(readFileSync(join(user.root, 'input'), 'utf8'));
    expect(existsSync(ours)).toBe(false);
    expect(branches(user)).toEqual(['main']);
    const given = existsSync(other(user)) || lstatSync(other(user), { throwIfNoEntry: false }) !== undefined;
    if (make(user).includes(other(user)) && !/nothing/.test(reason.source)) expect(given).toBe(true);
    expect(existsSync(user.repository)).toBe(true);
    expect(git(user.repository, 'status', '--porcelain', '--untracked-files=no')).toBe('');
  });

  test('a refusal names what the hook has left, and so do ls and gc, which leave it alone', async ({
    user,
  }) => {
    setUp(user, { create: `git worktree add -q -b mine '${other(user)}' >&2; exit 3` });
    const emulator = await play(user, []);
    await user.here(['-p', 'go', ...BYPASS]);
    expect(report(emulator)).toMatch(
      /exit code 3; left as it is, and no agent has it: .*other \(git worktree remove/,
    );
    for (const command of ['ls', 'gc'])
      expect((await user.here(['worktree', command])).stderr).toContain(other(user));
    expect(existsSync(other(user))).toBe(true);
    expect(branches(user)).toEqual(['main', 'mine']);
    git(user.repository, 'worktree', 'remove', other(user));
    expect((await user.here(['worktree', 'ls'])).stderr).not.toContain(other(user));
  });

  test('one of two at once is refused: what the other is making is not called left', async ({ user }) => {
    const [made, refused] = ['made', 'refused'].map((name) => join(user.root, name));
    const first = `touch '${made}'; until [ -e '${refused}' ]; do sleep 0.05; done; echo "$dir"`;
    const second = `until [ -e '${made}' ]; do sleep 0.05; done; echo "Preparing" >&2; echo "fatal: no room" >&2; exit 3`;
    const hook = MAKES.replace('dir=', `[ "$name" = look ] || { ${second}; }\ndir=`);
    setUp(user, { create: `${hook}\n${first}\n` });
    const emulator = await user.emulate({
      respond: ({ task, turn }) => {
        if (task.includes('child')) return [bash('echo x > y'), done][turn];
        return [start(2), done][turn];
      },
    });
    const run = user.here(['-p', 'go', ...BYPASS]);
    await eventually(() => existsSync(made ?? ''));
    await eventually(async () => (await user.here(['logs'])).stdout.includes('hooks of WorktreeCreate'));
    writeFileSync(refused ?? '', '');
    expect(await run).toMatchObject({ code: 0 });
    const [one, two] = toolResults(emulator);
    expect(one).toMatchObject({ isError: false });
    expect(one?.text).not.toContain('refs/heads/task');
    expect(two?.text).toMatch(/exit code 3: fatal: no room\.?$/);
    expect((await user.here(['worktree', 'ls'])).stderr).not.toContain('left by the WorktreeCreate hook');
  });

  test('hooks at once do not fail where git notes what a branch follows', async ({ user }) => {
    setUp(user, {
      create: `git config branch.autoSetupMerge > '${user.root}/set'; git config user.own >> '${user.root}/set'`,
    });
    await play(user, []);
    const own = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.own', GIT_CONFIG_VALUE_0: 'mine' };
    await user.here(['-p', 'go'], { env: own });
    expect(readFileSync(join(user.root, 'set'), 'utf8')).toBe('false\nmine\n');
  });

  test('a hook that hangs is ended after its time, and the agent does not start', async ({ user }) => {
    setUp(user, { create: `git worktree add -q --detach '${other(user)}' >&2; exec sleep 1000`, timeout: 1 });
    const emulator = await play(user, []);
    expect(await user.here(['-p', 'go', ...BYPASS])).toMatchObject({ code: 0 });
    expect(toolResults(emulator)[0]).toMatchObject({ isError: true });
    expect(report(emulator)).toContain(`no agent has it: ${other(user)}`);
    expect(await list(user)).toEqual([]);
  });

  test('two hooks that make one each', async ({ user }) => {
    setUp(user, { create: PRINTS });
    const path = join(user.root, 'home/.claude/settings.json');
    const settings = JSON.parse(readFileSync(path, 'utf8'));
    const second = join(user.root, 'second.sh');
    writeFileSync(second, `git worktree add -q --detach '${other(user)}' >&2; echo '${other(user)}'`);
    settings.hooks.WorktreeCreate.push({ hooks: [{ type: 'command', command: `bash '${second}'` }] });
    writeFileSync(path, JSON.stringify(settings));
    const emulator = await play(user, []);
    await user.here(['-p', 'go', ...BYPASS]);
    expect(report(emulator)).toMatch(/hooks gave two directories, .*trees\/look and .*other/);
    expect(existsSync(tree(user)) && existsSync(other(user))).toBe(true);
  });
});
