import { chmodSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { eventually } from '../fixtures/command.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const SCRIPT = 'scripts/h.sh';
const done = { text: 'done' };
const call = (name: string, input: Record<string, unknown>): Answer => ({ tool_use: [{ name, input }] });
const bash = (command: string): Answer => call('Bash', { command });

const read = call('Read', { file_path: SCRIPT });
/** A file that is there is read first. */
const write = (user: User): Answer[] => [read, call('Write', { file_path: SCRIPT, content: evil(user) })];

const evil = (user: User): string => `touch ${join(user.root, 'escaped')}`;
const hasEscaped = (user: User): boolean => existsSync(join(user.root, 'escaped'));
/** How often the trusted script ran. */
const runs = (user: User): number =>
  existsSync(join(user.root, 'log'))
    ? readFileSync(join(user.root, 'log'), 'utf8').split('\n').length - 1
    : 0;

/** A repository with a hook that names a script, committed and trusted. */
async function trusted(user: User, event = 'PreToolUse', command = `sh ${SCRIPT}`): Promise<void> {
  writeFiles(user.repository, {
    '.claude/settings.json': JSON.stringify({
      hooks: { [event]: [{ hooks: [{ type: 'command', command }] }] },
    }),
    [SCRIPT]: `echo ran >> ${join(user.root, 'log')}\n`,
  });
  git(user.repository, 'add', '-A');
  git(user.repository, 'commit', '-qm', 'hooks');
  await user.ramet(['trust']);
}

const acceptEdits = ['-p', 'GO', '--permission-mode', 'acceptEdits'];
const NOT_TRUSTED = `${SCRIPT} is not what you trusted`;

describe.concurrent('SEC-1: an agent that writes the script of a hook', () => {
  test.for([
    ['Write', write],
    [
      'Edit',
      (user: User) => [
        read,
        call('Edit', { file_path: SCRIPT, old_string: 'echo ran', new_string: `${evil(user)}; :` }),
      ],
    ],
    ['a redirection', (user: User) => [bash(`echo '${evil(user)}' > ${SCRIPT}`)]],
  ] as const)('with %s has the next call go to a person', async ([, changes], { user }) => {
    await trusted(user);
    const turns = [...changes(user), bash('echo second'), bash('echo third')];
    const emulator = await user.model(...turns, done);
    const end = await user.here(acceptEdits);
    expect(hasEscaped(user)).toBe(false);
    const results = toolResults(emulator);
    expect(results.map(({ isError }) => isError)).toEqual(turns.map((_, n) => n >= turns.length - 2));
    expect(results.at(-1)?.text).toContain(`a hook that checks this call did not run: ${NOT_TRUSTED}`);
    expect(end.stderr.split(`failed: ${NOT_TRUSTED}`)).toHaveLength(2);
    expect(runs(user)).toBe(turns.length - 2);
  });

  test.for([
    ['in a worktree', ['--permission-mode', 'acceptEdits'], { isolation: 'worktree' }],
    ['in a process', ['--permission-mode', 'acceptEdits', '--executor', 'process'], {}],
    [
      'in a process and a worktree',
      ['--permission-mode', 'acceptEdits', '--executor', 'process'],
      { isolation: 'worktree' },
    ],
  ] as const)('from another agent %s runs nothing of it', async ([, flags, input], { user }) => {
    await trusted(user);
    let turn = 0;
    const child = [...write(user), bash('echo second'), done];
    await user.emulate({
      respond: ({ request }) => {
        const isChild = JSON.stringify(request?.messages).includes('CHILD');
        if (isChild && !JSON.stringify(request?.messages[0]).includes('GO')) return child[turn++];
        return isChild
          ? done
          : call('Agent', { description: 'd', prompt: 'CHILD', subagent_type: 'general-purpose', ...input });
      },
    });
    await user.here(['-p', 'GO', ...flags]);
    expect(turn).toBe(4);
    expect(hasEscaped(user)).toBe(false);
    // For the call of the agent, and for its first two.
    expect(runs(user)).toBe(3);
  });

  test('in the worktree of its session runs nothing of it', async ({ user }) => {
    await trusted(user);
    await user.model(...write(user), bash('echo second'), done);
    await user.here([...acceptEdits, '--worktree', 'w']);
    expect([hasEscaped(user), runs(user)]).toEqual([false, 2]);
  });
});

/** The same repository with a filter of git instead of the hook. */
async function filtered(user: User): Promise<void> {
  writeFiles(user.repository, {
    [SCRIPT]: 'cat\n',
    '.gitattributes': '*.txt filter=odd\n',
    'a.txt': 'one\n',
  });
  git(user.repository, 'add', '-A');
  git(user.repository, 'commit', '-qm', 'filter');
  git(user.repository, 'config', 'filter.odd.clean', `sh ${SCRIPT}`);
  git(user.repository, 'config', 'filter.odd.smudge', `sh ${SCRIPT}`);
  await user.ramet(['trust']);
}

describe.concurrent('SEC-1: an agent that writes the script of a filter of git', () => {
  const work = (user: User): Answer[] => [
    ...write(user),
    call('Write', { file_path: 'new.txt', content: 'two\n' }),
    bash('git status --short; git diff'),
    done,
  ];

  test.for([
    ['in the checkout', []],
    ['in the worktree of its session', ['--worktree', 'w']],
    ['in a process', ['--executor', 'process']],
  ] as const)('%s has no git of Ramet run it', async ([, flags], { user }) => {
    await filtered(user);
    const emulator = await user.model(...work(user));
    const end = await user.here([...acceptEdits, ...flags]);
    expect(end.code).toBe(0);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([false, false, false, false]);
    expect(hasEscaped(user)).toBe(false);
  });

  test('in a worktree of its own keeps the worktree, and the line names the script', async ({ user }) => {
    await filtered(user);
    let turn = 0;
    const child = work(user);
    const emulator = await user.emulate({
      respond: ({ request }) => {
        const isChild = JSON.stringify(request?.messages).includes('CHILD');
        if (isChild && !JSON.stringify(request?.messages[0]).includes('GO')) return child[turn++];
        const input = { description: 'd', prompt: 'CHILD', subagent_type: 'general-purpose' };
        return isChild ? done : call('Agent', { ...input, isolation: 'worktree' });
      },
    });
    await user.here(acceptEdits);
    expect(turn).toBe(5);
    expect(hasEscaped(user)).toBe(false);
    expect(toolResults(emulator).at(-1)?.text).toContain(NOT_TRUSTED);
    expect((await user.here(['worktree', 'ls'])).stdout).toMatch(/kept|ramet\//);
    expect(hasEscaped(user)).toBe(false);
  });
});

describe.concurrent('SEC-1: an agent that takes the script of a hook away', () => {
  const js = 'scripts/guard.cjs';

  async function guarded(user: User, command: string): Promise<void> {
    writeFiles(user.repository, { [js]: '', 'scripts/guard': '#!/bin/sh\n' });
    chmodSync(join(user.repository, 'scripts/guard'), 0o755);
    await trusted(user, 'PreToolUse', command);
  }

  test.for([
    [`node ${js}`, `mv ${js} ../moved`],
    [`node ${js}`, 'rm -r scripts'],
    [`node "$CLAUDE_PROJECT_DIR"/${js}`, `git rm -q ${js}`],
    ['./scripts/guard', 'chmod -x scripts/guard'],
    ['PATH="$PWD/scripts:$PATH" guard', 'chmod -x scripts/guard'],
  ] as const)('%s, with %s: has its calls go to a person', async ([command, change], { user }) => {
    await guarded(user, command);
    const emulator = await user.model(bash(change), bash('touch ../escaped'), bash('touch ../escaped'), done);
    const end = await user.here(['-p', 'GO', '--permission-mode', 'bypassPermissions']);
    const results = toolResults(emulator);
    expect(results.map(({ isError }) => isError)).toEqual([false, true, true]);
    expect(results[1]?.text).toContain('a hook that checks this call did not run: ');
    expect(end.stderr.split('hook "')).toHaveLength(2);
    expect(hasEscaped(user)).toBe(false);
  });

  test('has them go there in the next session, too', async ({ user }) => {
    await guarded(user, `node ${js}`);
    rmSync(join(user.repository, js));
    const emulator = await user.model(bash('touch ../escaped'), done);
    await user.here(['-p', 'GO', '--permission-mode', 'bypassPermissions']);
    expect(toolResults(emulator)[0]?.text).toContain(
      `a hook that checks this call did not run: ${js} is gone`,
    );
    expect(hasEscaped(user)).toBe(false);
  });

  test('has them go there where the hook can still start, and fails or finds nothing', async ({ user }) => {
    const scripts = { guard: 'sh h/guard.sh' };
    writeFiles(user.repository, { 'package.json': JSON.stringify({ scripts }), 'h/guard.sh': 'exit 0\n' });
    for (const [command, path] of [
      ['npm run -s guard', 'package.json'],
      ['for f in h/*.sh; do sh "$f" || exit $?; done', 'h/guard.sh'],
    ] as const) {
      await guarded(user, command);
      const emulator = await user.model(bash(`mv ${path} ../moved`), bash('touch ../escaped'), done);
      await user.here(['-p', 'GO', '--permission-mode', 'bypassPermissions']);
      expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([false, true]);
      const later = await user.model(bash('touch ../escaped'), done);
      await user.here(['-p', 'GO', '--permission-mode', 'bypassPermissions']);
      expect(toolResults(later)[0]?.text).toContain(
        `a hook that checks this call did not run: ${path} is gone`,
      );
      expect(hasEscaped(user)).toBe(false);
      renameSync(join(user.root, 'moved'), join(user.repository, path));
    }
  });

  test("has them go there for a user's own script, also after a kill", async ({ user }) => {
    const [read, own] = [call('Read', { file_path: 'README.md' }), join(user.root, 'home/guard.sh')];
    const hook = (matcher: string, command: string) => ({ matcher, hooks: [{ type: 'command', command }] });
    const hooks = {
      PreToolUse: [hook('Read', `sh ${own}`)],
      PermissionRequest: [hook('', `[ ! -e ${own} ] || sh ${own}`)],
    };
    writeFiles(user.root, {
      'home/guard.sh': 'exit 0\n',
      'home/.claude/settings.json': JSON.stringify({ hooks }),
    });
    let asked = 0;
    await user.emulate({
      respond: () => (asked++ === 0 ? bash(`rm ${own}`) : done),
      fault: () => (asked > 0 ? { kind: 'stall', at: 'headers' } : undefined),
    });
    const running = user.start(['-p', 'GO', '--permission-mode', 'bypassPermissions']);
    await eventually(() => !existsSync(own));
    running.kill('SIGKILL');
    await running.ended;
    let turn = 0;
    const emulator = await user.emulate({ respond: () => (turn++ === 0 ? read : done) });
    await user.here(['-p', '-c', 'GO', '--permission-mode', 'bypassPermissions']);
    const refused = toolResults(emulator).filter(({ text }) => text.includes('hook that checks this call'));
    expect(refused).toMatchObject([
      { isError: true, text: expect.stringContaining('guard.sh was there when') },
    ]);
  });

  test("has them go there for a script in the user's own folder", async ({ user }) => {
    const own = 'home/hooks/guard.cjs';
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'node ~/hooks/guard.cjs' }] }] };
    writeFiles(user.root, { [own]: '', 'home/.claude/settings.json': JSON.stringify({ hooks }) });
    const emulator = await user.model(bash(`rm ${join(user.root, own)}`), bash('touch ../escaped'), done);
    await user.here(['-p', 'GO', '--permission-mode', 'bypassPermissions']);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([false, true]);
    let turn = 0;
    const fork = await user.emulate({ respond: () => (turn++ === 0 ? bash('touch ../escaped') : done) });
    await user.here(['-p', '-c', '--fork-session', 'GO', '--permission-mode', 'bypassPermissions']);
    expect(toolResults(fork).at(-1)).toMatchObject({
      isError: true,
      text: expect.stringContaining('guard.cjs was there when the session began'),
    });
    expect(hasEscaped(user)).toBe(false);
  });
});

describe.concurrent('SEC-1: an agent that takes the hooks out of the settings', () => {
  const settings = '.claude/settings.json';
  const bypass = ['--permission-mode', 'bypassPermissions'];
  const other = JSON.stringify({ hooks: { PreToolUse: [] } });

  test.for([
    [`rm ${settings}`, 'its hooks are gone'],
    [`echo '{}' > ${settings}`, 'its hooks are gone'],
    [`echo '${other}' > ${settings}`, 'is not what you trusted and does not run'],
  ] as const)('with %s: has the calls that they check go to a person', async ([change, line], { user }) => {
    await trusted(user);
    await user.model(bash(change), done);
    await user.here(['-p', 'GO', ...bypass]);
    for (const again of [['-c'], []]) {
      let turn = 0;
      const emulator = await user.emulate({
        respond: () => (turn++ === 0 ? bash('touch ../escaped') : done),
      });
      const end = await user.here(['-p', ...again, 'GO', ...bypass]);
      expect(end.stderr.split(line)).toHaveLength(2);
      expect(toolResults(emulator).at(-1)).toMatchObject({
        isError: true,
        text: expect.stringContaining('a hook that checks this call did not run: '),
      });
      expect(hasEscaped(user)).toBe(false);
    }
    await user.ramet(['trust']);
    const emulator = await user.model(bash('echo fine'), done);
    expect((await user.here(['-p', 'GO', ...bypass])).stderr).toBe('');
    expect(toolResults(emulator)).toMatchObject([{ isError: false }]);
  });

  test('has no other calls go there, and those no more that are trusted meanwhile', async ({ user }) => {
    await trusted(user, 'Stop');
    rmSync(join(user.repository, settings));
    const first = await user.model(bash('echo one'), done);
    expect((await user.here(['-p', 'GO', ...bypass])).stderr).toContain('its hooks are gone');
    expect(toolResults(first)).toMatchObject([{ isError: false }]);
    await trusted(user);
    rmSync(join(user.repository, settings));
    const emulator = await user.emulate({
      respond: async ({ turn }) => {
        if (turn === 1) await user.ramet(['trust']);
        return turn < 2 ? bash(`echo ${turn}`) : done;
      },
    });
    await user.here(['-p', 'GO', ...bypass]);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([true, false]);
  });
});

describe.concurrent('SEC-1: the script of a hook', () => {
  test('that another process changes meanwhile does not run, and is named once', async ({ user }) => {
    await trusted(user, 'PostToolUse');
    const emulator = await user.emulate({
      respond: ({ turn }) => {
        if (turn === 1) writeFiles(user.repository, { [SCRIPT]: evil(user) });
        return turn < 4 ? bash(`echo turn-${turn}`) : done;
      },
    });
    const end = await user.here(['-p', 'GO']);
    expect(end.code).toBe(0);
    expect([hasEscaped(user), runs(user)]).toEqual([false, 1]);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([false, false, false, false]);
    expect(end.stderr.split(NOT_TRUSTED)).toHaveLength(2);
  });

  test('counts as it was at the start where a caller trusts the folder for once', async ({ user }) => {
    await trusted(user);
    await user.here(['trust', '--revoke']);
    await user.model(...write(user), bash('echo second'), done);
    await user.here([...acceptEdits, '--trust']);
    expect([hasEscaped(user), runs(user)]).toEqual([false, 2]);
  });

  test('is the one of the root, and no other in a subfolder', async ({ user }) => {
    await trusted(user, 'Stop');
    writeFiles(user.repository, { [`pk/${SCRIPT}`]: evil(user), 'other/x': '' });
    await user.emulate({ respond: () => done });
    const end = await user.ramet(['-p', 'GO'], { cwd: join(user.repository, 'pk') });
    expect(hasEscaped(user)).toBe(false);
    expect(end.stderr).toContain(`pk/${SCRIPT} is not what you trusted`);
    await trusted(user, 'Stop', `sh "$CLAUDE_PROJECT_DIR"/${SCRIPT}`);
    await user.ramet(['-p', 'GO'], { cwd: join(user.repository, 'pk') });
    expect([hasEscaped(user), runs(user)]).toEqual([false, 1]);
  });

  test('that it puts together from a folder has no part that an agent added', async ({ user }) => {
    const copy = join(user.root, 'copy.sh');
    await trusted(user, 'Stop', `cat scripts/* > ${copy}; sh ${copy}`);
    await user.model({ text: 'nothing' });
    await user.here(['-p', 'GO']);
    expect(runs(user)).toBe(1);
    await user.model(call('Write', { file_path: 'scripts/a.sh', content: evil(user) }), done);
    const end = await user.here(acceptEdits);
    expect([hasEscaped(user), runs(user)]).toEqual([false, 1]);
    expect(end.stderr).toContain('scripts/a.sh is not what you trusted');
  });

  test("of the user's own hooks runs as it is", async ({ user }) => {
    await trusted(user);
    const settings = readFileSync(join(user.repository, '.claude/settings.json'), 'utf8');
    rmSync(join(user.repository, '.claude'), { recursive: true });
    writeFiles(user.root, { 'home/.claude/settings.json': settings });
    await user.model(bash('echo one'), bash(`echo >> ${SCRIPT}`), bash('echo two'), done);
    await user.here(acceptEdits);
    expect(runs(user)).toBe(3);
  });
});
