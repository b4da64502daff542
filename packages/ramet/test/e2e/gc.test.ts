import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSync } from '../fixtures/run-sync.ts';
import { test } from '../fixtures/user.ts';

describe.concurrent('ramet gc', () => {
  test('lists by age, removes what is old once it is told to, and never without', async ({ user }) => {
    await user.model({ text: 'ok' });
    await user.ramet(['-p', 'one']);
    const [session = ''] = user.sessions();
    const listed = await user.here(['gc', '--older-than', '0', '--dry-run']);
    expect(listed).toMatchObject({
      code: 0,
      stderr: 'ramet: nothing was removed; without --dry-run it is\n',
    });
    expect(listed.stdout).toMatch(new RegExp(`remove +session .* ${session}`));
    expect(await user.here(['gc', '--older-than', '0'])).toMatchObject({
      code: 1,
      stderr: 'ramet: nothing was removed: there is no terminal to ask on; use --yes to remove it\n',
    });
    expect(user.sessions()).toEqual([session]);
    expect((await user.here(['gc'])).stdout).toMatch(/^1 item used in the last 30 days stays/);
    const removed = await user.here(['gc', '--older-than', '0', '--yes']);
    expect(removed.code).toBe(0);
    expect(removed.stderr).toMatch(/^ramet: removed 1 of 1, \d+ kB in all\n$/);
    expect(user.sessions()).toEqual([]);
  });

  test('lists and removes on a disk that takes no more (LOG-1)', async ({ user }) => {
    const full = `trap '' XFSZ; ulimit -f 0; exec "$@"`;
    await user.model({ text: 'ok' });
    await user.here(['-p', 'one', '--worktree', 'side']);
    await user.here(['-p', 'two']);
    const listed = await user.ramet(['gc', '--older-than', '0', '--dry-run', '--json'], { shell: full });
    expect(listed).toMatchObject({
      code: 0,
      stderr: 'ramet: nothing was removed; without --dry-run it is\n',
    });
    const kinds = JSON.parse(listed.stdout).map(({ kind }: { kind: string }) => kind);
    expect(kinds.toSorted()).toEqual(['session', 'session', 'worktree']);
    const removed = await user.ramet(['gc', '--older-than', '0', '--yes'], { shell: full });
    expect(user.sessions()).toEqual([]);
    expect(removed.stderr).toMatch(
      /^ramet: worktree \S+ stays: it could not be judged: the system refused the write \(disk, quota or file size limit\); check space and limits\nramet: removed 2 of 3, \d+ kB in all\n$/,
    );
  });

  test('keeps work that is on no branch, and removes logs and refs that nobody needs', async ({ user }) => {
    const git = (...args: string[]): string => runSync('git', args, { cwd: user.repository }).trim();
    await user.model({ text: 'ok' });
    await user.here(['-p', 'one']);
    const tree = git('rev-parse', 'HEAD^{tree}');
    const identity = ['-c', 'user.name=x', '-c', 'user.email=x@localhost'];
    const alone = git(...identity, 'commit-tree', tree, '-p', 'HEAD', '-m', 'work');
    git('update-ref', 'refs/ramet/wip/alone', alone);
    git('update-ref', 'refs/ramet/wip/merged', 'HEAD');
    const logs = join(user.project, 'merge', 'main');
    mkdirSync(logs, { recursive: true });
    writeFileSync(join(logs, 'check-0123456789ab.log'), 'old');
    utimesSync(join(logs, 'check-0123456789ab.log'), 1, 1);
    const end = await user.here(['gc', '--older-than', '0', '--yes', '--json']);
    const items: { kind: string; name: string; action: string; reason: string }[] = JSON.parse(end.stdout);
    expect(items.map(({ kind, action }) => `${action} ${kind}`).sort()).toEqual([
      'keep wip ref',
      'remove check log',
      'remove session',
      'remove wip ref',
    ]);
    expect(items.find(({ action }) => action === 'keep')?.reason).toContain('on no branch');
    expect(git('for-each-ref', '--format=%(refname)', 'refs/ramet/wip')).toBe('refs/ramet/wip/alone');
    const kept = join(user.rametHome, 'kept', 'fix-20260101T000000');
    mkdirSync(join(kept, 'vendor'), { recursive: true });
    writeFileSync(join(kept, 'vendor', 'file'), 'x'.repeat(5_000));
    const careful = await user.here(['gc', '--older-than', '0', '--yes']);
    expect(careful.stdout).toMatch(/keep +kept folder .*5 kB .*removed worktree \(--work removes it\)/);
    expect(existsSync(kept)).toBe(true);
    expect((await user.here(['gc', '--work', '--yes'])).stdout).toContain('2 items used in the last 30 days');
    await user.here(['gc', '--older-than', '0', '--work', '--yes']);
    expect(existsSync(kept)).toBe(false);
    expect(git('for-each-ref', 'refs/ramet/wip')).toBe('');
  });

  test("knows what attempts of runs left and what was in git's way, and keeps only copies", async ({
    user,
  }) => {
    const git = (...args: string[]): string => runSync('git', args, { cwd: user.repository }).trim();
    const identity = ['-c', 'user.name=x', '-c', 'user.email=x@localhost'];
    const alone = git(...identity, 'commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'work');
    git('update-ref', `refs/ramet/attempts/left/${alone}`, alone);
    git('update-ref', 'refs/ramet/attempts/abcdefgh/T1-1', 'HEAD');
    const aside = join(user.repository, '.git/ramet/set-aside');
    mkdirSync(join(aside, 'alternates-x'), { recursive: true });
    writeFileSync(join(aside, 'alternates-x', 'alternates'), '/elsewhere\n');
    const gc = async (...more: string[]): Promise<string[]> => {
      const { stdout } = await user.here(['gc', '--older-than', '0', '--yes', '--json', ...more]);
      const items: { kind: string; action: string }[] = JSON.parse(stdout);
      return items.map(({ kind, action }) => `${action} ${kind}`).sort();
    };
    expect(await gc()).toEqual(['keep attempt ref', 'keep set aside', 'remove attempt ref']);
    expect(git('for-each-ref', '--format=%(objectname)', 'refs/ramet/attempts')).toBe(alone);
    expect(await gc('--work')).toEqual(['remove attempt ref', 'remove set aside']);
    expect([git('for-each-ref', 'refs/ramet/attempts'), existsSync(join(aside, 'alternates-x'))]).toEqual([
      ...['', false],
    ]);
  });
});
