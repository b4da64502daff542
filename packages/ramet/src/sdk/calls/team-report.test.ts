/** What people and programs are shown of a team. */
import { expect, test } from 'vitest';
import {
  add,
  call,
  newPlace,
  PATIENCE,
  play,
  prompt,
  uses,
  whoAsks,
} from '../../../test/fixtures/team-session.ts';
import { teamListText, teamRow, teamText } from '../../views/team-text.ts';
import type { SessionOptions } from '../index.ts';
import { openSession } from '../session/session.ts';
import { listTeams, showTeam, watchTeam } from './teams.ts';

test('AGENT-5, TEAM-1: a member that waits for a person or for a slot is shown as that, everywhere', async () => {
  const [isAsked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<{ kind: 'once' }>()];
  const script = play({
    lead: [uses(add('ada')), uses(add('bob'))],
    ada: [uses(call('Bash', { command: 'touch made.txt', description: 'x' }))],
  });
  const { options } = await newPlace(async (view) => {
    // The other comes when the one slot is taken.
    if (whoAsks(view) === 'lead' && view.turn === 1) await isAsked.promise;
    return script(view);
  });
  const broker: SessionOptions['broker'] = {
    ask() {
      isAsked.resolve();
      return answer.promise;
    },
  };
  const agents = { concurrent: 1 };
  const session = await openSession({ ...options, agents, broker, permissionMode: 'default' });
  // It has had no prompt.
  expect(session.team?.members()).toMatchObject([{ name: 'lead', state: 'idle', cause: null }]);
  const running = prompt(session);
  const expected = [
    { name: 'lead', state: 'waiting', cause: 'children' },
    { name: 'ada', state: 'blocked', cause: 'permission' },
    { name: 'bob', state: 'queued', cause: 'capacity' },
  ];
  await expect.poll(() => session.team?.members(), PATIENCE).toMatchObject(expected);
  const at = { cwd: String(options.cwd), env: { ...options.env } };
  const shown = showTeam('crew', at);
  expect(shown.members).toMatchObject(expected);
  const text = teamText(shown);
  expect(text).toMatch(/^ {2}ada +blocked: permission /m);
  expect(text).toMatch(/^ {2}bob +queued: capacity /m);
  expect(teamRow(shown)).toBe('crew: lead · ada blocked: permission · bob queued: capacity');
  const teams = listTeams(at);
  expect(teams).toMatchObject([{ members: expected }]);
  expect(teamListText(teams)).toContain('1 blocked, 1 queued');
  const watched = watchTeam('crew', at);
  expect(watched.look().members).toMatchObject(expected);
  answer.resolve({ kind: 'once' });
  await running;
  const idle = [{ state: 'idle', cause: null }, { state: 'idle' }, { state: 'idle', cause: null }];
  expect(session.team?.members()).toMatchObject(idle);
  expect(watched.look().members).toMatchObject(idle);
  await session.close();
});
