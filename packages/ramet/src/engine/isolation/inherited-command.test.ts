import { describe, expect, test } from 'vitest';
import { inheritedCommand } from './inherited-command.ts';

const place = { places: { root: '/w/tree', from: '/me/repo' }, cwd: '/w/tree', home: '/me' };
const commandOf = (command: string) => inheritedCommand(command, place)?.command;

describe('FORK-6: a command that names the checkout of the parent', () => {
  test.each([
    ['cd /me/repo && npm test', 'cd /w/tree && npm test'],
    ['cd /me/repo/ && ls', 'cd /w/tree/ && ls'],
    ['cd "/me/repo/src" && ls', 'cd "/w/tree/src" && ls'],
    ["cat '/me/repo/a b.ts'", "cat '/w/tree/a b.ts'"],
    ['cat ~/repo/a.ts $HOME/repo/b.ts', 'cat /w/tree/a.ts /w/tree/b.ts'],
    ['cat $' + '{HOME}/repo/c.ts', 'cat /w/tree/c.ts'],
    ['make PREFIX=/me/repo/out --config=/me/repo/x', 'make PREFIX=/w/tree/out --config=/w/tree/x'],
    ['PATH=/me/repo/bin:/me/repo/b2:$PATH x', 'PATH=/w/tree/bin:/w/tree/b2:$PATH x'],
    ['ls /me/repo/src/*.ts;cat</me/repo/in>/me/repo/out', 'ls /w/tree/src/*.ts;cat</w/tree/in>/w/tree/out'],
    [`python3 -c "print(open('/me/repo/a').read())"`, `python3 -c "print(open('/w/tree/a').read())"`],
    ['cd /me/repo && cat > a <<EOF\ntext\nEOF', 'cd /w/tree && cat > a <<EOF\ntext\nEOF'],
    ['git -C /me/repo status', 'git -C /w/tree status'],
  ])('runs in the worktree: %s', (command, expected) => expect(commandOf(command)).toBe(expected));

  test.each(['cat > a <<EOF\n/me/repo/x\nEOF', 'cat ../../me/repo/a', 'git clone file:///me/repo copy'])(
    'does not run where a replacement could change what it means: %s',
    (command) => expect(commandOf(command)).toBeNull(),
  );

  test.each([
    'npm test',
    'cat src/a.ts ./b ../tree/c',
    'cat /me/repository/a /me/repo-2/b /other/me/repo',
    'ls /w/tree/src ~/other /usr/bin /dev/null',
    'git --git-dir=/me/repo/.git log',
    'sed -e s/a/b/ x',
    'curl https://example.com/me/repo',
  ])('is left alone when it names no such path: %s', (command) =>
    expect(inheritedCommand(command, place)).toBeNull(),
  );

  test.each([
    'grep -r "/me/repo/src" .',
    "rg -n '/me/repo' src",
    'git grep /me/repo/a',
    'grep -rn -e /me/repo -A 3 src',
    'cat x | grep -c /me/repo',
  ])('stays as it is in the pattern of a search, and that is told: %s', (command) =>
    expect(inheritedCommand(command, place)).toMatchObject({ command, paths: [], left: [expect.anything()] }),
  );

  test.each([
    ['grep -r /me/repo /me/repo/src', 'grep -r /me/repo /w/tree/src'],
    ['grep -rn needle /me/repo/src', 'grep -rn needle /w/tree/src'],
    ['grep -A 3 needle /me/repo/a', 'grep -A 3 needle /w/tree/a'],
    ['grep -f words /me/repo/a', 'grep -f words /w/tree/a'],
    ['grep -e one /me/repo/a', 'grep -e one /w/tree/a'],
    ['grep x a; cat /me/repo/b', 'grep x a; cat /w/tree/b'],
    ["sed -n '1,5p' /me/repo/a", "sed -n '1,5p' /w/tree/a"],
  ])('the files that a search reads are those of the worktree: %s', (command, expected) =>
    expect(commandOf(command)).toBe(expected),
  );

  test.each([
    "sed 's,/me/repo,x,' a",
    'awk \'/x/ { print > "/me/repo/b" }\' a',
    'sed -i -e "r /me/repo/b" a',
  ])('does not run in a script: %s', (command) => expect(commandOf(command)).toBeNull());

  test('does not run where a name needs quotes', () => {
    const spaced = { ...place, places: { root: '/w/my tree', from: '/me/repo' } };
    expect(inheritedCommand('cd /me/repo && ls', spaced)).toEqual({
      command: null,
      paths: [{ given: '/me/repo', used: '/w/my tree' }],
      left: [],
    });
    const parent = { ...place, places: { root: '/w/tree', from: '/me/my repo' } };
    for (const command of ['cd "/me/my repo/src"', 'cd /me/my\\ repo/src', "ls '/me/my repo'"])
      expect(inheritedCommand(command, parent)).toMatchObject({ command: null });
  });
});
