import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { worktreePlace } from '../../../../test/fixtures/worktrees.ts';
import { createWorktree } from '../create-worktree.ts';
import { collectGarbage } from '../removal/collect-garbage.ts';
import { releaseWorktree } from '../removal/release-worktree.ts';
import { type WorktreePlace, worktreesDirectory } from '../worktree-place.ts';
import { wantedPool } from './pool-size.ts';

/** A session whose agents work at the same time, and end. */
async function session(place: WorktreePlace, name: string, agents: number): Promise<string[]> {
  const created = await Promise.all(
    Array.from({ length: agents }, (_, index) =>
      createWorktree(place, {
        name: `${name}-${index}`,
        owner: { session: name, agent: `${name}.${index}` },
      }),
    ),
  );
  for (const { worktree } of created) await releaseWorktree(place, worktree.id)?.settled;
  return created.map(({ how }) => how);
}

function ready({ registry }: WorktreePlace): number {
  return registry.list().filter(({ state }) => state === 'ready').length;
}

describe('WORK-4: how many worktrees are kept ready', () => {
  test('are as many as the last session used at once, up to eight', async () => {
    const place = worktreePlace();
    expect(wantedPool(place)).toBe(4);
    await session(place, 'aaaaaaaa', 6);
    expect(ready(place)).toBe(6);
    expect(await session(place, 'bbbbbbbb', 6)).toEqual(Array.from({ length: 6 }, () => 'claimed'));
    await session(place, 'cccccccc', 10);
    expect(ready(place)).toBe(8);
    await session(place, 'dddddddd', 2);
    expect(wantedPool(place)).toBe(2);
    const actions = (await collectGarbage(place)).map(({ action }) => action);
    expect(actions.filter((action) => action === 'remove')).toHaveLength(4);
    expect(ready(place)).toBe(2);
  });

  test('are noted when one is given back: nobody who gets one waits for that', async () => {
    const place = worktreePlace();
    const agents = [1, 2].map((number) => ({ session: 'aaaaaaaa', agent: `aaaaaaaa.${number}` }));
    const made = agents.map((owner) => createWorktree(place, { name: owner.agent, owner }));
    const [first] = await Promise.all(made);
    expect(existsSync(join(worktreesDirectory(place), '.pool-size'))).toBe(false);
    await releaseWorktree(place, first?.worktree.id ?? '')?.settled;
    expect(wantedPool(place)).toBe(2);
  });

  test('are as many as is set, and four where the note cannot be read', async () => {
    const place = worktreePlace({ settings: { pool: 1 } });
    await session(place, 'aaaaaaaa', 3);
    expect(ready(place)).toBe(1);
    const other = worktreePlace({ root: place.repository.root, home: place.home });
    for (const text of ['', '{', '[]', '{"session": 1}', '{"session": "x", "most": "many"}']) {
      writeFileSync(join(worktreesDirectory(other), '.pool-size'), text);
      expect(wantedPool(other)).toBe(4);
    }
  });

  test('take no more room than is set, and how much each takes is known', async () => {
    const place = worktreePlace();
    await session(place, 'aaaaaaaa', 3);
    const sizes = place.registry
      .list()
      .flatMap(({ state, facts }) => (state === 'ready' ? [facts.bytes ?? 0] : []));
    expect(sizes).toHaveLength(3);
    for (const size of sizes) expect(size).toBeGreaterThan(0);
    const room = ((sizes[0] ?? 0) * 2.5) / 1_000_000;
    const small = { ...place, settings: { poolMegabytes: room } };
    await collectGarbage(small);
    expect(ready(place)).toBe(2);
    await session(small, 'bbbbbbbb', 4);
    expect(ready(place)).toBe(2);
    const none = { ...place, settings: { poolMegabytes: 0 } };
    await session(none, 'cccccccc', 2);
    expect(ready(place)).toBe(0);
  });
});
