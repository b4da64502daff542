import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { BASE62, seededRandom } from '../../../test/fixtures/seeded-random.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { openPromptHistory } from './prompt-history.ts';

describe('UI-1: prompts of earlier sessions', () => {
  test('are there again, in order, for this user alone', ({ directory }) => {
    const project = join(directory, 'project');
    const history = openPromptHistory(project);
    for (const text of ['one', 'two\nlines', 'two\nlines']) history.add(text);
    expect(openPromptHistory(project).entries).toEqual(['one', 'two\nlines']);
    expect(statSync(join(project, 'prompts.jsonl')).mode & 0o777).toBe(0o600);
  });

  test('are bounded in number and in length', ({ directory: project }) => {
    const file = join(project, 'prompts.jsonl');
    writeFileSync(file, Array.from({ length: 900 }, (_, index) => `"${index}"\n`).join(''));
    expect(openPromptHistory(project).entries).toHaveLength(500);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(501);
    openPromptHistory(project).add('x'.repeat(5_000_000));
    expect(openPromptHistory(project).entries.at(-1)).toBe('899');
  });

  test('that are damaged are passed over', ({ directory: project }) => {
    appendFileSync(join(project, 'prompts.jsonl'), '"one"\n{}\n"cut of\n"two"\n');
    expect(openPromptHistory(project).entries).toEqual(['one', 'two']);
  });

  test('MEM-1: leave out a note that memory refuses as a secret, and keep others', async ({
    directory: project,
  }) => {
    const secret = `ghp_${seededRandom(9).text(BASE62, 36)}`;
    const history = openPromptHistory(project);
    for (const text of [`# the token is ${secret}`, `/remember user: ${secret}`, '# use tabs', 'a prompt'])
      history.add(text);
    await expect.poll(() => openPromptHistory(project).entries.length).toBe(2);
    expect(openPromptHistory(project).entries.toSorted()).toEqual(['# use tabs', 'a prompt']);
    expect(readFileSync(join(project, 'prompts.jsonl'), 'utf8')).not.toContain(secret);
  });

  test('are not made when there are none', ({ directory }) => {
    const project = join(directory, 'project');
    expect(openPromptHistory(project).entries).toEqual([]);
    expect(existsSync(project)).toBe(false);
  });
});
