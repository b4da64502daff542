/** When members of a team are woken and when not: after interruptions, failures and lost wake-ups. */
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/fixtures/command.ts';
import {
  asked,
  call,
  type Emulator,
  lastText,
  newPlace,
  PATIENCE,
  play,
  prompt,
  type TeamPlace,
  tell,
  uses,
  whoAsks,
} from '../../../test/fixtures/team-session.ts';
import { TeamStore } from '../../team/store/team-store.ts';
import { reopenTeam, showTeam, stopTeam } from '../calls/teams.ts';
import { type JournalEvent, type SessionOptions, tool } from '../index.ts';
import { findPlace } from '../place.ts';
import { openSession } from './session.ts';

const READS = ['Read', 'Endless'];
/** They have no worktree, and so wake at once. */
const READER = { description: 'reads', prompt: 'Read.', teammate: true, tools: READS } as const;

function addReader(name: string): ReturnType<typeof call> {
  const prompt = `You are ${name}. Wait.`;
  return call('Agent', { subagent_type: 'reader', name, description: name, prompt });
}

async function newReaders(...given: Parameters<typeof newPlace>): Promise<TeamPlace> {
  const { emulator, options } = await newPlace(...given);
  return { emulator, options: { ...options, agentTypes: { reader: READER } } };
}

const create = (subject: string, more: Record<string, unknown> = {}) =>
  call('TaskCreate', { subject, description: '', ...more });
const update = (task: number, more: Record<string, unknown>) => call('TaskUpdate', { task, ...more });
const claim = (task: number) => update(task, { status: 'in_progress' });
const complete = (task: number) => update(task, { status: 'completed', evidence: 'Seen.' });

/** The free tasks that a member has heard of. */
function toldOf(emulator: Emulator, name: string): number[] {
  const said = JSON.stringify(asked(emulator, name).at(-1)?.messages ?? []);
  return [...said.matchAll(/Task (\d+) is free now/g)].map(([, number]) => Number(number));
}

/** A tool that says when it runs, and does not return before its run is over. */
function endlessTool(begun: () => void): ReturnType<typeof tool> {
  return tool({
    ...{ name: 'Endless', description: 'Waits.', inputSchema: { type: 'object' }, access: 'read' },
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('over')));
        begun();
      }),
  });
}

describe('TEAM-1: a member that was interrupted', () => {
  const HOURS = { kind: 'status', status: 429, retryAfter: 7_380 } as const;

  test.each(['a usage limit', 'a person'])(
    'by %s is not woken again for a message that it had before, until there is a prompt',
    PATIENCE,
    async (who) => {
      const events: [agent: string | null, event: JournalEvent][] = [];
      const isWorking = Promise.withResolvers<void>();
      const stop = new AbortController();
      let isLimited = false;
      let hasPrompt = false;
      const early: string[] = [];
      const { emulator, options: given } = await newReaders(
        async (view) => {
          const name = whoAsks(view);
          if (name === 'ada') {
            if (isLimited && !hasPrompt) early.push(view.last);
            return view.turn === 0 ? uses(call('Endless', {})) : { text: 'Idle.' };
          }
          if (view.turn === 0) return uses(addReader('ada'));
          if (view.turn === 1) await isWorking.promise;
          if (view.turn === 1) return uses(tell('ada', 'Use tabs.'));
          if (view.turn === 2) return { text: 'Sent.' };
          return { text: 'Done.' };
        },
        ({ request }) => {
          const told = JSON.stringify(request).includes('Sent to ada');
          if (told && !hasPrompt) isLimited = true;
          if (isLimited && who === 'a person') stop.abort('a person');
          return isLimited && !hasPrompt && who === 'a usage limit' ? HOURS : undefined;
        },
      );
      const options: SessionOptions = {
        ...given,
        tools: [endlessTool(() => isWorking.resolve())],
        settings: { ...given.settings, limits: { waitSeconds: 1 } },
        onRecord: (agent, event) => events.push([agent, event]),
      };
      await using session = await openSession(options);
      const run = session.run('Go.', { signal: stop.signal });
      for (let next = await run.next(); !next.done; next = await run.next());
      const ends = (): number =>
        events.filter(([agent, { type }]) => agent === `${session.id}.2` && type === 'agent.ended').length;
      await eventually(() => ends() > 0 && session.team?.members()[1]?.state !== 'running');
      // Everything that would follow by itself has had its turn.
      for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
      expect(ends()).toBe(1);
      expect(early).toEqual([]);
      if (who === 'a usage limit') return;
      hasPrompt = true;
      await prompt(session, 'Go on.');
      expect(asked(emulator, 'ada').some((request) => lastText(request).includes('Use tabs.'))).toBe(true);
      expect(session.team?.members()[1]).toMatchObject({ state: 'idle', unread: 0 });
    },
  );
});

describe('TEAM-3: tasks that become free', () => {
  const three = ['ada', 'bob', 'cleo'];

  test('wake a member for each, and not one for all', async () => {
    const { emulator, options } = await newReaders(
      play({
        lead: [
          uses(...three.map(addReader)),
          { text: 'Wait.' },
          uses(create('one'), create('two', { blocked_by: [1] }), create('three', { blocked_by: [1] })),
          uses(claim(1)),
          uses(complete(1)),
        ],
      }),
    );
    await using session = await openSession(options);
    await prompt(session);
    await prompt(session);
    const told = three.map((name) => toldOf(emulator, name));
    expect(told.flat().sort()).toEqual([1, 2, 3]);
    expect(told.filter((numbers) => numbers.includes(2) || numbers.includes(3))).toHaveLength(2);
  });

  test('while the hook on a task that waited for them runs, are told', async () => {
    const hooks = {
      TaskCreated: [
        {
          hooks: [
            async ({ task_subject: subject }: Record<string, unknown>) => {
              if (subject === 'two') await finished.promise;
              return {};
            },
          ],
        },
      ],
    };
    const finished = Promise.withResolvers<void>();
    const { emulator, options } = await newReaders(
      play({
        lead: [
          uses(addReader('bob')),
          { text: 'Wait.' },
          uses(create('one')),
          uses(claim(1)),
          uses(create('two', { blocked_by: [1] })),
        ],
      }),
    );
    await using session = await openSession({ ...options, hooks });
    await prompt(session);
    const running = prompt(session);
    await expect.poll(() => asked(emulator, 'lead').length, PATIENCE).toBe(5);
    {
      using store = new TeamStore(findPlace(callerOf(options)).project);
      const end = { status: 'completed', evidence: 'Seen.' } as const;
      await expect.poll(() => store.find('crew')?.tasks.isProposed(2), PATIENCE).toBe(true);
      store.find('crew')?.tasks.end(1, 'lead', end);
    }
    finished.resolve();
    await running;
    expect(toldOf(emulator, 'bob')).toEqual([1, 2]);
  });

  test('and whose wake-up was lost are found by the next look', async () => {
    const { emulator, options } = await newReaders(play({ lead: [uses(...three.map(addReader))] }));
    await using session = await openSession(options);
    await prompt(session);
    {
      using store = new TeamStore(findPlace(callerOf(options)).project);
      const list = store.find('crew')?.tasks;
      for (const subject of ['one', 'two']) list?.create('lead', { subject, description: '' });
      list?.create('lead', { subject: 'three', description: '', owner: 'ada' });
    }
    await prompt(session);
    expect(three.map((name) => toldOf(emulator, name))).toEqual([[3], [1], [2]]);
    // Each once.
    await prompt(session);
    expect(three.map((name) => asked(emulator, name).length)).toEqual([2, 2, 2]);
  });
});

describe('TEAM-2: many long messages that arrive during one call', () => {
  test('are read in order, and as many in one request as a model takes', async () => {
    const texts = Array.from({ length: 12 }, (_, index) => `letter ${index} ${'x'.repeat(60_000)}`);
    const flood = tool({
      ...{ name: 'Endless', description: 'Waits.', inputSchema: { type: 'object' }, access: 'read' },
      run: async () => {
        for (const text of texts) await session.team?.send({ to: 'ada', text });
        return 'flooded';
      },
    });
    const { emulator, options } = await newReaders(
      play({ lead: [uses(addReader('ada'))], ada: [uses(call('Endless', {}))] }),
    );
    await using session = await openSession({ ...options, tools: [flood] });
    await prompt(session);
    const read = asked(emulator, 'ada').map((request) =>
      [...lastText(request).matchAll(/letter (\d+)/g)].map(([, number]) => Number(number)),
    );
    expect(read.flat()).toEqual(texts.map((_, index) => index));
    expect(Math.max(...read.map(({ length }) => length))).toBeLessThan(4);
    expect(session.team?.members()[1]).toMatchObject({ state: 'idle', unread: 0 });
  });
});

describe('TEAM-3: claims of those who have ended', () => {
  test('a fork that claimed a task and ended gives it back, and an idle member is told', async () => {
    const { emulator, options } = await newReaders((view) => {
      if (view.last.includes('Do the task.')) return uses(claim(1));
      if (view.last.includes('Task 1 is yours')) return { text: 'Forgotten.' };
      const lead = [
        uses(addReader('bob')),
        { text: 'Wait.' },
        uses(create('one')),
        uses(call('Agent', { subagent_type: 'fork', description: 'f', prompt: 'Do the task.' })),
      ];
      return whoAsks(view) === 'lead' ? (lead[view.turn] ?? { text: 'Done.' }) : { text: 'Done.' };
    });
    await using session = await openSession(options);
    await prompt(session);
    await prompt(session);
    const [task] = session.team?.tasks() ?? [];
    expect(task).toMatchObject({ status: 'pending', owner: null, note: `${session.id}.3 has ended` });
    expect(toldOf(emulator, 'bob')).toEqual([1, 1]);
  });

  test('a member that fails at a task is not woken for it again; another one is', async () => {
    const { emulator, options } = await newReaders((view) => {
      const who = whoAsks(view);
      if (who === 'ada' && view.turn === 1) return uses(claim(1));
      if (who === 'ada' && view.turn > 1) throw new Error('the provider refuses this request');
      const lead = [uses(addReader('ada'), addReader('bob')), { text: 'Wait.' }, uses(create('one'))];
      return who === 'lead' ? (lead[view.turn] ?? { text: 'Done.' }) : { text: 'Done.' };
    });
    await using session = await openSession(options);
    await prompt(session);
    await prompt(session);
    expect(session.team?.tasks()).toMatchObject([{ status: 'pending', owner: null, note: 'ada failed' }]);
    expect(['ada', 'bob'].map((name) => toldOf(emulator, name))).toEqual([[1], [1]]);
  });

  test('a member that is to stop gives them back also when the session closes first', async () => {
    const { emulator, options: given } = await newReaders(
      play({
        lead: [uses(create('one'), addReader('ada'))],
        ada: [uses(claim(1)), uses(call('Endless', {}))],
      }),
    );
    const isWorking = Promise.withResolvers<void>();
    const options = { ...given, tools: [endlessTool(() => isWorking.resolve())] };
    const session = await openSession(options);
    const run = session.run('Go.');
    const ended = (async () => {
      for (let next = await run.next(); !next.done; next = await run.next());
    })();
    await isWorking.promise;
    {
      using store = new TeamStore(findPlace(callerOf(options)).project);
      store.find('crew')?.roster.askToStop('ada');
    }
    await session.close();
    await ended;
    expect(asked(emulator, 'ada')).toHaveLength(2);
    const { members, tasks } = showTeam('crew', options);
    expect(members[1]).toMatchObject({ name: 'ada', state: 'stopped' });
    expect(tasks).toMatchObject([{ status: 'pending', owner: null, note: 'ada was stopped' }]);
  });
});

describe('TEAM-3: a member that hears of a task and fails before it claims it', () => {
  test.each([true, false])('leaves it to another one, unless it is for it alone: %s', async (isForAll) => {
    const task = create('one', isForAll ? {} : { owner: 'ada' });
    const { emulator, options } = await newReaders((view) => {
      const who = whoAsks(view);
      if (who === 'ada' && view.turn > 0) throw new Error('the provider refuses this request');
      const lead = [uses(addReader('ada'), addReader('bob')), { text: 'Wait.' }, uses(task)];
      return who === 'lead' ? (lead[view.turn] ?? { text: 'Done.' }) : { text: 'Done.' };
    });
    await using session = await openSession(options);
    await prompt(session);
    await prompt(session);
    expect(['ada', 'bob'].map((name) => toldOf(emulator, name))).toEqual([[1], isForAll ? [1] : []]);
  });
});

describe('TEAM-3: a task that has failed', () => {
  test('has a note that says why, and keeps no evidence when it is given back', async () => {
    const failed = { status: 'failed' };
    const { emulator, options } = await newReaders(
      play({
        lead: [
          uses(create('one')),
          uses(claim(1)),
          uses(update(1, failed)),
          uses(update(1, { ...failed, note: 'No network.' })),
          uses(update(1, { status: 'pending' })),
        ],
      }),
    );
    await using session = await openSession(options);
    await prompt(session);
    const said = asked(emulator, 'lead').map(lastText);
    expect(said[3]).toContain('Say in note why it failed');
    expect(said[4]).toContain('Task 1 is failed.');
    expect(session.team?.tasks()).toMatchObject([
      { status: 'pending', owner: null, evidence: null, proof: null, note: 'released by lead' },
    ]);
  });
});

describe('TEAM-4: a member that was stopped and works again', () => {
  test.each([true, false])(
    'is not asked to shut down any more (it had read that: %s)',
    PATIENCE,
    async (hasRead) => {
      const isAsked = Promise.withResolvers<void>();
      const isWorking = Promise.withResolvers<void>();
      const endless = endlessTool(() => isWorking.resolve());
      const look = tool({
        ...{ name: 'Look', description: 'Looks.', inputSchema: { type: 'object' }, access: 'read' },
        run: () => {
          isWorking.resolve();
          return isAsked.promise.then(() => 'seen');
        },
      });
      const { emulator, options: given } = await newPlace(
        play({
          lead: [
            uses(
              call('Agent', {
                ...{ subagent_type: 'reader', name: 'ada', description: 'a' },
                prompt: 'You are ada. Wait.',
              }),
            ),
          ],
          ada: [uses(call(hasRead ? 'Look' : 'Endless', {}))],
        }),
      );
      const type = { ...READER, tools: [...READS, 'Look'] };
      const options: SessionOptions = { ...given, tools: [endless, look], agentTypes: { reader: type } };
      const onRecord: SessionOptions['onRecord'] = (_, event) => {
        if (event.type === 'message.received' && event.kind === 'notification') isAsked.resolve();
      };
      const first = await openSession({ ...options, onRecord });
      const run = first.run('Go.');
      const over = (async () => {
        for (let next = await run.next(); !next.done; next = await run.next());
      })();
      await isWorking.promise;
      const stopped = stopTeam({ member: 'ada' }, options);
      await isAsked.promise;
      if (hasRead) await stopped;
      await first.close();
      await Promise.all([over, stopped]);
      const before = asked(emulator, 'ada').length;
      reopenTeam('crew', options);
      const { team: _, ...others } = options;
      await using session = await openSession({ ...others, resume: first.id });
      await session.team?.send({ to: 'ada', text: 'Use tabs.' });
      await prompt(session);
      const [request] = asked(emulator, 'ada').slice(before);
      const last = lastText(request);
      expect(last).toContain('Use tabs.');
      expect(last).not.toContain('You are asked to shut down');
      expect(last.includes('now you work again')).toBe(hasRead);
      expect(JSON.stringify(request?.messages).includes('You are asked to shut down')).toBe(hasRead);
    },
  );
});

describe('TEAM-1: names that differ in case alone', () => {
  test('are one name: a member that waits begins under its own, and gets its messages', async () => {
    const { emulator, options } = await newReaders(
      play({ lead: [uses(addReader('Ada')), uses(addReader('ada')), uses(tell('ADA', 'Use tabs.'))] }),
    );
    await using session = await openSession(options);
    await session.team?.add({ name: 'ada', type: 'reader' });
    await prompt(session);
    expect(lastText(asked(emulator, 'lead')[1])).toContain('this team has a member \\"ada\\"');
    expect(asked(emulator, 'ada').map(lastText).join()).toContain('Use tabs.');
    expect(session.team?.members()).toMatchObject([{ name: 'lead' }, { name: 'ada', unread: 0 }]);
  });
});

function callerOf({ cwd, env }: SessionOptions): { cwd: string; env: NodeJS.ProcessEnv } {
  return { cwd: String(cwd), env: { ...env } };
}
