import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  call,
  eventsOf,
  type FamilySession,
  lastTexts,
  startAgents,
  startFamily,
} from '../../../test/fixtures/family.ts';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { workingSandbox } from '../../../test/fixtures/sandbox.ts';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { checkoutBytes, git, rametBranches } from '../../../test/fixtures/worktrees.ts';
import type { EventOf } from '../../schema/events.ts';
import { findProcess } from '../../system/processes/process-identity.ts';

const FILES = { 'shared.txt': 'one\n', 'src/a.ts': 'export const a = 1;\n' };
const ISOLATED = { subagent_type: 'general-purpose', isolation: 'worktree' };
const COMMIT = 'git add -A && git -c user.name=T -c user.email=t@x commit -qm work';

/** Writes in ways that only show when they run: to files, to a branch, to the configuration and to the index. */
function hidden(main: string): string {
  const lines = [
    `eval "$(printf 'echo x > %s%s' ${main.slice(0, -3)} ${main.slice(-3)}/f.ts)"`,
    `x=update-ref; git $x refs/heads/main HEAD~0 || git $x -m x refs/heads/other HEAD`,
    'y=config; git $y user.name Another',
    `GIT_INDEX_FILE=$(git rev-parse --git-dir)/../../index git rm -q --cached shared.txt`,
  ];
  const script = `cat > run.sh <<'END'\n${lines.join('\n')}\nEND\nbash run.sh; rm run.sh`;
  return `${script}\necho mine > mine.txt\n${COMMIT} && echo committed\ntrue`;
}

function originOf(family: FamilySession, number: number): NonNullable<EventOf<'agent.started'>['origin']> {
  const [started] = eventsOf(family.recordedOf(number), 'agent.started');
  if (started?.origin === undefined) throw new Error('nobody asked for it');
  return started.origin;
}

function pathOf(family: FamilySession, number: number): string {
  return originOf(family, number).worktree?.path ?? 'none';
}

describe('EXEC-5: agents in worktrees of their own', () => {
  test('five edit the same file, each on its branch, and the checkout stays the same bytes', async () => {
    const tasks = ['edit 1', 'edit 2', 'edit 3', 'edit 4', 'edit 5'];
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(tasks, ISOLATED), { text: 'All done.' }],
        ...Object.fromEntries(
          tasks.map((task) => [
            task,
            [
              call('Read', { file_path: 'shared.txt' }),
              call('Edit', { file_path: 'shared.txt', old_string: 'one', new_string: task }),
              call('Bash', { command: COMMIT }),
              { text: `${task} is done` },
            ],
          ]),
        ),
      },
    });
    const before = checkoutBytes(family.cwd);
    const { result } = await family.run('Go.');
    expect(result).toMatchObject({ status: 'done', text: 'All done.' });
    expect(checkoutBytes(family.cwd)).toEqual(before);
    const branches = rametBranches(family.cwd);
    expect(branches).toHaveLength(5);
    expect(new Set(branches.map((branch) => git(family.cwd, 'show', `${branch}:shared.txt`)))).toEqual(
      new Set(tasks),
    );
    const reports = lastTexts(family.requestsOf('Go.').at(-1));
    for (const [index, branch] of branches.entries()) {
      expect(reports.join('\n')).toContain(`git merge ${branch}`);
      expect(eventsOf(family.recordedOf(index + 2), 'worktree.released')).toMatchObject([{ kept: true }]);
    }
  });

  test('that make repositories inside are told that the files there are in no commit of theirs', async () => {
    const nest = `for d in bare own; do mkdir $d && echo x > $d/f.txt && git init -q $d; done; (cd own && ${COMMIT}); echo y > top.txt`;
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['nest'], ISOLATED), { text: 'All done.' }],
        nest: [call('Bash', { command: nest }), { text: 'Scope: nested.' }],
      },
    });
    await family.run('Go.');
    const text = 'bare, own are repositories of their own: the files there are not part of the commit';
    expect(lastTexts(family.requestsOf('Go.').at(-1)).join('\n')).toContain(text);
    const warnings = eventsOf(family.recordedOf(2), 'warning.raised').filter(
      ({ code }) => code === 'not_checkpointed',
    );
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining(text)]);
    const [kept] = eventsOf(family.recordedOf(2), 'worktree.checkpointed').slice(-1);
    const names = git(family.cwd, 'ls-tree', '-r', '--name-only', kept?.commit ?? '').split('\n');
    expect(names).toEqual(['shared.txt', 'src/a.ts', 'top.txt']);
  });

  test('are those that the setting names, and nobody is refused for it outside a repository', async () => {
    const tasks = {
      fork: {},
      general: { subagent_type: 'general-purpose' },
      look: { subagent_type: 'Explore' },
    };
    const isolated = async (
      setting: 'forks' | 'writers',
      files: Record<string, string> | undefined,
    ): Promise<string[]> => {
      const turns = Object.entries(tasks).map(([task, input]) => startAgents([task], input));
      const family = await startFamily({
        ...(files === undefined ? { cwd: temporaryDirectory() } : { files }),
        settings: { worktree: { default: setting } },
        cast: {
          'Go.': [...turns, { text: 'Over.' }],
          ...Object.fromEntries(Object.keys(tasks).map((task) => [task, [{ text: 'Scope: ok.' }]])),
        },
      });
      const { result } = await family.run('Go.');
      expect(result).toMatchObject({ status: 'done', text: 'Over.' });
      const names = Object.keys(tasks);
      return names.filter((_, index) => originOf(family, index + 2).worktree !== undefined);
    };
    expect(await isolated('forks', FILES)).toEqual(['fork']);
    expect(await isolated('writers', FILES)).toEqual(['fork', 'general']);
    expect(await isolated('writers', undefined)).toEqual([]);
  });

  test('who lacks packages, submodules or large files is told the command, and the user once', async () => {
    const family = await startFamily({
      files: {
        ...FILES,
        'package.json': '{"dependencies": {"a": "1"}}',
        'package-lock.json': '{}',
        '.gitmodules': '[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n',
        '.gitattributes': '*.bin filter=lfs\n',
      },
      cast: {
        'Go.': [startAgents(['one', 'two'], ISOLATED), { text: 'Over.' }],
        one: [{ text: 'ok' }],
        two: [{ text: 'ok' }],
      },
    });
    await family.run('Go.');
    for (const task of ['one', 'two'])
      expect(lastTexts(family.requestsOf(task)[0]).join('\n')).toContain('run `npm ci` here');
    const warnings = [1, 2, 3].flatMap((number) => eventsOf(family.recordedOf(number), 'warning.raised'));
    expect(warnings.filter(({ code }) => code === 'worktree_incomplete')).toMatchObject([
      { message: expect.stringContaining(`run \`npm ci\` in ${family.cwd}`) },
      {
        message: expect.stringMatching(/^submodules are empty in worktrees: run `git submodule update/),
      },
      { message: expect.stringMatching(/^large files \(LFS\) are pointers in worktrees: run `git lfs/) },
    ]);
  });

  test('FORK-6: a fork is told where it works, and may change at once what its parent has read', async () => {
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [
          call('Read', { file_path: 'shared.txt' }),
          startAgents(['fork it'], { isolation: 'worktree' }),
          { text: 'Over.' },
        ],
        'fork it': [
          call('Edit', { file_path: 'shared.txt', old_string: 'one', new_string: 'forked' }),
          { text: 'Scope: edited.' },
        ],
      },
    });
    await family.run('Go.');
    expect(readFileSync(join(pathOf(family, 2), 'shared.txt'), 'utf8')).toBe('forked\n');
    expect(readFileSync(join(family.cwd, 'shared.txt'), 'utf8')).toBe('one\n');
    const [branch] = rametBranches(family.cwd);
    const base = git(family.cwd, 'rev-parse', '--short=12', 'HEAD').trim();
    expect(lastTexts(family.requestsOf('fork it')[0]).at(-2)).toBe(
      [
        '<worktree>',
        `You work in your own git worktree ${pathOf(family, 2)}, branch ${branch} from ${base}, a copy of ${family.cwd}: tools translate its paths. Write only here; commit, never merge or push. Ports: $RAMET_PORT_BASE.`,
        '</worktree>',
      ].join('\n'),
    );
  });

  test('what a command leaves in a session of its own ends with the agent', async () => {
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['leave'], ISOLATED), { text: 'ok' }],
        leave: [
          call('Bash', { command: 'setsid sleep 300 > /dev/null 2>&1 & echo "left $!"' }),
          { text: 'ok' },
        ],
      },
    });
    await family.run('Go.');
    const pid = Number(/left (\d+)/.exec(lastTexts(family.requestsOf('leave').at(-1)).join())?.[1]);
    expect(pid).toBeGreaterThan(0);
    expect(findProcess(pid)?.ended ?? true).toBe(true);
  });

  test('commands see their slot, their directory and their branch', async () => {
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['look'], ISOLATED), { text: 'Over.' }],
        look: [
          call('Bash', { command: 'echo "$RAMET_SLOT $PWD"; git branch --show-current' }),
          { text: 'ok' },
        ],
      },
    });
    await family.run('Go.');
    const { path, branch } = originOf(family, 2).worktree ?? {};
    expect(lastTexts(family.requestsOf('look').at(-1))[0]).toBe(`1 ${path}\n${branch}`);
  });
});

describe('EXEC-5: what holds for the checkout holds in its worktrees', () => {
  test('RES-3: rules about places of the checkout', async () => {
    const family = await startFamily({
      files: { ...FILES, 'locked/a.txt': 'one\n' },
      permissions: { deny: ['Edit(/locked/**)', 'Read(/src/**)'] },
      cast: {
        'Go.': [startAgents(['try'], ISOLATED), { text: 'Over.' }],
        try: [
          call('Write', { file_path: 'locked/b.txt', content: 'x' }),
          call('Bash', { command: 'echo x > locked/b.txt' }),
          call('Bash', { command: 'cat src/a.ts' }),
          { text: 'given up' },
        ],
      },
    });
    await family.run('Go.');
    const answers = family
      .requestsOf('try')
      .slice(1)
      .map((record) => lastTexts(record)[0]);
    expect(answers[0]).toContain('denied by the rule Edit(/locked/**)');
    expect(answers[1]).toContain('denied by the rule Edit(/locked/**)');
    expect(answers[2]).toContain('denied by the rule Read(/src/**)');
  });

  test('an agent whose parent works in a folder works in the same folder there', async () => {
    const family = await startFamily({
      cwd: join(temporaryRepository(FILES), 'src'),
      cast: {
        'Go.': [startAgents(['look'], ISOLATED), { text: 'Over.' }],
        look: [call('Bash', { command: 'pwd; ls' }), { text: 'ok' }],
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('look').at(-1))[0]).toBe(`${join(pathOf(family, 2), 'src')}\na.ts`);
  });
});

describe('EXEC-2, EXEC-5: an agent in a process and a worktree of its own', () => {
  test('works there, is held there, and its host keeps what it does', async () => {
    const family = await startFamily({
      files: FILES,
      agents: { executor: 'process' },
      cast: {
        'Go.': [startAgents(['make'], ISOLATED), { text: 'Over.' }],
        make: [
          call('Write', { file_path: 'new.txt', content: 'mine\n' }),
          () => call('Write', { file_path: join(family.cwd, 'out.txt'), content: 'x' }),
          call('Bash', { command: 'echo "$RAMET_SLOT"; pwd' }),
          call('EnterWorktree', {}),
          { text: 'made' },
        ],
      },
    });
    await family.run('Go.');
    const path = pathOf(family, 2);
    const answers = family
      .requestsOf('make')
      .slice(1)
      .map((record) => lastTexts(record)[0]);
    expect(answers[1]).toContain(`${join(family.cwd, 'out.txt')} is ${join(path, 'out.txt')}`);
    expect(existsSync(join(family.cwd, 'out.txt'))).toBe(false);
    expect(answers[2]).toBe(`1\n${path}`);
    expect(answers[3]).toContain('already');
    expect(originOf(family, 2).executor).toBe('process');
    const [kept] = eventsOf(family.recordedOf(2), 'worktree.checkpointed');
    expect(git(family.cwd, 'show', `${kept?.ref}:new.txt`)).toBe('mine');
    expect(existsSync(join(family.cwd, 'new.txt'))).toBe(false);
  });
});

describe('WORK-3: the end of an agent in a worktree', () => {
  test('an unchanged worktree vanishes, with its branch, and the report says so', async () => {
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['look'], ISOLATED), { text: 'Over.' }],
        look: [call('Read', { file_path: 'shared.txt' }), { text: 'seen' }],
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('Go.').at(-1))[0]).toContain('Worktree: unchanged, removed.');
    await family.session[Symbol.asyncDispose]();
    expect(existsSync(pathOf(family, 2))).toBe(false);
    expect(rametBranches(family.cwd)).toEqual([]);
  });

  test('each turn that may have changed something is kept on a private ref', async () => {
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['write'], ISOLATED), { text: 'Over.' }],
        write: [call('Write', { file_path: 'new.txt', content: 'mine\n' }), { text: 'written' }],
      },
    });
    await family.run('Go.');
    const [kept] = eventsOf(family.recordedOf(2), 'worktree.checkpointed');
    expect(kept?.ref).toBe(`refs/ramet/wip/${family.session.id}.2`);
    expect(git(family.cwd, 'show', `${kept?.ref}:new.txt`)).toBe('mine');
  });
});

describe('WORK-7: isolation is proved or the spawn fails', () => {
  test.for([
    ['no repository', (): string => temporaryDirectory(), 'is not in a git repository'],
    [
      'no commit',
      (): string => {
        const directory = temporaryDirectory();
        runSync('git', ['init', '-q'], { cwd: directory });
        return directory;
      },
      'has no commit yet',
    ],
  ] as const)('%s: no agent is started, and the reason is told', async ([, place, reason]) => {
    const family = await startFamily({
      cwd: place(),
      cast: { 'Go.': [startAgents(['look'], ISOLATED), { text: 'Over.' }] },
    });
    await family.run('Go.');
    const [answer] = lastTexts(family.requestsOf('Go.').at(-1));
    expect(answer).toMatch(/^No agent was started: it cannot have a worktree of its own/);
    expect(answer).toContain(reason);
    expect(family.recordedOf(2)).toEqual([]);
  });

  test('a spawn that is refused for another reason leaves no worktree', async () => {
    const family = await startFamily({
      files: FILES,
      agents: { total: 1 },
      cast: {
        'Go.': [startAgents(['a'], ISOLATED), startAgents(['b'], ISOLATED), { text: 'Over.' }],
        a: [{ text: 'ok' }],
      },
    });
    await family.run('Go.');
    await family.session[Symbol.asyncDispose]();
    expect(rametBranches(family.cwd)).toEqual([]);
  });

  test('writes outside are refused in every mode, with the path that is meant', async () => {
    const elsewhere = temporaryDirectory();
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['escape'], ISOLATED), { text: 'Over.' }],
        escape: [
          call('Write', { file_path: join(elsewhere, 'b.ts'), content: 'x' }),
          call('Bash', { command: 'ln -s "$(git rev-parse --git-common-dir)/.." out' }),
          call('Write', { file_path: 'out/c.ts', content: 'mine' }),
          call('Read', { file_path: 'out/c.ts' }),
          call('Bash', { command: 'echo x > out/d.ts' }),
          call('Bash', { command: 'cd out && touch e.ts' }),
          call('Bash', { command: 'git -C out commit --allow-empty -m x' }),
          call('Bash', { command: 'git stash' }),
          { text: 'given up' },
        ],
      },
    });
    const before = checkoutBytes(family.cwd);
    await family.run('Go.');
    const root = pathOf(family, 2);
    const answers = family
      .requestsOf('escape')
      .slice(1)
      .map((record) => lastTexts(record)[0] ?? '');
    expect(answers[0]).toContain('is outside your worktree');
    // A link into the checkout is a path of the checkout, for who reads and for who writes (FORK-6).
    for (const told of answers.slice(2, 4))
      expect(told).toContain(`Your worktree was used instead: out/c.ts is ${join(root, 'c.ts')}.`);
    expect(answers[3]).toContain('mine');
    expect(answers[4]).toContain(`Write ${join(root, 'd.ts')} instead`);
    expect(answers[5]).toContain('is outside your worktree');
    expect(answers[6]).toContain('which is not yours');
    expect(answers[7]).toContain('git stash is refused');
    expect(checkoutBytes(family.cwd)).toEqual(before);
  });

  test('what no parser sees is held by the system; a commit still works', async ({ skip }) => {
    await workingSandbox(skip);
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['escape'], ISOLATED), { text: 'Over.' }],
        escape: [() => call('Bash', { command: hidden(family.cwd) }), { text: 'given up' }],
      },
    });
    const before = checkoutBytes(family.cwd);
    await family.run('Go.');
    const [told = ''] = lastTexts(family.requestsOf('escape').at(-1));
    expect(told).toContain('committed');
    expect(eventsOf(family.recordedOf(2), 'warning.raised')).toEqual([]);
    expect(told.match(/Read-only file system/g)).toHaveLength(5);
    expect(checkoutBytes(family.cwd)).toEqual(before);
    expect(rametBranches(family.cwd)).toHaveLength(1);
  });
});

describe('FORK-6: paths of the parent’s checkout', () => {
  test('mean the worktree in every tool, and the result says so', async () => {
    const family = await startFamily({
      files: { ...FILES, '.gitignore': '.env\n' },
      cast: {
        'Go.': [
          call('Read', { file_path: 'shared.txt' }),
          startAgents(['fork it'], { isolation: 'worktree' }),
          { text: 'Over.' },
        ],
        'fork it': ({ request }) => {
          const turn = request.messages.filter(({ role }) => role === 'assistant').length - 2;
          const at = (path: string): string => join(family.cwd, path);
          const attempts = [
            call('Edit', { file_path: at('shared.txt'), old_string: 'one', new_string: 'forked' }),
            call('Read', { file_path: at('shared.txt') }),
            call('Read', { file_path: at('.env') }),
            call('Write', { file_path: at('new/b.ts'), content: 'new\n' }),
            call('Glob', { pattern: at('new/*.ts') }),
            call('Grep', { pattern: 'new', path: at('new') }),
            call('Bash', { command: `cd ${family.cwd} && pwd && cat shared.txt .env; git status --short` }),
            call('Bash', { command: `cat > list <<EOF\n${at('shared.txt')}\nEOF` }),
          ];
          return attempts[turn] ?? { text: 'Scope: done.' };
        },
      },
    });
    writeFileSync(join(family.cwd, '.env'), 'SECRET=1\n');
    const before = checkoutBytes(family.cwd);
    await family.run('Go.');
    const root = pathOf(family, 2);
    const [first, ...answers] = family.requestsOf('fork it').map((record) => lastTexts(record));
    expect(first?.join('\n')).toContain('tools translate its paths');
    const told = answers.map(([text = '']) => text);
    for (const text of told.slice(0, -1))
      expect(text).toMatch(/^\[That is your parent's checkout\. Your worktree/);
    expect(told[1]).toContain('forked');
    expect(told[2]).toContain(`Not in your worktree: ${join(root, '.env')}.`);
    expect(told.join('\n')).not.toContain('SECRET');
    expect(told[4]).toContain('b.ts');
    expect(told[5]).toContain('b.ts');
    expect(told[6]).toContain(`\n${root}\nforked\n`);
    expect(told[7]).toMatch(/^Not run: the command names your parent's checkout/);
    expect(checkoutBytes(family.cwd)).toEqual(before);
    expect(readFileSync(join(root, 'new/b.ts'), 'utf8')).toBe('new\n');
  });

  test('in a worktree made from a worktree the paths of both are translated', async () => {
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['outer'], ISOLATED), { text: 'Over.' }],
        outer: [startAgents(['inner'], ISOLATED), { text: 'outer done' }],
        inner: [
          () => call('Write', { file_path: join(family.cwd, 'a.txt'), content: 'a' }),
          () => call('Write', { file_path: join(pathOf(family, 2), 'b.txt'), content: 'b' }),
          { text: 'inner done' },
        ],
      },
    });
    await family.run('Go.');
    const inner = pathOf(family, 3);
    expect(['a.txt', 'b.txt'].map((name) => existsSync(join(inner, name)))).toEqual([true, true]);
    expect(existsSync(join(family.cwd, 'a.txt')) || existsSync(join(pathOf(family, 2), 'b.txt'))).toBe(false);
  });
});

describe('WORK-9: what isolation cannot prevent', () => {
  test('a change of the checkout that nobody known made is in the report, on record and in the overview', async () => {
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['look', 'watch'], ISOLATED), { text: 'Over.' }],
        look: [call('Read', { file_path: 'shared.txt' }), { text: 'seen' }],
        watch: [
          call('Read', { file_path: 'shared.txt' }),
          () => {
            git(
              family.cwd,
              '-c',
              'user.name=P',
              '-c',
              'user.email=p@x',
              'commit',
              '-q',
              '--allow-empty',
              '-m',
              'mine',
            );
            return { text: 'seen too' };
          },
        ],
      },
    });
    await family.run('Go.');
    const reports = lastTexts(family.requestsOf('Go.').at(-1)).join('\n');
    const told =
      /Worktree: nothing in it, removed; WARNING: \S+ changed meanwhile; Ramet does not know who changed it: refs\/heads\/main moved from \w{10} to \w{10} \(commit: mine\)/;
    expect(reports).toMatch(told);
    const number = [2, 3].find((one) => originOf(family, one).description.includes('watch')) ?? 3;
    expect(eventsOf(family.recordedOf(number), 'worktree.released')).toMatchObject([
      {
        kept: false,
        checkoutChanges: [
          expect.stringContaining('(commit: mine)'),
          expect.stringContaining('HEAD: commit: mine'),
        ],
      },
    ]);
  });

  test('where there is no sandbox every agent in a worktree says so; required refuses to start one', async () => {
    const cast = {
      'Go.': [startAgents(['one', 'two'], ISOLATED), { text: 'Over.' }],
      one: [{ text: 'done' }],
      two: [{ text: 'done' }],
    };
    const programs = temporaryDirectory();
    writeFileSync(join(programs, 'bwrap'), '#!/bin/sh\necho "bwrap: forbidden" >&2\nexit 1\n', {
      mode: 0o755,
    });
    const unheld = (worktree: 'auto' | 'required') => ({ programs, settings: { sandbox: { worktree } } });
    const family = await startFamily({ files: FILES, cast, ...unheld('auto') });
    await family.run('Go.');
    for (const number of [2, 3])
      expect(eventsOf(family.recordedOf(number), 'warning.raised')).toMatchObject([
        { code: 'no_sandbox', message: expect.stringContaining('held by the command parser alone') },
      ]);
    const strict = await startFamily({ files: FILES, cast, ...unheld('required') });
    await strict.run('Go.');
    expect(lastTexts(strict.requestsOf('Go.').at(-1))[0]).toContain(
      'the setting sandbox.worktree requires an OS sandbox',
    );
    expect(rametBranches(strict.cwd)).toEqual([]);
  });
});

describe('WORK-2: the user’s uncommitted work', () => {
  const told = async (
    dirty: 'carry' | 'exclude' | 'refuse',
  ): Promise<{ text: string; family: FamilySession }> => {
    const family = await startFamily({
      files: FILES,
      settings: { worktree: { dirty } },
      cast: {
        'Go.': [startAgents(['look'], ISOLATED), { text: 'Over.' }],
        look: [call('Bash', { command: 'cat shared.txt; cat draft.txt' }), { text: 'ok' }],
      },
    });
    writeFiles(family.cwd, { 'shared.txt': 'dirty\n', 'draft.txt': 'draft\n' });
    await family.run('Go.');
    const asked = dirty === 'refuse' ? family.requestsOf('Go.').at(-1) : family.requestsOf('look').at(-1);
    return { text: JSON.stringify(asked?.request?.messages), family };
  };

  test('is left out by default, and the agent learns of each file', async () => {
    const { text } = await told('exclude');
    expect(text).toContain('2 uncommitted files of the user were not copied');
    expect(text).toContain('?? draft.txt');
    expect(text).toContain('one\\ncat: draft.txt');
  });

  test('is carried when that is wanted', async () => {
    const { text } = await told('carry');
    expect(text).toContain('2 uncommitted files of the user were copied here');
    expect(text).toContain('dirty\\ndraft');
  });

  test('is a reason to refuse when that is wanted', async () => {
    const { text } = await told('refuse');
    expect(text).toContain('has 2 uncommitted files');
  });
});

describe('WORK-8: a resumed agent', () => {
  test('gets a worktree that had vanished back, at the same path and base', async () => {
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['look'], { ...ISOLATED, name: 'looker' }), { text: 'Over.' }],
        'Again.': [
          call('SendMessage', { to: 'looker', message: 'write it' }),
          { text: 'Sent.' },
          { text: 'Heard.' },
        ],
        look: [
          { text: 'seen' },
          call('Write', { file_path: 'new.txt', content: 'late\n' }),
          { text: 'written' },
        ],
      },
    });
    await family.run('Go.');
    const { path, base } = originOf(family, 2).worktree ?? { path: '', base: '' };
    const again = await family.reopen();
    expect(existsSync(path)).toBe(false);
    await again.run('Again.');
    expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('late\n');
    expect(git(path, 'rev-parse', 'HEAD')).toBe(base);
    expect(eventsOf(again.recordedOf(2), 'worktree.created').at(-1)).toMatchObject({
      path,
      base,
      how: 'restored',
    });
  });

  test('finds what its last checkpoint holds when its directory was deleted, and is told', async () => {
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['write'], { ...ISOLATED, name: 'writer' }), { text: 'Over.' }],
        'Again.': [
          call('SendMessage', { to: 'writer', message: 'go on' }),
          { text: 'Sent.' },
          { text: 'Heard.' },
        ],
        write: [
          call('Write', { file_path: 'new.txt', content: 'kept\n' }),
          { text: 'written' },
          call('Bash', { command: 'git status --short' }),
          { text: 'there' },
        ],
      },
    });
    await family.run('Go.');
    const path = pathOf(family, 2);
    const again = await family.reopen();
    rmSync(path, { recursive: true });
    await again.run('Again.');
    expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('kept\n');
    const said = JSON.stringify(again.requestsOf('write').at(-1)?.request?.messages);
    expect(said).toContain('was deleted while you were not working');
    expect(said).toContain('?? new.txt');
  });
});

describe('WORK-8: an agent whose directory and branch were deleted', () => {
  const commit = 'git add -A && git -c user.name=a -c user.email=a@b.c commit -qm mine';

  test.each([true, false])('finds what its last checkpoint led to, its commits too: %s', async (isLoose) => {
    const command = isLoose ? `${commit} && echo loose > loose.txt` : commit;
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [startAgents(['write'], { ...ISOLATED, name: 'writer' }), { text: 'Over.' }],
        'Again.': [
          call('SendMessage', { to: 'writer', message: 'go on' }),
          { text: 'Sent.' },
          { text: 'Heard.' },
        ],
        write: [
          call('Write', { file_path: 'new.txt', content: 'kept\n' }),
          call('Bash', { command }),
          { text: 'written' },
          { text: 'there' },
        ],
      },
    });
    await family.run('Go.');
    const path = pathOf(family, 2);
    const [branch, tip] = ['--abbrev-ref', '--verify'].map((how) => git(path, 'rev-parse', how, 'HEAD'));
    const again = await family.reopen();
    git(family.cwd, 'worktree', 'remove', '--force', '--force', path);
    git(family.cwd, 'branch', '-D', String(branch));
    await again.run('Again.');
    const said = JSON.stringify(again.requestsOf('write').at(-1)?.request?.messages);
    expect(git(path, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe(branch);
    expect(git(path, 'rev-parse', 'HEAD') === tip).toBe(isLoose);
    expect(existsSync(join(path, 'loose.txt'))).toBe(isLoose);
    expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('kept\n');
    expect(said).toContain('Its branch was deleted too, and it was made again from your last checkpoint');
  });
});

describe('WORK-2: EnterWorktree and ExitWorktree', () => {
  test('take the main agent there and back, also over a restart; work stays', async () => {
    const family = await startFamily({
      files: FILES,
      cast: {
        'Go.': [
          call('EnterWorktree', { name: 'try it' }),
          call('Write', { file_path: 'new.txt', content: 'mine\n' }),
          { text: 'Written.' },
        ],
        'On.': [
          call('Bash', { command: 'pwd; ls new.txt' }),
          call('ExitWorktree', {}),
          call('Bash', { command: 'pwd' }),
          { text: 'Back.' },
        ],
      },
    });
    await family.run('Go.');
    const path = family.session.agent.cwd;
    expect(path).not.toBe(family.cwd);
    expect(existsSync(join(family.cwd, 'new.txt'))).toBe(false);
    const again = await family.reopen();
    await again.run('On.');
    const answers = again
      .requestsOf('On.')
      .slice(1)
      .map((record) => lastTexts(record)[0]);
    expect(answers[0]).toBe(`${path}\nnew.txt`);
    expect(answers[1]).toContain('stays, on branch ramet/try-it');
    expect(answers[2]).toBe(family.cwd);
    expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('mine\n');
  });

  test('a worktree that holds nothing is gone after it was left', async () => {
    const family = await startFamily({
      files: FILES,
      cast: { 'Go.': [call('EnterWorktree', {}), call('ExitWorktree', {}), { text: 'Back.' }] },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('Go.').at(-1))[0]).toContain('had no changes and was removed');
    expect(family.session.agent.cwd).toBe(family.cwd);
  });
});

describe('WORK-2: a session in a worktree', () => {
  test('says to the user at once what its worktree lacks', async () => {
    const asks = { 'package.json': '{"dependencies": {"a": "1"}}', 'package-lock.json': '{}' };
    const family = await startFamily({ files: { ...FILES, ...asks }, worktree: true, cast: {} });
    expect(family.session.notices).toEqual([expect.stringContaining(`run \`npm ci\` in ${family.cwd}`)]);
  });

  test('works there from its first request on, and leaves the checkout alone', async () => {
    const family = await startFamily({
      files: FILES,
      worktree: 'feature',
      cast: { 'Go.': [call('Write', { file_path: 'new.txt', content: 'x\n' }), { text: 'Done.' }] },
    });
    writeFileSync(join(family.cwd, 'person.txt'), 'mine');
    const before = checkoutBytes(family.cwd);
    await family.run('Go.');
    const { cwd } = family.session.agent;
    expect(JSON.stringify(family.requestsOf('Go.')[0]?.request?.messages)).toContain(
      `Working directory: ${cwd}`,
    );
    expect(existsSync(join(cwd, 'new.txt'))).toBe(true);
    await family.session[Symbol.asyncDispose]();
    expect(checkoutBytes(family.cwd)).toEqual(before);
  });
});
