import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Agent, AgentFamily, AgentHandle, AgentResult, FamilyTeam } from '../../../../engine/shapes.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import type { AgentId } from '../../../../schema/ids.ts';
import type { TeamMember, TeamTask } from '../../../../schema/team.ts';
import type { TaskDesk } from '../../../../tools/agent-desk.ts';
import { failure } from '../../../../tools/tool.ts';
import type { TeamView } from '../../../session/session-type.ts';
import { TeamBoard } from './team-board.ts';

const id = (text: string): AgentId => text as AgentId; // any text will do here
const LEAD_ID = id('s.0');

/** A team whose list and roster are arrays, and whose members do what a test says. */
class ScriptedTeam {
  readonly tasks: TeamTask[] = [];
  readonly members: TeamMember[] = [];
  readonly rested: string[] = [];
  readonly brought: string[] = [];
  readonly sent: string[] = [];
  readonly checkout = { task: '' };
  readonly family: AgentFamily;
  readonly board: TeamBoard;
  /** What is wrong with every worktree. */
  trouble: string | null = null;
  /** The session ends: soon nobody may read the record of the team. */
  isClosing = false;
  readsOfClosing = 0;

  constructor() {
    this.family = { team: null } as unknown as AgentFamily; // of the family the board uses this alone
    const inner = {
      begin: ({ spec }: Agent) => ({ ended: () => this.rested.push(spec.name ?? '') }),
      tasksFor: (agent: AgentId) => this.#desk(agent),
    } as unknown as FamilyTeam; // and of the team these
    const view = {
      members: () => this.members,
      tasks: () => {
        if (this.isClosing) this.readsOfClosing += 1;
        return this.tasks;
      },
      add: async ({ name }: { name: string }) => void this.#join(name),
      send: async ({ to, text }: { to: string; text: string }) => void this.sent.push(`${to}: ${text}`),
    } as unknown as TeamView; // the same holds for the view
    const bring = async (agent: AgentId, { attempt }: AttemptOrder): Promise<void> => {
      if (this.trouble !== null) throw new Error(this.trouble);
      this.brought.push(`${agent} to ${attempt.base}`);
    };
    const handleOf = (agent: AgentId): AgentHandle => ({ id: agent }) as AgentHandle; // its id is all that is read
    const isClosing = (): boolean => this.isClosing;
    const reopen = (): void => this.states('idle');
    const place = { family: this.family, lead: LEAD_ID, view, handleOf, bring, isClosing, reopen };
    this.board = new TeamBoard(place, inner);
  }

  states(state: TeamMember['state']): void {
    this.members.splice(0, Infinity, ...this.members.map((member) => ({ ...member, state })));
  }

  #join(name: string): void {
    this.members.push({ name, agent: null, type: 'teammate', state: 'idle', plan: null, unread: 0 });
  }

  #desk(agent: AgentId): TaskDesk {
    return {
      get: async () => failure('not asked'),
      list: async () => failure('not asked'),
      create: async ({ subject, description }) => {
        const task = { number: this.tasks.length + 1, subject, description, status: 'pending', owner: null };
        this.tasks.push({ ...task, createdBy: 'lead' } as TeamTask); // nothing else of it is read
        return { content: 'ok' };
      },
      update: async ({ task, status, note }) => {
        const index = this.tasks.findIndex(({ number }) => number === task);
        const known = this.tasks[index];
        if (known === undefined || status === undefined) return failure('no such task');
        if (status === 'in_progress' && known.status !== 'pending') return failure('taken');
        const owner = status === 'in_progress' ? `member-${agent.split('.')[1]}` : known.owner;
        this.tasks[index] = { ...known, status, owner, note: note ?? null };
        return { content: 'ok' };
      },
    };
  }

  /** A member begins; what this returns ends its turn. */
  begin(number: number, result: Partial<AgentResult> = { status: 'done' }): () => void {
    const { checkout } = this;
    const spec = { id: id(`s.${number}`), name: `member-${number}` };
    const agent = { spec, checkout } as unknown as Agent; // what the board reads of it
    const run = this.family.team?.begin(agent);
    return () => run?.ended(result as AgentResult); // nothing else of it is read
  }

  update(number: number, task: number, status: TeamTask['status']): ReturnType<TaskDesk['update']> {
    const desk = this.family.team?.tasksFor(id(`s.${number}`), 'call', new AbortController().signal);
    return desk?.update({ task, status }) ?? Promise.reject(new Error('no team'));
  }
}

const order = (name: string): AttemptOrder =>
  ({ attempt: { name, base: `base of ${name}` }, task: { id: 'T', title: 'Write it' } }) as AttemptOrder; // what the board reads

const { signal } = new AbortController();

describe('OP-8: the list of a run', () => {
  test('a member that claims begins where the task does, and rests when its work is taken', async () => {
    const team = new ScriptedTeam();
    const claimed = team.board.claimant(order('T1-1'), 'Do it.', signal);
    const end = team.begin(1);
    await expect.poll(() => team.tasks.length).toBe(1);
    expect(await team.update(1, 1, 'in_progress')).toEqual({ content: 'ok' });
    expect(await claimed).toMatchObject({ id: 's.1' });
    expect(team.brought).toEqual(['s.1 to base of T1-1']);
    expect(team.checkout.task).toBe('T Write it');
    await team.update(1, 1, 'completed');
    end();
    expect(team.rested).toEqual([]);
    team.board.over(order('T1-1'));
    expect(team.rested).toEqual(['member-1']);
  });

  test('one task in a turn; nothing is handed back, put on the list by a member, or claimed when it is withdrawn', async () => {
    const team = new ScriptedTeam();
    const off = new AbortController();
    const [first, second] = [
      team.board.claimant(order('T1-1'), '', signal),
      team.board.claimant(order('T2-1'), '', off.signal),
    ];
    team.begin(1);
    await expect.poll(() => team.tasks.length).toBe(2);
    await team.update(1, 1, 'in_progress');
    await first;
    expect(await team.update(1, 2, 'in_progress')).toMatchObject({
      ...{ isError: true, content: expect.stringContaining('Task 1 is enough for this turn') },
    });
    expect(await team.update(1, 1, 'pending')).toMatchObject({ isError: true });
    const desk = team.family.team?.tasksFor(id('s.1'), 'call', signal);
    expect(await desk?.create({ subject: 'More', description: '' })).toMatchObject({ isError: true });
    off.abort('skipped');
    expect(await second).toBeNull();
    team.begin(2);
    expect(await team.update(2, 2, 'in_progress')).toMatchObject({
      ...{ isError: true, content: 'Task 2 is withdrawn: end your turn.' },
    });
    expect(team.tasks[1]?.status).toBe('pending');
  });

  test('a worktree that cannot be brought there fails the task, and its member is let go', async () => {
    const team = new ScriptedTeam();
    team.trouble = 'no space';
    const claimed = team.board.claimant(order('T1-1'), '', signal);
    const end = team.begin(1);
    await expect.poll(() => team.tasks.length).toBe(1);
    expect(await team.update(1, 1, 'in_progress')).toMatchObject({ isError: true });
    await claimed;
    expect(team.tasks[0]).toMatchObject({ status: 'failed', note: expect.stringContaining('no space') });
    end();
    team.board.over(order('T1-1'));
    expect(team.rested).toEqual(['member-1']);
  });

  test('if members fail before they claim it, the reason is theirs; if they only leave it alone, nobody failed', async () => {
    for (const result of [
      { status: 'failed', cause: 'overloaded', message: 'try later' },
      { status: 'done' },
    ] as const) {
      const team = new ScriptedTeam();
      await team.board.addMembers(1);
      const found = team.board.claimant(order('T1-1'), '', signal);
      await expect.poll(() => team.tasks.length).toBe(1);
      team.begin(1, result)();
      await expect.poll(() => team.sent).toEqual([expect.stringContaining('member-1: Task 1 is free now.')]);
      team.begin(1, result)();
      expect(await found).toEqual({ refused: result });
      team.board[Symbol.dispose]();
    }
  });

  test('if every member was stopped, a task loses no try by it; a resumed run lets them work again', async () => {
    const team = new ScriptedTeam();
    await team.board.addMembers(2);
    const found = team.board.claimant(order('T1-1'), '', signal);
    await expect.poll(() => team.tasks.length).toBe(1);
    const end = team.begin(1, { status: 'interrupted' });
    team.states('stopped');
    end();
    expect(await found).toMatchObject({ refused: { status: 'interrupted', cause: 'members_stopped' } });
    await team.board.addMembers(2);
    expect(team.members.map(({ state }) => state)).toEqual(['idle', 'idle']);
  });

  test('members that end after the run, or while the session closes, are let go, and nobody reads the record for the next', async () => {
    for (const close of [
      (team: ScriptedTeam) => team.board[Symbol.dispose](),
      () => {}, // a session that is stopped in a hurry ends before its run
    ]) {
      const team = new ScriptedTeam();
      const end = team.begin(1);
      close(team);
      team.isClosing = true;
      end();
      await nextTurn();
      expect(team.rested).toEqual(['member-1']);
      expect(team.readsOfClosing).toBe(0);
      team.board[Symbol.dispose]();
    }
  });

  test('in a resumed run, entries of tries that are over are withdrawn', async () => {
    const team = new ScriptedTeam();
    const listed = { description: '', status: 'pending', owner: null, createdBy: 'lead' } as const;
    for (const name of ['T1-1', 'T1-2'])
      team.tasks.push({ ...listed, number: team.tasks.length + 1, subject: `${name} Write it` } as TeamTask); // nothing else of it is read
    team.board.withdrawBut(new Set(['T1-2']));
    team.begin(1);
    expect(await team.update(1, 1, 'in_progress')).toMatchObject({
      content: 'Task 1 is withdrawn: end your turn.',
    });
    const claimed = team.board.claimant(order('T1-2'), '', signal);
    expect(await team.update(1, 2, 'in_progress')).toEqual({ content: 'ok' });
    expect(await claimed).toMatchObject({ id: 's.1' });
  });

  test('an earlier process put it there: nothing is put twice, its owner is asked to resume, and members are added by name', async () => {
    const team = new ScriptedTeam();
    await team.board.addMembers(3);
    team.members.splice(1, 1);
    await team.board.addMembers(3);
    expect(team.members.map(({ name }) => name).toSorted()).toEqual(['member-1', 'member-2', 'member-3']);
    const task = { number: 1, subject: 'T1-1 Write it', description: '', status: 'in_progress' } as const;
    team.tasks.push({ ...task, owner: 'member-2', createdBy: 'lead' } as TeamTask); // nothing else of it is read
    const claimed = team.board.claimant(order('T1-1'), '', signal);
    await expect
      .poll(() => team.sent)
      .toEqual([expect.stringContaining('member-2: You were interrupted. Resume task 1')]);
    const end = team.begin(2);
    expect(await claimed).toMatchObject({ id: 's.2' });
    expect(team.tasks).toHaveLength(1);
    expect(team.board.isInTurn(1)).toBe(true);
    end();
    expect(team.board.isInTurn(1)).toBe(false);
    expect(team.rested).toEqual([]);
    team.board.over(order('T1-1'));
    expect(team.rested).toEqual(['member-2']);
  });
});
