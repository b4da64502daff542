import { describe, expect, test } from 'vitest';
import { type MergePlace, mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { groundedCommits } from './branch-commits.ts';
import { CommitGraph } from './commit-graph.ts';

const NAMES = ['one', 'two', 'on-one', 'joined', 'old', 'last'];

/** One branch on top of another, one that has merged another, one that `main` has already. */
function branchedPlace(): MergePlace {
  const place = mergePlace({ a: '1\n' });
  place.git('branch', 'old', 'main');
  place.branch('main', { b: '1\n' });
  place.branch('one', { one: '1\n' });
  place.branch('one', { one: '2\n' }, 'one');
  place.branch('two', { two: '1\n' });
  place.branch('on-one', { deep: '1\n' }, 'one');
  place.git('switch', '--quiet', '--create', 'joined', 'two');
  place.git('merge', '--quiet', '--no-edit', 'on-one');
  place.git('switch', '--quiet', 'desk');
  place.branch('last', { last: '1\n' });
  return place;
}

function subjects(place: MergePlace): string[] {
  const text = place.git('log', '--first-parent', '--reverse', '--format=%T%x01%B%x02', 'main');
  return text.split('\u0002').map((commit) => commit.trim());
}

describe('WORK-5: the commits of many branches, read together', () => {
  test.each(['merge', 'squash'] as const)('by %s give what each gives alone', async (strategy) => {
    const [together, alone] = [branchedPlace(), branchedPlace()];
    const report = await together.queue({ branches: NAMES, strategy });
    const states: string[] = [];
    for (const name of NAMES) states.push(...alone.states(await alone.queue({ branches: [name], strategy })));
    expect(together.states(report)).toEqual(states);
    expect(subjects(together)).toEqual(subjects(alone));
  });

  test('are those that git lists, also on top of what was merged since', async () => {
    const place = branchedPlace();
    const tips = NAMES.map((name) => place.git('rev-parse', name));
    const start = place.git('rev-parse', 'main');
    const graph = await CommitGraph.read(start, tips, place.repository);
    for (const to of tips.filter((_, index) => NAMES[index] !== 'old'))
      expect(graph.grounded({ from: start, to })).toEqual(
        await groundedCommits({ from: start, to }, place.repository),
      );
    expect(graph.grounded({ from: start, to: place.git('rev-parse', 'old') })).toBeNull();
    const tree = place.git('rev-parse', 'joined^{tree}');
    const [one = '', , , joined = ''] = tips;
    const merged = place.git('commit-tree', tree, '-p', start, '-p', one, '-m', 'merged');
    expect(graph.grounded({ from: merged, to: joined })).toBeNull();
    graph.add({ id: merged, parents: [start, one], tree });
    expect(graph.grounded({ from: merged, to: joined })).toEqual(
      await groundedCommits({ from: merged, to: joined }, place.repository),
    );
  });
});
