import { describe, expect, test } from 'vitest';
import { call, lastTexts, startAgents, startFamily } from '../../../test/fixtures/family.ts';

const CLAIM = { text: 'Scope: all done, all tests pass.' };
const bash = (command: string) => call('Bash', { command });

/** What the parent is told about a child that says `lines`, with what is expected of it. */
async function told(
  expected: Record<string, unknown>,
  lines: readonly (typeof CLAIM | ReturnType<typeof bash>)[],
) {
  const family = await startFamily({
    files: { 'kept.txt': 'as it was\n' },
    permissionMode: 'bypassPermissions',
    cast: { 'Go.': [startAgents(['child'], { expect: expected }), { text: 'ok' }], child: [...lines] },
  });
  await family.run('Go.');
  const [answer = ''] = lastTexts(family.requestsOf('Go.')[1]);
  return {
    answer,
    notices: family
      .requestsOf('child')
      .slice(1)
      .map((request) => lastTexts(request).at(-1)),
  };
}

const NEVER = [CLAIM, CLAIM, CLAIM];

describe('AGENT-6: done is proved', () => {
  test('a file that is claimed and absent is no_artifact, after the agent was told twice', async () => {
    const { answer, notices } = await told({ files: ['made.txt'] }, NEVER);
    expect(answer).toMatch(/failed: no_artifact: \S+made\.txt is not there\n/);
    expect(notices).toEqual([expect.stringContaining('made.txt is not there'), expect.anything()]);
  });

  test('a file that was there before must have changed', async () => {
    expect((await told({ files: ['kept.txt'] }, NEVER)).answer).toContain('kept.txt was not changed');
    const changed = [bash('echo more >> kept.txt'), CLAIM];
    expect((await told({ files: ['kept.txt'] }, changed)).answer).toContain(' done: ');
  });

  test('an agent that makes up for it is done', async () => {
    const { answer } = await told({ files: ['made.txt'] }, [CLAIM, bash('echo it > made.txt'), CLAIM]);
    expect(answer).toContain(' done: 3 turns');
  });

  test('a check that fails is no_artifact with what it printed, one that succeeds is proof', async () => {
    const { answer } = await told({ check: 'echo two tests fail; exit 3' }, NEVER);
    expect(answer).toContain(
      'failed: no_artifact: the check `echo two tests fail; exit 3` failed: two tests fail',
    );
    expect((await told({ check: 'test -f kept.txt' }, [CLAIM])).answer).toContain(' done: 1 turn');
  });

  test('a commit must be a new one', async () => {
    expect((await told({ commit: true }, NEVER)).answer).toContain('no_artifact: there is no new commit');
    const git = 'git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m x';
    expect((await told({ commit: true }, [bash(git), CLAIM])).answer).toContain(' done: ');
  });

  test.for([
    ['a device', { files: ['/dev/zero'] }, '/dev/zero is a device'],
    ['a folder', { files: ['.'] }, 'is a directory'],
  ] as const)(
    'what cannot be checked is refused before the agent starts: %s',
    async ([, expected, reason]) => {
      const { answer, notices } = await told(expected, []);
      expect(answer).toMatch(/^No agent was started: expect\.files: /);
      expect(answer).toContain(reason);
      expect(notices).toEqual([]);
    },
  );

  test('a check has the rights of the agent: what it may not run proves nothing', async () => {
    const family = await startFamily({
      permissionMode: 'plan',
      cast: {
        'Go.': [startAgents(['child'], { expect: { check: 'touch x' } }), { text: 'ok' }],
        child: NEVER,
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('Go.')[1])[0]).toContain('no_artifact: the check `touch x` failed: ');
  });
});
