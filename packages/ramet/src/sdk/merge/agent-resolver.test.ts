import { describe, expect, test } from 'vitest';
import { deletingBroker, untouched } from './agent-resolver.ts';

const question = (command: string, tool = 'Bash') => ({
  ...{ agent: 'a.1', agentName: null, parent: null, cwd: '/w', tool, summary: command, reason: '' },
  suggestedRules: [],
  input: { command },
  ...(tool === 'Bash' && { command }),
});

describe('WORK-5: what a resolver may do besides editing', () => {
  const broker = deletingBroker(['a.txt', 'src/b.ts', '$(id)', '-rf'], '/w');
  const ask = (command: string, tool?: string) =>
    broker.ask(question(command, tool), new AbortController().signal).then(({ kind }) => kind);

  test.each(['rm a.txt', 'rm -f a.txt src/b.ts', 'git rm ./a.txt', 'git rm -f -- src/b.ts', 'rm /w/a.txt'])(
    'allows to remove what has a conflict: %s',
    async (command) => expect(await ask(command)).toBe('once'),
  );

  test.each([
    'rm other.txt',
    'rm -rf a.txt',
    'rm a.txt; id',
    'rm a.txt && id',
    'rm $(id)',
    'rm -rf',
    'rm ../a.txt',
    'rm',
    'git rm',
    'git rm -r .',
    'id a.txt',
    'rmdir a.txt',
  ])('denies what is not that: %s', async (command) => expect(await ask(command)).toBe('denied'));

  test('denies it of another tool', async () => expect(await ask('rm a.txt', 'Other')).toBe('denied'));
});

describe('WORK-5: a conflict that the agent did not touch', () => {
  const conflict = (kind: string, ...paths: string[]) => ({ kind, paths, message: '' });
  const gone = conflict('modify/delete', 'f');
  const renamed = conflict('rename/rename', 'a', 'b', 'c');

  test('is open while every path of it is as git left it', () => {
    expect(untouched([gone, renamed], [])).toEqual([gone, renamed]);
    expect(untouched([gone, renamed], ['other', 'f.txt', 'ab'])).toEqual([gone, renamed]);
    expect(untouched([gone, renamed], ['f'])).toEqual([renamed]);
    expect(untouched([gone, renamed], ['f/x', 'c'])).toEqual([]);
  });

  test('is open also where git names no path', () => {
    expect(untouched([conflict('contents')], ['f'])).toHaveLength(1);
  });
});
