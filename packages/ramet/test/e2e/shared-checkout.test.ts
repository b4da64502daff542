import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runCheckout } from '../../../../campaigns/checkout/run.ts';
import { runSync } from '../fixtures/run-sync.ts';
import { test } from '../fixtures/user.ts';

/** The bundle starts four times as fast as the sources. */
const HELPER = join(import.meta.dirname, '../../dist/git/shared-git.js');

describe('WORK-1: one checkout, several processes with several agents, and a person beside them', () => {
  test('every edit is in its file or was refused with a reason, every commit holds its agent’s paths only', async () => {
    const plan = { way: 'ramet', agents: 2, processes: 2, steps: 60, commits: 0.15, seed: 7 } as const;
    const { problems, edits, commits, lostEdits } = await runCheckout({ ...plan, helper: HELPER });
    expect(problems).toEqual([]);
    expect([lostEdits, edits.failed, commits.lock, commits.failed]).toEqual([0, 0, 0, 0]);
    expect(edits.done).toBeGreaterThan(20);
    expect(commits.done).toBeGreaterThan(0);
  });
});

const NAMES = ['AUTHOR_NAME', 'AUTHOR_EMAIL', 'COMMITTER_NAME', 'COMMITTER_EMAIL'];

/** A task that writes a file of its own, waits until the other session has written its own too, and commits all. */
function task(own: string, other: string): string {
  const wait = (name: string): string => `until [ -e ${name} ]; do sleep 0.05; done`;
  const write = `\`\`\`write ${own}.txt\n${own}\n\`\`\`\n`;
  const commit = `touch ../${own}-wrote\n${wait(`../${other}-wrote`)}\ngit add -A\ngit commit -qm ${own}\n`;
  return `${write}\`\`\`sh\n${commit}touch ../${own}-done\n${wait(`../${other}-done`)}\n\`\`\`\n`;
}

describe('WORK-1: two commands in one checkout', () => {
  test('each commits what it has written, and says what it left to the other', async ({ user }) => {
    user.env.ANTHROPIC_API_KEY = undefined;
    for (const name of NAMES) user.env[`GIT_${name}`] = 'test@example.invalid';
    const run = (stdin: string) => user.ramet(['-p', '--permission-mode', 'bypassPermissions'], { stdin });
    const ends = await Promise.all([run(task('one', 'two')), run(task('two', 'one'))]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    expect(ends.map(({ stdout }) => stdout).join()).toMatch(
      /left out.*(one|two)\.txt \(changed by agent \w+\.1\)/,
    );
    const log = runSync('git', ['log', '-2', '--name-only', '--format=%s'], {
      cwd: user.repository,
    });
    expect(log.split('\n').filter(Boolean).toSorted()).toEqual(['one', 'one.txt', 'two', 'two.txt']);
  });
});
