import { describe, expect, test } from 'vitest';
import { type Siblings, startSiblings } from '../../../test/fixtures/siblings.ts';

/** How the last commit of a child is asked for, when its origin names `call`. */
async function lastCommit(siblings: Siblings, call: string | null): Promise<string | undefined> {
  const { journal } = siblings.engine.runtime;
  const commit = journal.commit.bind(journal);
  const asked: string[] = [];
  journal.commit = (durability) => {
    asked.push(durability);
    return commit(durability);
  };
  const origin = { kind: 'fresh', call, description: 'task', background: false, depth: 1 } as const;
  await siblings.run(siblings.child('task', { origin }));
  return asked.at(-1);
}

describe('LOG-1: the end of a run', () => {
  test('is synced before the outside learns of it, and written before a parent does', async () => {
    expect(await lastCommit(await startSiblings(), null)).toBe('synced');
    expect(await lastCommit(await startSiblings(), 'toolu_1')).toBe('written');
  });
});
