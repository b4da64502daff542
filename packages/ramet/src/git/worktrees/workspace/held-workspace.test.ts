import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { workingSandbox } from '../../../../test/fixtures/sandbox.ts';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../../test/fixtures/temporary.ts';
import { git, gitVariables } from '../../../../test/fixtures/worktrees.ts';
import { indexPath } from '../../../journal/session-index.ts';
import {
  type IsolatedEnd,
  isolatedStart,
  proveBounds,
  runIsolated,
} from '../../../sandbox/isolated-shell.ts';
import { fenceRefusal } from '../../../sandbox/write-fence.ts';
import { projectDirectory } from '../../../system/home.ts';
import { installShim } from '../../shared-git/shim-script.ts';
import { worktreeWorkspaces } from './worktree-workspaces.ts';

/** Worktrees of agents, in a home of their own. */
function opened(cwd: string, settings: Parameters<typeof worktreeWorkspaces>[0]['settings'] = {}) {
  const home = join(temporaryDirectory(), 'home');
  const workspaces = worktreeWorkspaces({ home, cwd, env: gitVariables(), settings, now: Date.now });
  onTestFinished(() => workspaces[Symbol.asyncDispose]());
  return { home, workspaces };
}

async function created(cwd: string) {
  const { home, workspaces } = opened(cwd);
  const owner = { session: 's', agent: 's.2' };
  return { ...(await workspaces.create({ name: 'work', owner, cwd })), home, workspaces };
}

test('WORK-3: a worktree that is given back keeps its work, and no lock of a git that was killed there', async () => {
  const cwd = temporaryRepository({ a: '1\n' });
  const { worktree, release } = await created(cwd);
  writeFileSync(join(worktree.path, 'new.txt'), 'new\n');
  const lock = git(worktree.path, 'rev-parse', '--path-format=absolute', '--git-path', 'index.lock').trim();
  writeFileSync(lock, 'half');
  expect(await release()).toMatchObject({ kept: true });
  expect(existsSync(lock)).toBe(false);
  expect(existsSync(join(worktree.path, 'new.txt'))).toBe(true);
});

test('WORK-3: one that is given back again, by who made it and by who cleans up, is judged once', async () => {
  const { worktree, release, workspaces } = await created(temporaryRepository({ a: '1\n' }));
  // A second look would run git there while the first judges, and count as a process at work: it would be kept.
  const ends = await Promise.all([release(), release()]);
  expect([...ends, await release()]).toEqual(Array(3).fill({ kept: false, reasons: [] }));
  await workspaces.settled(worktree.id);
  expect(existsSync(worktree.path)).toBe(false);
});

test('LOG-1: one that cannot be given back because the disk is full is kept with the reason', async () => {
  const cwd = temporaryRepository({ a: '1\n' });
  const { release, home } = await created(cwd);
  using index = new DatabaseSync(
    indexPath(projectDirectory(home, { root: cwd, commonDirectory: join(cwd, '.git') })),
  );
  index.exec(`CREATE TRIGGER full BEFORE INSERT ON worktrees BEGIN SELECT RAISE(ABORT, 'disk is full'); END`);
  expect(await release()).toEqual({
    kept: true,
    reasons: [expect.stringMatching(/^it could not be given back: .*disk is full/)],
  });
  index.exec('DROP TRIGGER full');
});

test('SEC-1: a set-up command that may not run is told to the user and to the agent, with the file', async () => {
  const cwd = temporaryRepository({ a: '1\n' });
  const settings = { setup: 'touch made', whyNoSetup: () => 'setup.sh is not what you trusted' };
  const { workspaces } = opened(cwd, settings);
  const create = (name: string) =>
    workspaces.create({ name, owner: { session: 's', agent: `s.${name}` }, cwd });
  const first = await create('one');
  expect(first.warnings).toEqual([
    'worktree.setup did not run in a new worktree: setup.sh is not what you trusted',
  ]);
  expect(first.notice.whole).toContain(
    'did not run: setup.sh is not what you trusted. Say so in your report.',
  );
  expect(existsSync(join(first.worktree.path, 'made'))).toBe(false);
  // Once is enough for the user.
  expect((await create('two')).warnings).toEqual([]);
});

test('WORK-7: an agent commits, merges, rebases and fetches in the sandbox, and reaches no pack of others', async ({
  skip,
}) => {
  const { program } = await workingSandbox(skip);
  const cwd = temporaryRepository({ a: '1\n' });
  git(cwd, 'repack', '-adq');
  const { worktree, bounds, env: own } = await created(cwd);
  // More than what git unpacks by itself.
  const other = temporaryRepository(
    Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f${index}`, `${index}\n`])),
  );
  const env = { ...gitVariables(), ...own };
  const run = (command: string): Promise<IsolatedEnd> =>
    runIsolated(program, isolatedStart(bounds, worktree.path, command), { env });
  expect(await proveBounds(program, bounds, worktree.path, env)).toBe('held');
  const work = [
    ...['set -e; echo b > b; git add b; git commit -qm b; git switch -qc ramet/other HEAD~1', 'echo c > c'],
    ...[`git add c; git commit -qm c; git merge -q --no-edit ${worktree.branch}; git cherry-pick -n HEAD^1`],
    ...['git reset -q --hard; git switch -q -; git rebase -q ramet/other', `git fetch -q ${other} HEAD`],
    'git cat-file -e FETCH_HEAD:f149',
  ];
  expect(await run(work.join('\n'))).toMatchObject({ status: 0 });
  const objects = join(cwd, '.git/objects');
  const before = readdirSync(join(objects, 'pack'));
  const attacks = ['rm -f pack/*', 'mv pack p', 'chmod 0 pack', 'chmod 0 info', 'echo / > info/alternates'];
  for (const attack of [...attacks, ': > pack/multi-pack-index'])
    expect((await run(`cd ${objects}; ${attack}`)).status, attack).not.toBe(0);
  expect(readdirSync(join(objects, 'pack'))).toEqual(before);
  expect((await run(`chmod 0 ${objects}`)).status).toBe(0);
  expect((await run('git log -1')).status).toBe(0);
  expect(statSync(objects).mode & 0o700).toBe(0o700);
  expect((await run('git repack -adq')).stderr).toContain('Read-only file system');
});

test('WORK-7: a pick of another author is over when it is over, in the sandbox too', async ({ skip }) => {
  const { program } = await workingSandbox(skip);
  const cwd = temporaryRepository({ a: '1\n' });
  git(cwd, 'switch', '--quiet', '-c', 'theirs');
  writeFiles(cwd, { b: '2\n' });
  git(cwd, 'add', 'b');
  git(cwd, 'commit', '--quiet', '--message=b', '--author=Stranger <s@example.com>');
  git(cwd, 'switch', '--quiet', '-');
  const { worktree, bounds, env: own, home } = await created(cwd);
  const variables = gitVariables();
  const env = { ...variables, ...own, PATH: `${installShim(home)}:${variables.PATH}` };
  const work =
    'git cherry-pick theirs && echo c > c && git add c && git commit -qm mine && git switch -qc ramet/x';
  const { status, stderr } = await runIsolated(program, isolatedStart(bounds, worktree.path, work), { env });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(git(cwd, 'log', '-2', '--format=%an', 'ramet/x').split('\n')).toEqual([
    ...[git(cwd, 'log', '-1', '--format=%an', 'HEAD'), 'Stranger'],
  ]);
});

test('WORK-7: in a partial clone, where git fetches objects into packs as it needs them, packs stay open', async () => {
  const cwd = temporaryRepository({ a: '1\n' });
  mkdirSync(join(cwd, '.git/objects/pack'), { recursive: true });
  writeFiles(cwd, { '.git/objects/pack/pack-1.promisor': '' });
  const { bounds } = await created(cwd);
  expect(bounds.closed).toEqual([join(cwd, '.git/objects/info')]);
});

test('WORK-7: what its session keeps is not for an agent to write, in the sandbox or by the fence', async ({
  skip,
}) => {
  const { program } = await workingSandbox(skip);
  const cwd = temporaryRepository({ a: '1\n' });
  const env = gitVariables();
  const { worktree, bounds, fence, home } = await created(cwd);
  const project = projectDirectory(home, { root: cwd, commonDirectory: join(cwd, '.git') });
  const session = join(project, 's');
  for (const name of ['operator/requests', 'originals', 'stop', 'scratchpad'])
    mkdirSync(join(session, name), { recursive: true });
  const run = async (command: string): Promise<number | null> =>
    (await runIsolated(program, isolatedStart(bounds, worktree.path, command), { env })).status;
  expect(await proveBounds(program, bounds, worktree.path, env)).toBe('held');
  for (const name of ['operator/requests/1.request', 'originals/x', 'stop/2', 'bash-1.txt']) {
    expect(await run(`echo x > ${join(session, name)}`), name).not.toBe(0);
    expect(fenceRefusal(fence, join(session, name), { byCommand: true }), name).toContain(
      'outside your worktree',
    );
  }
  expect(await run(`rm -r ${join(session, 'operator')}`)).not.toBe(0);
  expect(await run(`echo note > ${join(session, 'scratchpad/notes.md')}; echo x > in-worktree`)).toBe(0);
  expect(fenceRefusal(fence, join(session, 'scratchpad/notes.md'))).toBeNull();
});

test('WORK-7: nothing outside the worktree is written through /proc, also by a root user', async ({
  skip,
}) => {
  const { program } = await workingSandbox(skip);
  const cwd = temporaryRepository({ a: '1\n' });
  const env = gitVariables();
  const { worktree, bounds } = await created(cwd);
  const run = (command: string): Promise<IsolatedEnd> =>
    runIsolated(program, isolatedStart(bounds, worktree.path, command), { env });
  // Another agent's command, which runs meanwhile, has a fence of its own: nobody else gets through it.
  const other = run('echo $$ > other-pid; while [ ! -e over ]; do sleep 0.05; done');
  const attack = `for p in $(ls /proc | grep -E '^[0-9]+$'); do
    grep -qs 'over ]; do' /proc/$p/cmdline && echo seen >&2
    (: > /proc/$p/root${cwd}/evil) 2>/dev/null && echo "checkout through $p"
    [ $p = $$ ] || [ $p = $BASHPID ] || { (: > /proc/$p/root${worktree.path}/evil) 2>/dev/null && echo "worktree through $p"; }
  done; [ -w /proc/sys/kernel/core_pattern ] && echo 'kernel setting'
  ls /dev | grep -E '^(sd|vd|nvme|loop[0-9]|mem)' | while read -r d; do [ -w /dev/$d ] && echo "device $d"; done; touch over`;
  const { stdout, stderr } = await run(attack);
  await other;
  expect({ stdout, seen: stderr.includes('seen') }).toEqual({ stdout: '', seen: true });
  expect(existsSync(join(cwd, 'evil'))).toBe(false);
  if (process.geteuid?.() !== 0) return;
  // Files keep their owners, and a root user may still give them away.
  expect((await run('touch x; chown 1000:1000 x; stat -c %u:%g x /')).stdout).toBe('1000:1000\n0:0\n');
});
