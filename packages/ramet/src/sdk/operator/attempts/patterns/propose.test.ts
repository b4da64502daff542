import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { attemptRepository, ENDED, SESSION } from '../../../../../test/fixtures/attempts.ts';
import { git } from '../../../../../test/fixtures/worktrees.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import type { AttemptPattern } from './attempt-pattern.ts';
import { proposePattern } from './propose.ts';
import { ReadingCheckouts } from './reading-checkouts.ts';

type Collected = Awaited<ReturnType<AttemptPattern['collect']>>;

interface Proposing {
  root: string;
  base: string;
  /** What comes of an answer with that text, and what its agent is told, if it is told something. */
  propose(text: string, base?: string): Promise<{ work: Collected; told: string[] }>;
}

function proposing(): Proposing {
  const { worktrees, workspaces, root, base, order } = attemptRepository();
  const { commonDirectory } = worktrees.repository;
  git(root, 'update-ref', `refs/ramet/operator/${SESSION}`, base);
  const pattern = proposePattern({
    checkouts: new ReadingCheckouts({ workspaces, cwd: root, session: SESSION, run: SESSION }),
    repository: { cwd: root, commonDirectory, env: worktrees.env },
    ...{ scratch: worktrees.project, session: SESSION, lastText: async () => '' },
    rules: { root, policy: () => ({ mode: 'acceptEdits', rules: { allow: [], ask: [], deny: [] } }) },
  });
  return {
    ...{ root, base },
    async propose(text, from = base) {
      git(root, 'update-ref', `refs/ramet/operator/${SESSION}`, from);
      const told: string[] = [];
      const ended = { ...ENDED, result: { ...ENDED.result, text } };
      const asked: AttemptOrder = order('a', [], from);
      const work = await pattern.collect(asked, ended, async (more) => {
        told.push(more);
        return ended;
      });
      return { work, told };
    },
  };
}

const block = (patch: string): string => `Here it is.\n\n\`\`\`diff\n${patch}\`\`\`\n`;

describe('OP-9: propose', () => {
  test.each([['image.bin'], ['image.bin', 'staged.txt']])(
    'a binary patch applies, whose last line is empty: %s %s',
    async (...files) => {
      const { root, base, propose } = proposing();
      writeFileSync(join(root, 'image.bin'), Buffer.from([0, 1, 2, 255, 254, 0]));
      git(root, 'add', 'image.bin');
      const patch = git(root, 'diff', '--cached', '--binary', base, '--', ...files.filter(Boolean));
      expect((await propose(block(`${patch}\n\n`))).work).toMatchObject({ files: files.filter(Boolean) });
    },
  );

  test('an absolute path goes back to its agent', async () => {
    const { propose } = proposing();
    const patch = '--- /dev/null\n+++ /tmp/evil.txt\n@@ -0,0 +1 @@\n+x\n';
    const { work, told } = await propose(block(patch));
    expect(work).toMatchObject({ cause: 'bad_patch', message: expect.stringContaining('/tmp/evil.txt') });
    expect(told[0]).toContain('with paths from the top of the repository');
  });

  test('a submodule is moved only to a commit that others can get', async () => {
    const { root, propose, base: first } = proposing();
    git(root, 'switch', '--quiet', '--force-create', 'with-sub', first);
    git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', root, 'sub');
    git(root, 'commit', '--quiet', '--message=submodule');
    const base = git(root, 'rev-parse', 'HEAD');
    const known = git(root, 'rev-parse', 'feature');
    const move = (to: string): string =>
      block(
        `diff --git a/sub b/sub\nindex ${pointer}..${to} 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit ${pointer}\n+Subproject commit ${to}\n`,
      );
    const pointer = git(root, 'rev-parse', 'HEAD:sub');
    const nowhere = '1234567890123456789012345678901234567890';
    const refused = await propose(move(nowhere), base);
    expect(refused.work).toMatchObject({
      ...{ cause: 'submodule', final: true, branch: 'refs/ramet/attempts/abcdefgh/a-1' },
      message: expect.stringContaining('nowhere here'),
      person: expect.stringContaining('modules/sub fetch origin'),
    });
    expect((await propose(move(known), base)).work).toMatchObject({ files: ['sub'] });
    const stray = `diff --git a/other b/other\nnew file mode 160000\nindex 0000000..${known}\n--- /dev/null\n+++ b/other\n@@ -0,0 +1 @@\n+Subproject commit ${known}\n`;
    expect((await propose(block(stray), base)).work).toMatchObject({ cause: 'bad_patch' });
  });
});
