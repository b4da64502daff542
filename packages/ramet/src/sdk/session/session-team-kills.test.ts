/** Teams whose process is killed between two writes: what is on disk then is opened again. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import {
  add,
  asked,
  call,
  killedNow,
  lastText,
  newPlace,
  play,
  prompt,
  uses,
} from '../../../test/fixtures/team-session.ts';
import { createWorktree } from '../../git/worktrees/create-worktree.ts';
import { thisProcess } from '../../system/processes/process-identity.ts';
import { TeamStore } from '../../team/store/team-store.ts';
import { sendToTeam } from '../calls/teams.ts';
import { type SessionOptions, tool } from '../index.ts';
import { findPlace } from '../place.ts';
import { openPlace } from '../worktrees/open-place.ts';
import { openSession } from './session.ts';

describe('TEAM-5: a team that is killed again and again', () => {
  test('gives a member the task of the call that asked for it, also when it was written to before it began', async () => {
    let kill: (() => void) | null = null;
    const look = tool({
      ...{ name: 'Look', description: 'Looks.', inputSchema: { type: 'object' }, access: 'read' },
      run: () => {
        kill ??= killedNow(options);
        return 'seen';
      },
    });
    const task = call('TaskCreate', { subject: 'one', description: '' });
    const { emulator, options: given } = await newPlace(
      play({ lead: [uses(task, call('Look', {}), add('ada', 'Remember 4711.'))] }),
    );
    const { team: _, ...options }: SessionOptions = { ...given, tools: [look] };
    const first = await openSession({ ...options, team: 'crew' });
    await prompt(first);
    await first.close();
    putBack(kill);
    const again: SessionOptions = { ...options, resume: first.id };
    {
      // The call had entered the member, and no more, when its process was killed; then someone wrote to it.
      using store = new TeamStore(findPlace(callerOf(again)).project);
      store.find('crew')?.roster.add({ name: 'ada', type: 'teammate', agent: `${first.id}.2` });
      sendToTeam({ to: 'ada', text: 'Are you there?' }, callerOf(again));
    }
    // Killed before the call is made again.
    await (await openSession(again)).close();
    const before = asked(emulator, 'ada').length;
    await using session = await openSession(again);
    await prompt(session, null);
    const [request] = asked(emulator, 'ada').slice(before);
    expect(JSON.stringify(request?.messages)).toContain('Remember 4711.');
    expect(session.team?.members()).toMatchObject([{ name: 'lead' }, { name: 'ada', unread: 0 }]);
  });
});

describe('TEAM-1, TEAM-5: a member whose process was killed before it began', () => {
  test('leaves no name and no worktree behind', async () => {
    const { options } = await newPlace(play({ lead: [{ text: 'Wait.' }] }));
    const first = await openSession(options);
    await prompt(first);
    await first.close();
    const agent = `${first.id}.2` as const;
    const caller = callerOf(options);
    const names = (): string[] =>
      execFileSync('git', ['worktree', 'list', '--porcelain'], { cwd: caller.cwd, encoding: 'utf8' })
        .split('\n')
        .filter((line) => /^locked|^worktree .*ada/.test(line));
    {
      using store = new TeamStore(findPlace(caller).project);
      store.find('crew')?.roster.add({ name: 'ada', type: 'teammate', agent });
      using opened = await openPlace(caller);
      const owner = { session: first.id, agent };
      const { worktree } = await createWorktree(opened.place, { name: 'ada', owner, numbered: true });
      opened.place.registry.put({ ...worktree, lease: { pid: 2 ** 22 - 1, started: null } });
    }
    expect(names()).toHaveLength(2);
    const { team: _, ...again } = options;
    await using session = await openSession({ ...again, resume: first.id });
    expect(session.team?.members()).toMatchObject([{ name: 'lead' }]);
    await session.close();
    expect(names()).toEqual([]);
  });
});

describe('TEAM-3: a task that became free when a process was killed', () => {
  test('is told to an idle member by the next one', async () => {
    const claim = call('TaskUpdate', { task: 1, status: 'in_progress' });
    const { emulator, options } = await newPlace(
      play({ lead: [uses(add('ada'))], ada: [{ text: 'Idle.' }, uses(claim)] }),
    );
    const first = await openSession(options);
    await prompt(first);
    await first.close();
    const { team: _, ...others } = options;
    const open = (): ReturnType<typeof openSession> => openSession({ ...others, resume: first.id });
    {
      using store = new TeamStore(findPlace(callerOf(options)).project);
      store.find('crew')?.tasks.create('lead', { subject: 'one', description: '' });
      // Who was told when it became free: nobody.
      await using untold = await open();
      await expect(prompt(untold, null)).rejects.toMatchObject({ code: 'nothing_to_do' });
    }
    {
      using store = new TeamStore(findPlace(callerOf(options)).project);
      store.find('crew')?.roster.host({ pid: 2 ** 22 - 1, started: null });
    }
    await using session = await open();
    await prompt(session, null);
    expect(lastText(asked(emulator, 'ada')[1])).toContain('Task 1 is free now');
    expect(session.team?.tasks()).toMatchObject([{ owner: 'ada', status: 'in_progress' }]);
  });
});

test('TEAM-3, TEAM-5: a task that a stop set free is told to an idle member when the team is resumed', async () => {
  const claim = call('TaskUpdate', { task: 1, status: 'in_progress' });
  const { emulator, options } = await newPlace(
    play({ lead: [uses(add('ada'))], ada: [{ text: 'Idle.' }, uses(claim)] }),
  );
  const first = await openSession(options);
  await prompt(first);
  await first.close();
  {
    using store = new TeamStore(findPlace(callerOf(options)).project);
    const team = store.find('crew');
    team?.tasks.create('lead', { subject: 'one', description: '' });
    team?.tasks.claim(1, 'ada', thisProcess());
    team?.tasks.releaseOf('ada', 'ada was stopped');
  }
  const { team: _, ...others } = options;
  await using session = await openSession({ ...others, resume: first.id });
  await prompt(session, null);
  expect(lastText(asked(emulator, 'ada')[1])).toContain('Task 1 is free now');
  expect(session.team?.tasks()).toMatchObject([{ owner: 'ada', status: 'in_progress' }]);
});

function putBack(kill: (() => void) | null): void {
  if (kill === null) throw new Error('nothing was killed');
  kill();
}

function callerOf({ cwd, env }: SessionOptions): { cwd: string; env: NodeJS.ProcessEnv } {
  return { cwd: String(cwd), env: { ...env } };
}
