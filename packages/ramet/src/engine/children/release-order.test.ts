import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { call, startAgents, startFamily } from '../../../test/fixtures/family.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';

const FRESH = { subagent_type: 'general-purpose' };

/** A sandbox would end with its commands at once, before they can say anything. */
function withoutSandbox(): string {
  const programs = temporaryDirectory();
  writeFileSync(join(programs, 'bwrap'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  return programs;
}

describe('RES-5: what an agent took', () => {
  test.each([
    ['ends', { text: 'Scope: done' }, []],
    ['fails', { text: 'No.', stop_reason: 'refusal' as const }, ['of its agent']],
  ])(
    'is released in order when it %s: its agents, its commands from the last to the first, its worktree',
    async (_, end, inner) => {
      const notes = temporaryDirectory();
      const [up, order] = [join(notes, 'up'), join(notes, 'order')];
      const lasting = (name: string) =>
        call('Bash', {
          run_in_background: true,
          command: `trap 'test -e .git && echo ${name} >> ${order}; exit' TERM; echo ${name} >> ${up}; while :; do sleep 0.02; done`,
        });
      const family = await startFamily({
        programs: withoutSandbox(),
        cast: {
          'Go.': [startAgents(['outer'], { ...FRESH, isolation: 'worktree' }), { text: 'ok' }],
          outer: [
            lasting('first'),
            lasting('second'),
            // An agent that succeeds waits for its own.
            ...inner.map(() => startAgents(['inner'], { ...FRESH, run_in_background: true })),
            call('Bash', {
              command: `until test "$(wc -l < ${up})" = ${2 + inner.length}; do sleep 0.02; done`,
            }),
            end,
          ],
          inner: ({ turn }) => (turn === 0 ? lasting('of its agent') : new Promise(() => {})),
        },
      });
      const { result } = await family.run('Go.');
      expect(result.status).toBe('done');
      expect(readFileSync(order, 'utf8')).toBe([...inner, 'second', 'first', ''].join('\n'));
      const ends = family
        .recorded()
        .filter(({ event }) => event.type === 'agent.ended' || event.type === 'worktree.released')
        .map(({ agent, event }) => `${agent?.split('.')[1]} ${event.type}`);
      expect(ends.indexOf('3 agent.ended')).toBeLessThan(ends.indexOf('2 worktree.released'));
      expect(ends.indexOf('2 worktree.released')).toBeLessThan(ends.indexOf('1 agent.ended'));
      expect(family.session.agents).toEqual([]);
    },
  );
});
