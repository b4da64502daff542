import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test, toolResults, type User } from '../fixtures/user.ts';

/** As an archive can bring it: programs for everything that git does. Returns the file that each of them makes. */
function hostileFolder(user: User): string {
  const mark = join(user.root, 'ran');
  const evil = (rest: string): string => `"touch ${mark}; ${rest}"`;
  writeFileSync(join(user.repository, '.gitattributes'), '* filter=odd diff=odd\n');
  appendFileSync(
    join(user.repository, '.git/config'),
    [
      `[core]\n\tfsmonitor = ${evil('false')}\n\tpager = ${evil('cat')}`,
      `[diff]\n\texternal = ${evil('true')}`,
      `[diff "odd"]\n\tcommand = ${evil('true')}\n\ttextconv = ${evil('cat')}`,
      `[filter "odd"]\n\tclean = ${evil('cat')}\n\tsmudge = ${evil('cat')}\n`,
    ].join('\n'),
  );
  writeFileSync(join(user.repository, 'README.md'), 'changed\n');
  return mark;
}

describe.concurrent('SEC-1: in a folder that is not trusted', () => {
  test('git of an agent that nobody was asked about runs nothing of the folder', async ({ user }) => {
    const mark = hostileFolder(user);
    const command = 'git status --short && git diff && git log -p';
    const emulator = await user.model({ tool_use: [{ name: 'Bash', input: { command } }] }, { text: 'ok' });
    expect(await user.ramet(['-p', 'x'])).toMatchObject({ code: 0 });
    expect(toolResults(emulator)[0]?.text).toContain('+changed');
    expect(existsSync(mark)).toBe(false);
  });

  test('blame asks for trust where a line cannot be told without a filter of the folder', async ({
    user,
  }) => {
    const mark = hostileFolder(user);
    const refused = await user.ramet(['blame', 'README.md']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/need the filter "odd".*run ramet trust there\n$/);
    expect(refused.stderr.trim().split('\n')).toHaveLength(1);
    expect(existsSync(mark)).toBe(false);
    await user.ramet(['trust']);
    expect(await user.here(['blame', 'README.md'])).toMatchObject({ code: 0 });
  });
});
