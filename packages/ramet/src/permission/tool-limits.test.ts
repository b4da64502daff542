import { describe, expect, test } from 'vitest';
import { editTool } from '../tools/files/edit.ts';
import { bashTool } from '../tools/shell/bash.ts';
import { limitRefusal } from './tool-limits.ts';

const ORIGIN = { base: '/srv', home: '/home/u' };
const LIMITS = { only: ['Bash(git log:*)', 'Edit(src/**)'], never: ['Bash(git log --all:*)'] };

function bash(command: string): Promise<string | null> {
  return limitRefusal(LIMITS, bashTool, { input: { command }, cwd: '/srv' }, ORIGIN);
}

describe('RES-3: the calls that a type is for', () => {
  test.each([
    ['git log --oneline', null],
    ['git log | git log', null],
    ['ls', /may use only Bash\(git log:\*\)/],
    ['git log; rm -rf x', /may use only/],
    ['git log > out', /may use only/],
    ['git log $(rm x)', /may use only/],
    ['git log --all', /may not use Bash\(git log --all:\*\)/],
  ])('%s', async (command, refusal) => {
    const said = await bash(command);
    if (refusal === null) expect(said).toBeNull();
    else expect(said).toMatch(refusal);
  });

  test('files count too, and other tools are not limited', async () => {
    const edit = (file_path: string) =>
      limitRefusal(
        LIMITS,
        editTool,
        { input: { file_path, old_string: 'a', new_string: 'b' }, cwd: '/srv' },
        ORIGIN,
      );
    expect(await edit('/srv/src/a.ts')).toBeNull();
    expect(await edit('/srv/docs/a.md')).toMatch(/may use only Edit/);
    const none = { only: ['Read(src/**)'], never: [] };
    expect(await limitRefusal(none, bashTool, { input: { command: 'ls' }, cwd: '/srv' }, ORIGIN)).toBeNull();
  });
});
