/** The patterns of parallel work (OP-9), each with agents, git and the command as a user has them. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { openPlace } from '../../src/sdk/worktrees/open-place.ts';
import { thisProcess } from '../../src/system/processes/process-identity.ts';
import { eventually } from '../fixtures/command.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { test, type User } from '../fixtures/user.ts';
import { checkoutBytes, git } from '../fixtures/worktrees.ts';

function prepare(user: User, tasks: string): void {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
  writeFileSync(join(user.repository, 'tasks.yaml'), tasks);
  git(user.repository, 'add', '--all');
  git(user.repository, 'commit', '--quiet', '--message=tasks');
  // The target is nowhere checked out, so it can move.
  git(user.repository, 'switch', '--quiet', '--create', 'desk');
  Object.assign(user.env, IDENTITY);
}

const write = (name: string, content: string): Answer => ({
  tool_use: [{ name: 'Write', input: { file_path: name, content } }],
});

interface Asked {
  request: { messages: unknown };
  turn: number;
}

const textOf = ({ request }: Asked): string => JSON.stringify(request.messages);
const taskOf = (asked: Asked): string => /Task (\w+):/.exec(textOf(asked))?.[1] ?? '';

interface RunResult {
  isolation: string;
  isolation_why: string | null;
  report: string;
  tasks: {
    id: string;
    status: string;
    attempts: {
      isolation: string;
      state: string;
      cause: string | null;
      message: string | null;
      path: string | null;
      notes: string[];
    }[];
  }[];
}

async function operate(
  user: User,
  ...args: string[]
): Promise<{ code: number | null; result: RunResult; said: string }> {
  const end = await user.here([
    ...['operate', 'tasks.yaml', '--into', 'main', '--no-marks', '--output-format', 'json', ...args],
  ]);
  // What the command prints in this format is that object.
  return { code: end.code, result: JSON.parse(end.stdout) as RunResult, said: end.stderr };
}

const placesOf = ({ tasks }: RunResult): string[] =>
  tasks.flatMap(({ id, attempts }) => attempts.map(({ isolation, state }) => `${id} ${isolation} ${state}`));

const PARTED = `tasks:
  - { id: a, title: Write a.txt, files: [a.txt] }
  - { id: b, title: Write b.txt, files: [b.txt] }
  - { id: c, title: Write c.txt, files: [c.txt] }
  - { id: d, title: Write d.txt, files: [d/], depends_on: [a] }
`;

const filesOn = (user: User, ref: string): string[] =>
  git(user.repository, 'ls-tree', '-r', '--name-only', ref).split('\n');

/** What runs leave behind: working trees, branches and refs of agents, clones. */
function leftovers(user: User): string[] {
  const refs = git(
    user.repository,
    'for-each-ref',
    '--format=%(refname)',
    'refs/heads/ramet',
    'refs/ramet/attempts',
  );
  const clones = join(user.rametHome, 'clones');
  const folders = existsSync(clones)
    ? readdirSync(clones).flatMap((name) => readdirSync(join(clones, name)))
    : [];
  return [...refs.split('\n').filter(Boolean), ...folders];
}

/** All but the branch that results land on. */
function untouched(user: User): Record<string, string> {
  const {
    '.git/refs/heads/main': _,
    '.git/logs/refs/heads/main': __,
    ...rest
  } = checkoutBytes(user.repository);
  return rest;
}

describe.concurrent('OP-9: ramet operate', () => {
  test('partition: tasks share one checkout, and one that writes outside its files moves to a worktree', async ({
    user,
  }) => {
    prepare(user, PARTED);
    await user.emulate({
      respond: (asked) => {
        const id = taskOf(asked);
        if (asked.turn === 0) return write(id === 'd' ? 'd/d.txt' : `${id}.txt`, `${id}\n`);
        if (id === 'c' && asked.turn === 1) return write('common.txt', 'of c\n');
        return { text: `Done with ${id}.` };
      },
    });
    const before = untouched(user);
    const { code, result, said } = await operate(user, '--check', 'test ! -e wrong.txt', '--retries', '0');
    expect([code, placesOf(result)]).toEqual([
      0,
      [
        ...['a partition passed', 'b partition passed', 'c partition failed', 'c worktree passed'],
        'd partition passed',
      ],
    ]);
    expect(result).toMatchObject({
      isolation: 'partition',
      isolation_why: 'all tasks declare files, no two the same, and there is a check',
    });
    expect(said).toContain('isolation: partition, all tasks in one checkout');
    const [a, b, c] = result.tasks;
    expect(a?.attempts[0]?.path).toBe(b?.attempts[0]?.path);
    expect(c?.attempts[0]).toMatchObject({
      cause: 'outside_files',
      message: expect.stringMatching(
        /common\.txt is not one of the files of your task.*in a worktree of its own/,
      ),
    });
    expect(readFileSync(result.report, 'utf8')).toMatch(/try 1: failed: outside\\?_files/);
    expect(filesOn(user, 'main')).toEqual([
      ...['README.md', 'a.txt', 'b.txt', 'c.txt', 'common.txt', 'd/d.txt', 'tasks.yaml'],
    ]);
    expect(untouched(user)).toEqual(before);
    // The branch of the worktree has landed, and is gone.
    expect(leftovers(user)).toEqual([expect.stringMatching(/^refs\/ramet\/attempts\/.*\/c-1$/)]);
  });

  test('worktree: what agents leave on no branch, or on one that they made, lands and is told', async ({
    user,
  }) => {
    const WAYS: Record<string, string> = {
      a: 'echo a > a.txt && git switch -q --detach',
      b: 'git switch -q --detach && echo b > b.txt && git add b.txt && git commit -qm "Part b"',
      c: 'git switch -q -c ramet/foo && echo c > c.txt && git add c.txt && git commit -qm "Part c"',
    };
    prepare(
      user,
      `tasks:\n${Object.keys(WAYS)
        .map((id) => `  - { id: ${id}, title: Write ${id}.txt }\n`)
        .join('')}`,
    );
    await user.emulate({
      respond: (asked) => {
        const id = taskOf(asked);
        if (asked.turn > 0) return { text: `Done with ${id}.` };
        return { tool_use: [{ name: 'Bash', input: { command: WAYS[id] ?? 'false' } }] };
      },
    });
    const before = untouched(user);
    const { code, result } = await operate(
      user,
      ...['--isolation', 'worktree', '--check', 'test -e README.md', '--allow', 'Bash'],
    );
    expect([code, placesOf(result)]).toEqual([
      0,
      ['a worktree passed', 'b worktree passed', 'c worktree passed'],
    ]);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'a.txt', 'b.txt', 'c.txt', 'tasks.yaml']);
    expect(result.tasks.map(({ attempts }) => attempts[0]?.notes)).toEqual([
      ['its worktree was on no branch: ramet/a-1 has its work now'],
      ['its worktree was on no branch: ramet/b-1 has its work now'],
      [
        'its work is on ramet/foo, not ramet/c-1, and was taken from there; it stays: once the target has the work, git branch -D ramet/foo removes it',
      ],
    ]);
    expect(untouched(user)).toEqual(before);
  });

  test('worktree: what only another branch, tag or ref has at the end lands with the task that made it', async ({
    user,
  }) => {
    const commit = (id: string): string =>
      `echo ${id} > ${id}.txt && git add ${id}.txt && git commit -qm ${id}`;
    const unseen = (id: string): string =>
      `echo ${id} > ${id}.txt && git add . && C=$(git commit-tree -p HEAD -m ${id} $(git write-tree)) && git reset -q --hard`;
    const WAYS: Record<string, { command: string; where?: string }> = {
      a: {
        command: `${commit('a')} && git branch ramet/save && git reset -q --hard HEAD~1`,
        where: 'ramet/save',
      },
      b: { command: `${commit('b')} && git tag save && git reset -q --hard HEAD~1`, where: 'tags/save' },
      c: { command: `${unseen('c')} && git fetch -q . $C:refs/heads/ramet/fetched`, where: 'ramet/fetched' },
      d: { command: `${unseen('d')} && git update-ref refs/remotes/mine/d $C`, where: 'remotes/mine/d' },
      e: { command: 'echo e > e.txt' },
    };
    prepare(
      user,
      `tasks:\n${Object.keys(WAYS)
        .map((id) => `  - { id: ${id}, title: Write ${id}.txt }\n`)
        .join('')}`,
    );
    await user.emulate({
      respond: (asked) => {
        const id = taskOf(asked);
        if (asked.turn > 0) return { text: `Done with ${id}.` };
        return { tool_use: [{ name: 'Bash', input: { command: WAYS[id]?.command ?? 'false' } }] };
      },
    });
    const { code, result } = await operate(
      user,
      ...['--isolation', 'worktree', '--check', 'test -e README.md', '--allow', 'Bash', '--retries', '0'],
    );
    expect(code).toBe(0);
    expect(filesOn(user, 'main')).toEqual([
      'README.md',
      'a.txt',
      'b.txt',
      'c.txt',
      'd.txt',
      'e.txt',
      'tasks.yaml',
    ]);
    expect(result.tasks.map(({ attempts }) => attempts[0]?.notes)).toEqual(
      Object.entries(WAYS).map(([id, { where }]) =>
        where === undefined
          ? []
          : [
              expect.stringContaining(
                `its work is on ${where}, not ramet/${id}-1, and was taken from there; it stays: `,
              ),
            ],
      ),
    );
  });

  test('none: tasks run one after the other in one checkout; what only reads reads a checkout of its own', async ({
    user,
  }) => {
    prepare(
      user,
      `tasks:
  - { id: a, title: Write a.txt, files: [a.txt] }
  - { id: b, title: Write b.txt, files: [b.txt] }
  - { id: look, title: Look at it, type: Explore, depends_on: [a, b] }
`,
    );
    let atWork = 0;
    let most = 0;
    await user.emulate({
      respond: (asked) => {
        const id = taskOf(asked);
        if (id === 'look') {
          if (asked.turn > 0)
            return { text: textOf(asked).includes('of a') ? 'I have read a.' : 'Nothing there.' };
          return { tool_use: [{ name: 'Read', input: { file_path: 'a.txt' } }] };
        }
        atWork += asked.turn === 0 ? 1 : -1;
        most = Math.max(most, atWork);
        return asked.turn === 0 ? write(`${id}.txt`, `of ${id}\n`) : { text: `Done with ${id}.` };
      },
    });
    const before = untouched(user);
    const { code, result } = await operate(user, '--isolation', 'none', '--no-check');
    expect([code, most, placesOf(result)]).toEqual([
      0,
      1,
      ['a none passed', 'b none passed', 'look read passed'],
    ]);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'a.txt', 'b.txt', 'tasks.yaml']);
    expect(untouched(user)).toEqual(before);
    expect(leftovers(user)).toEqual([]);
  });

  test('propose: agents only read, their patches are applied in turn, and a conflict goes back to its agent', async ({
    user,
  }) => {
    prepare(user, 'tasks:\n  - { id: a, title: Say A }\n  - { id: b, title: Say B }\n');
    const said: string[] = [];
    const base = git(user.repository, 'rev-parse', 'main');
    await user.emulate({
      respond: async (asked) => {
        const id = taskOf(asked);
        if (asked.turn === 0) return write('README.md', 'not mine to write\n');
        if (id === 'a') return { text: `It says A.\n${diff('# Test', '# A')}` };
        // Until the other is merged.
        await eventually(
          () =>
            git(user.repository, 'for-each-ref', '--format=%(objectname)', 'refs/ramet/operator') !== base,
        );
        said.push(textOf(asked));
        return { text: asked.turn === 1 ? diff('# Test', '# B') : diff('# A', '# A and B') };
      },
    });
    const before = untouched(user);
    const { code, result } = await operate(user, '--isolation', 'propose', '--check', 'test -s README.md');
    expect([code, placesOf(result)]).toEqual([0, ['a propose passed', 'b propose passed']]);
    expect(git(user.repository, 'show', 'main:README.md')).toBe('# A and B');
    expect(said[0]).toMatch(/README\.md cannot be written: you only read here/);
    expect(said[1]).toMatch(/The patch conflicts with what others have finished meanwhile, in README\.md/);
    expect(untouched(user)).toEqual(before);
    expect(leftovers(user)).toEqual([]);
  });

  test('propose: a checkout that a killed process left half-made does not stop the resumed run', async ({
    user,
  }) => {
    prepare(user, 'tasks:\n  - { id: a, title: Say A }\n  - { id: b, title: Say B, depends_on: [a] }\n');
    await user.emulate({
      respond: (asked) => ({ text: taskOf(asked) === 'a' ? diff('# Test', '# A') : diff('# A', '# B') }),
    });
    const money = ['--isolation', 'propose', '--max-budget-usd', '0.000001'];
    const first = await operate(user, ...money);
    expect(first.result.tasks.map(({ status }) => status)).toEqual(['done', 'ready']);
    const { session_id: session } = JSON.parse((await user.here(['operate', 'status', '--json'])).stdout);
    const base = git(user.repository, 'rev-parse', `refs/ramet/operator/${session}`);
    const { place, [Symbol.dispose]: close } = await openPlace({ cwd: user.repository, env: user.env });
    const row = place.registry.list().find(({ name }) => name.startsWith('read-'));
    if (row === undefined) throw new Error('no checkout for reading was made');
    const name = `read-${session}-${base.slice(0, 12)}`;
    place.registry.put({
      ...{ ...row, id: 'wt-half-made', name, path: join(dirname(row.path), name), base, state: 'making' },
      lease: { ...thisProcess(), pid: 2 ** 30 },
    });
    close();
    const end = await user.here(['operate', '--resume', session, '--max-budget-usd', '5']);
    expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('2 of 2 tasks done') });
    expect(git(user.repository, 'show', 'main:README.md')).toBe('# B');
  });

  test('clone: each agent works in a clone, and its work is fetched, committed or not', async ({ user }) => {
    prepare(
      user,
      'tasks:\n  - { id: a, title: Write a.txt }\n  - { id: b, title: Write b.txt, isolation: worktree }\n',
    );
    await user.emulate({
      respond: (asked) => {
        const id = taskOf(asked);
        if (asked.turn === 0) return write(`${id}.txt`, `${id}\n`);
        if (id === 'a' && asked.turn === 1)
          return {
            tool_use: [
              {
                name: 'Bash',
                input: { command: 'git add a.txt && git commit -qm "First part" && echo more > more.txt' },
              },
            ],
          };
        return { text: `Done with ${id}.` };
      },
    });
    const before = untouched(user);
    const { code, result } = await operate(
      user,
      '--isolation',
      'clone',
      '--check',
      'test ! -e wrong.txt',
      '--allow',
      'Bash',
    );
    expect([code, placesOf(result)]).toEqual([0, ['a clone passed', 'b worktree passed']]);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'a.txt', 'b.txt', 'more.txt', 'tasks.yaml']);
    expect(git(user.repository, 'log', '--format=%s', 'main').split('\n')).toContain('First part');
    expect(git(user.repository, 'fsck', '--no-dangling')).toBe('');
    expect(untouched(user)).toEqual(before);
    expect(leftovers(user)).toEqual([]);
  });
});

function diff(before: string, after: string): string {
  return [
    '```diff',
    '--- a/README.md',
    '+++ b/README.md',
    '@@ -1 +1 @@',
    `-${before}`,
    `+${after}`,
    '```',
  ].join('\n');
}
