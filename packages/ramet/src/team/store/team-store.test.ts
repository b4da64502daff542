import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { thisProcess } from '../../system/processes/process-identity.ts';
import type { Problem } from './roster.ts';
import { TEAM_MIGRATIONS } from './team-schema.ts';
import { type StoredTeam, TeamStore } from './team-store.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-teams-'));
afterAll(() => rmSync(root, { recursive: true }));

const ME = thisProcess();
const DEAD = { pid: 2 ** 22 - 1, started: null };
let projects = 0;

function newProject(): string {
  const project = join(root, String(++projects));
  mkdirSync(project);
  return project;
}

function made<Result extends object>(result: Result | Problem): Result {
  if ('problem' in result) throw new Error(String(result.problem));
  return result;
}

function newTeam(...names: readonly string[]): StoredTeam & { project: string } {
  const project = newProject();
  const team = made(
    new TeamStore(project).create({ name: 'crew', session: 'aaaaaaaa', agent: 'aaaaaaaa.1' }),
  );
  for (const name of names) expect(team.roster.add({ name, type: 'teammate', agent: null })).toBeNull();
  return { ...team, project };
}

let calls = 0;

function send(
  team: StoredTeam,
  from: string | null,
  to: string,
  text: string,
): ReturnType<StoredTeam['mail']['send']> {
  return team.mail.send({ from, to, text, call: `call-${++calls}` });
}

function read(team: StoredTeam, name: string): [from: string | null, text: string][] {
  const found = team.mail.unread(name);
  const last = found.at(-1);
  if (last !== undefined) team.mail.advance(name, last.seq);
  return found.map(({ from, text }) => [from, text]);
}

describe('TEAM-1: the roster', () => {
  test('a team begins with its lead; one session has one team, and a name is used once', () => {
    using store = new TeamStore(newProject());
    const team = made(store.create({ name: 'Crew', session: 'aaaaaaaa', agent: 'aaaaaaaa.1' }));
    expect(team.roster.members()).toEqual([
      { name: 'lead', agent: 'aaaaaaaa.1', type: 'main', state: 'idle', plan: null, unread: 0 },
    ]);
    expect(store.create({ name: 'crew', session: 'bbbbbbbb', agent: null })).toEqual({
      problem: 'this repository has a team "Crew" already: `ramet team show Crew` shows it',
    });
    expect(store.create({ name: 'other', session: 'aaaaaaaa', agent: null })).toEqual({
      problem: 'session aaaaaaaa has a team "Crew" already: `ramet team show Crew` shows it',
    });
    expect(store.create({ name: '../x', session: 'cccccccc', agent: null })).toHaveProperty('problem');
    expect(store.find('CREW')?.record).toEqual(store.find('aaaaaaaa')?.record);
  });

  test('a name that is taken is refused, also in another case, also of a stopped member', () => {
    const team = newTeam('ada');
    expect(team.roster.add({ name: 'ADA', type: 'teammate', agent: null })).toEqual({
      problem: 'this team has a member "ada" (idle): choose another name',
    });
    team.roster.setState('ada', 'stopped');
    expect(team.roster.add({ name: 'ada', type: 'teammate', agent: null })).toHaveProperty('problem');
    expect(team.roster.setState('ada', 'working')).toBe(false);
  });

  test('one living process hosts a team; what a dead one was at has ended', () => {
    const team = newTeam('ada');
    expect(team.roster.host(DEAD)).toBeNull();
    team.roster.setState('ada', 'working');
    expect(team.roster.host(ME)).toBeNull();
    expect(team.roster.find('ada')?.state).toBe('idle');
    expect(team.roster.host({ pid: 1, started: null })).toEqual({
      problem: `process ${ME.pid} hosts this team: end it, or write to the team with \`ramet team send\``,
    });
    team.roster.leave(ME);
    expect(team.roster.hostNow()).toBeNull();
  });
});

describe('TEAM-2: mailboxes', () => {
  test('messages arrive in order and once, also by broadcast, which its sender does not get', () => {
    const team = newTeam('ada', 'bob');
    send(team, 'ada', 'bob', 'one');
    send(team, 'lead', '*', 'two');
    send(team, null, 'bob', 'three');
    expect(send(team, 'ada', '*', 'four')).toMatchObject({ receivers: ['lead', 'bob'] });
    expect(read(team, 'bob')).toEqual([
      ['ada', 'one'],
      ['lead', 'two'],
      [null, 'three'],
      ['ada', 'four'],
    ]);
    expect(read(team, 'bob')).toEqual([]);
    expect(read(team, 'ada')).toEqual([['lead', 'two']]);
    expect(read(team, 'lead')).toEqual([['ada', 'four']]);
  });

  test('those for whom something waits are found among those who idle', () => {
    const team = newTeam('ada', 'bob', 'cy');
    const pending = (): unknown => team.roster.pending().map(({ name, unread }) => [name, unread]);
    expect(pending()).toEqual([]);
    send(team, 'ada', 'bob', 'one');
    expect(pending()).toEqual([['bob', 1]]);
    send(team, 'bob', '*', 'two');
    expect(pending()).toEqual([
      ['lead', 1],
      ['ada', 1],
      ['bob', 1],
      ['cy', 1],
    ]);
    for (const name of ['lead', 'ada', 'bob', 'cy']) read(team, name);
    expect(pending()).toEqual([]);
    team.roster.askToStop('cy');
    expect(pending()).toEqual([['cy', 0]]);
  });

  test('what was read and not in a request is read again', () => {
    const team = newTeam('ada');
    send(team, 'lead', 'ada', 'one');
    expect(team.mail.unread('ada')).toHaveLength(1);
    expect(team.mail.unread('ada')).toHaveLength(1);
    const [first] = team.mail.unread('ada');
    expect(team.mail.unread('ada', first?.seq)).toEqual([]);
    expect(team.roster.find('ada')?.unread).toBe(1);
    team.mail.advance('ada', first?.seq ?? 0);
    team.mail.advance('ada', 0);
    expect(team.roster.find('ada')?.unread).toBe(0);
  });

  test('a call that is repeated after a crash sends nothing again', () => {
    const team = newTeam('ada');
    const message = { from: 'lead', to: 'ada', text: 'once', call: 'aaaaaaaa.1:toolu_1' };
    expect(team.mail.send(message)).toEqual(team.mail.send(message));
    expect(read(team, 'ada')).toEqual([['lead', 'once']]);
  });

  test('a new member receives only what is sent from then on', () => {
    const team = newTeam('ada');
    send(team, 'ada', '*', 'before');
    team.roster.add({ name: 'bob', type: 'teammate', agent: null });
    send(team, 'ada', '*', 'after');
    expect(read(team, 'bob')).toEqual([['ada', 'after']]);
  });

  test('bad messages are refused in one line', () => {
    const team = newTeam('ada', 'bob');
    expect(send(team, 'ada', 'carl', 'x')).toEqual({
      problem: 'nobody here is called "carl"; there are lead, bob, * (everybody)',
    });
    expect(send(team, 'ada', 'Ada', 'x')).toEqual({ problem: 'that is you: name another member' });
    expect(send(team, 'ada', 'bob', ' ')).toEqual({ problem: 'the message is empty' });
    expect(send(team, 'ada', 'bob', 'x'.repeat(5_000_000))).toEqual({
      problem:
        'the message has 5000000 bytes, and at most 65536 are allowed: write it to a file and send the path',
    });
    team.roster.setState('bob', 'stopping');
    expect(send(team, 'ada', 'bob', 'x')).toEqual({
      problem: 'bob is shutting down and reads nothing more; there are lead, * (everybody)',
    });
    team.roster.setState('bob', 'stopped');
    expect(send(team, 'ada', 'bob', 'x')).toEqual({
      problem:
        'bob has been stopped and reads nothing until the team is resumed (ramet team resume); there are lead, * (everybody)',
    });
    expect(send(team, 'lead', 'bob', 'x')).toEqual({
      problem:
        'bob has been stopped and reads nothing until the team is resumed (ramet team resume); there are ada, * (everybody)',
    });
  });

  test('a message to everybody is not said to reach members that are shutting down', () => {
    const team = newTeam('ada', 'bob');
    team.roster.setState('bob', 'stopping');
    expect(send(team, 'lead', '*', 'x')).toMatchObject({ receivers: ['ada'] });
    team.roster.setState('ada', 'stopping');
    expect(send(team, 'lead', '*', 'x')).toEqual({ problem: 'nobody else in this team reads messages' });
    expect(send(team, 'lead', 'ada', 'x')).toEqual({
      problem: 'ada is shutting down and reads nothing more; nobody else in this team reads messages',
    });
  });

  test('a message to everybody is for those who are there: nobody finds it who was to end, or had ended', () => {
    const team = newTeam('ada', 'bob', 'cy');
    team.roster.askToStop('bob');
    team.roster.setState('cy', 'stopped');
    send(team, 'lead', '*', 'to those who are there');
    team.roster.setState('bob', 'stopped');
    send(team, 'lead', '*', 'again');
    team.roster.reopen();
    expect(team.roster.pending().map(({ name }) => name)).toEqual(['ada']);
    expect(team.roster.find('bob')?.unread).toBe(0);
    expect([read(team, 'bob'), read(team, 'cy')]).toEqual([[], []]);
    expect(read(team, 'ada')).toHaveLength(2);
    send(team, 'ada', '*', 'after');
    expect(team.roster.find('cy')?.unread).toBe(1);
    expect([read(team, 'bob'), read(team, 'cy')]).toEqual([[['ada', 'after']], [['ada', 'after']]]);
  });

  test('what was sent before its receiver was asked to end stays for it, also while others read on', () => {
    const team = newTeam('ada', 'bob');
    send(team, null, 'bob', 'one');
    send(team, null, '*', 'two');
    for (const missed of ['three', 'four']) {
      team.roster.askToStop('bob');
      send(team, 'ada', '*', missed);
      team.roster.setState('bob', 'stopped');
      // One transaction: each by itself waits for the disk.
      team.calls.once(missed, () => {
        for (let count = 0; count < 600; count++) send(team, null, 'ada', String(count));
        return null;
      });
      team.mail.advance('ada', 10_000);
      team.roster.reopen();
      expect(team.roster.find('bob')?.unread).toBe(2);
    }
    send(team, 'lead', 'bob', 'five');
    expect(read(team, 'bob')).toEqual([
      [null, 'one'],
      [null, 'two'],
      ['lead', 'five'],
    ]);
  });

  test('messages that nobody there has to read any more are pruned while a member is stopped', () => {
    const team = newTeam('ada', 'bob');
    send(team, 'ada', 'lead', 'not for bob');
    team.roster.askToStop('bob');
    team.roster.setState('bob', 'stopped');
    team.calls.once('all', () => {
      for (let count = 0; count < 600; count++) send(team, null, '*', String(count));
      return null;
    });
    for (const name of ['lead', 'ada']) team.mail.advance(name, 10_000);
    team.calls.once('more', () => {
      for (let count = 0; count < 600; count++) send(team, null, 'ada', String(count));
      return null;
    });
    using db = new DatabaseSync(join(team.project, 'teams.sqlite'), { readOnly: true });
    const left = Number(
      db.prepare("SELECT count(*) AS count FROM messages WHERE receiver = '*'").get()?.count,
    );
    expect(left).toBe(0);
  });

  test('a task is given to no member that is shutting down', () => {
    const team = newTeam('ada', 'bob');
    team.roster.setState('bob', 'stopping');
    const task = { subject: 'one', description: '', owner: 'bob' };
    expect(team.tasks.create('lead', task)).toEqual({
      problem: '"bob" takes no tasks; there are lead, ada',
    });
  });

  test('one look is bounded, and the rest follows', () => {
    const team = newTeam('ada');
    for (let count = 0; count < 10; count++) send(team, 'lead', 'ada', 'x'.repeat(60_000));
    // 128 KB in any script, and at least one.
    expect(read(team, 'ada')).toHaveLength(2);
    send(team, 'lead', 'ada', '\u8a71'.repeat(20_000));
    for (let count = 0; count < 150; count++) send(team, 'lead', 'ada', String(count));
    const looks = Array.from({ length: 6 }, () => read(team, 'ada').length);
    expect(looks).toEqual([2, 2, 2, 2, 100, 51]);
  });

  test("what everybody has been told is pruned; the rest, and each sender's last ones, stay", () => {
    const team = newTeam('ada', 'bob');
    const last = { from: 'bob', to: 'ada', text: 'of bob', call: 'bob-1' };
    team.mail.send(last);
    for (let count = 0; count < 600; count++) {
      send(team, 'lead', 'ada', String(count));
      if (count % 50 === 0) read(team, 'ada');
    }
    using db = new DatabaseSync(join(team.project, 'teams.sqlite'), { readOnly: true });
    const left = Number(db.prepare('SELECT count(*) AS count FROM messages').get()?.count);
    expect(left).toBeLessThan(300);
    expect(team.mail.send(last)).toMatchObject({ seq: 1 });
    const unread = [read(team, 'ada'), read(team, 'ada')].flat();
    expect(unread.at(-1)).toEqual(['lead', '599']);
  });

  test('the calls of one response find their messages again, also when some were pruned in between', () => {
    const team = newTeam('ada');
    // One transaction: each by itself waits for the disk.
    team.calls.once('all', () => {
      for (let count = 1; count < 490; count++) send(team, null, 'ada', String(count));
      return null;
    });
    const calls = Array.from({ length: 20 }, (_, at) => ({
      ...{ from: 'lead', to: 'ada', text: `part ${at}`, call: `response-${at}` },
    }));
    const sendAll = () =>
      calls.map((one) => {
        const { seq } = made(team.mail.send(one));
        team.mail.advance('ada', seq);
        return seq;
      });
    expect(sendAll()).toEqual(sendAll());
  });
});

describe('TEAM-3: the task list', () => {
  const task = (team: StoredTeam, subject: string, needs: number[] = []): number =>
    made(team.tasks.create('lead', { subject, description: '', needs })).task.number;

  test('a claim takes a free task, what is assigned to another is not free, and nothing is taken twice', () => {
    const team = newTeam('ada', 'bob');
    for (const subject of ['one', 'two', 'three']) task(team, subject);
    made(team.tasks.create('lead', { subject: 'for bob', description: '', owner: 'bob' }));
    expect([team.tasks.free('ada'), team.tasks.free('bob')]).toEqual([
      [1, 2, 3],
      [1, 2, 3, 4],
    ]);
    const { task: first } = made(team.tasks.claim(1, 'ada', ME));
    expect(first).toMatchObject({ number: 1, owner: 'ada', status: 'in_progress' });
    expect(team.tasks.claim(4, 'ada', ME)).toEqual({ problem: 'task 4 is taken: it is assigned to bob' });
    expect(made(team.tasks.claim(4, 'bob', ME)).task.owner).toBe('bob');
    expect(team.tasks.claim(1, 'bob', ME)).toEqual({ problem: 'task 1 is taken by ada' });
    expect(made(team.tasks.claim(3, 'bob', ME)).task.owner).toBe('bob');
    expect(team.tasks.free()).toEqual([2]);
    expect(team.tasks.claim(9, 'bob', ME)).toEqual({
      problem: 'there is no task 9; the tasks are numbered up to 4',
    });
    made(team.tasks.claim(2, 'ada', ME));
    expect(team.tasks.free('ada')).toEqual([]);
  });

  test('a claim that is made again changes nothing, and says what the task needs', () => {
    const team = newTeam('ada', 'bob');
    for (const subject of ['one', 'two']) {
      task(team, subject);
      made(team.tasks.claim(subject === 'one' ? 1 : 2, 'lead', ME));
      made(team.tasks.end(subject === 'one' ? 1 : 2, 'lead', { status: 'completed', evidence: 'seen' }));
    }
    task(team, 'three', [2, 1]);
    const first = made(team.tasks.claim(3, 'ada', { ...ME, position: 7 }));
    expect(first.task).toMatchObject({ owner: 'ada', needs: [1, 2], blockedBy: [] });
    expect(team.tasks.claim(3, 'ada', { ...ME, position: 9 })).toEqual(first);
    expect(team.tasks.positionOf(3)).toBe(7);
    expect([team.tasks.heldBy('ada'), team.tasks.heldBy('bob')]).toEqual([[3], []]);
  });

  test('finishing frees what waits for it, says whom to wake, and keeps the evidence', () => {
    const team = newTeam('ada', 'bob');
    task(team, 'one');
    task(team, 'two');
    task(team, 'three', [1, 2]);
    made(team.tasks.claim(1, 'ada', ME));
    made(team.tasks.claim(2, 'ada', ME));
    expect(team.tasks.claim(3, 'bob', ME)).toEqual({ problem: 'task 3 waits for tasks 1, 2' });
    expect(made(team.tasks.end(1, 'ada', { status: 'completed', evidence: 'npm test: 0' }))).toMatchObject({
      task: { status: 'completed', evidence: 'npm test: 0' },
      freed: [],
      wake: [],
    });
    expect(team.tasks.find(3)).toMatchObject({ needs: [1, 2], blockedBy: [2] });
    expect(made(team.tasks.end(2, 'ada', { status: 'completed' }))).toMatchObject({
      freed: [{ number: 3, blockedBy: [] }],
      wake: ['ada'],
    });
    expect(team.tasks.all().map(({ number, blockedBy }) => [number, blockedBy])).toEqual([
      [1, []],
      [2, []],
      [3, []],
    ]);
  });

  test('a failed task frees nothing, and its owner or the lead puts it back', () => {
    const team = newTeam('ada', 'bob');
    task(team, 'one');
    task(team, 'two', [1]);
    made(team.tasks.claim(1, 'ada', ME));
    expect(made(team.tasks.end(1, 'ada', { status: 'failed', note: 'no key' })).freed).toEqual([]);
    expect(team.tasks.claim(2, 'bob', ME)).toHaveProperty('problem');
    expect(made(team.tasks.release(1, 'lead', 'the key is there')).task).toMatchObject({
      status: 'pending',
      owner: null,
    });
    expect(team.tasks.changes().map(({ by, what }) => [by, what])).toEqual([
      ['lead', 'retried'],
      ['lead', 'overridden'],
    ]);
  });

  test('evidence and notes are bounded like every other text', () => {
    const team = newTeam('ada');
    task(team, 'one');
    made(team.tasks.claim(1, 'ada', ME));
    const long = 'x'.repeat(70_000);
    const refused = expect.stringMatching(/has 70000 characters, and at most 65536 are allowed: write it to/);
    expect(team.tasks.end(1, 'ada', { status: 'completed', evidence: long })).toEqual({ problem: refused });
    expect(team.tasks.end(1, 'ada', { status: 'failed', note: long })).toEqual({ problem: refused });
    expect(team.tasks.release(1, 'ada', long)).toEqual({ problem: refused });
    expect(team.tasks.find(1)).toMatchObject({ status: 'in_progress', evidence: null });
  });

  test('others may not change a task; the lead may, and it is noted', () => {
    const team = newTeam('ada', 'bob');
    task(team, 'one');
    made(team.tasks.claim(1, 'ada', ME));
    expect(team.tasks.end(1, 'bob', { status: 'completed' })).toEqual({
      problem: "cannot end task 1: it is ada's; only ada or lead may",
    });
    expect(team.tasks.edit(1, 'bob', { subject: 'mine' })).toHaveProperty('problem');
    expect(team.tasks.changes()).toEqual([]);
    made(team.tasks.end(1, 'lead', { status: 'completed' }));
    expect(team.tasks.changes()).toEqual([
      { task: 1, by: 'lead', what: 'overridden', detail: "end; it was ada's" },
    ]);
  });

  test('cycles and missing dependencies are refused, with the path, and change nothing', () => {
    const team = newTeam();
    task(team, 'one');
    task(team, 'two', [1]);
    task(team, 'three', [2]);
    expect(team.tasks.edit(1, 'lead', { subject: 'new', addNeeds: [3] })).toEqual({
      problem: 'task 1 cannot need task 3: that is a cycle (1 needs 3 needs 2 needs 1)',
    });
    expect(team.tasks.edit(1, 'lead', { addNeeds: [1] })).toHaveProperty('problem');
    expect(team.tasks.create('lead', { subject: 'x', description: '', needs: [1, 8] })).toEqual({
      problem: 'there is no task 8 to depend on; the tasks are numbered up to 3',
    });
    expect(team.tasks.find(1)).toMatchObject({ subject: 'one', needs: [] });
  });

  test('a task that is only proposed is seen, claimed and needed by nobody before it is accepted', () => {
    const team = newTeam('ada');
    task(team, 'one');
    const order = { subject: 'two', description: '', needs: [1], isProposed: true };
    expect(made(team.tasks.create('ada', order)).task).toMatchObject({ number: 2, status: 'pending' });
    using store = new TeamStore(team.project);
    for (const { tasks } of [team, store.find('crew') ?? team]) {
      expect([tasks.isProposed(1), tasks.isProposed(2)]).toEqual([false, true]);
      expect([tasks.find(2), tasks.all().length, tasks.free()]).toEqual([undefined, 1, [1]]);
      expect(tasks.claim(2, 'ada', ME)).toHaveProperty('problem');
      expect(tasks.edit(2, 'lead', { subject: 'mine' })).toHaveProperty('problem');
      expect(tasks.create('lead', { subject: 'x', description: '', needs: [2] })).toHaveProperty('problem');
    }
    made(team.tasks.claim(1, 'ada', ME));
    expect(made(team.tasks.end(1, 'ada', { status: 'completed' })).freed).toEqual([]);
    team.tasks.accept(2);
    expect(team.tasks.find(2)).toMatchObject({ status: 'pending', needs: [1], blockedBy: [] });
    made(team.tasks.create('ada', { ...order, needs: [] }));
    team.tasks.refuse(3, 'ada');
    team.tasks.refuse(2, 'ada');
    expect(team.tasks.all().map(({ number }) => number)).toEqual([1, 2]);
    // A number is never used again.
    expect(task(team, 'four')).toBe(4);
  });

  test('claims of dead processes are released, and their next host can adopt them first', () => {
    const team = newTeam('ada', 'bob');
    for (const subject of ['one', 'two', 'three']) task(team, subject);
    made(team.tasks.claim(1, 'ada', DEAD));
    made(team.tasks.claim(2, 'bob', DEAD));
    made(team.tasks.claim(3, 'lead', ME));
    team.tasks.adopt('ada', ME);
    const { released, wake } = team.tasks.releaseDead('lead');
    expect(released.map(({ number, note }) => [number, note])).toEqual([
      [2, 'the process that had claimed it has ended'],
    ]);
    expect(wake).toEqual(['ada']);
    expect(team.tasks.changes()).toEqual([
      { task: 2, by: 'lead', what: 'released', detail: 'bob: the process that had claimed it has ended' },
    ]);
    expect(team.tasks.releaseDead('lead').released).toEqual([]);
    expect(team.tasks.releaseOf('ada', 'it was stopped').released.map(({ number }) => number)).toEqual([1]);
  });
});

describe('TEAM-5: the file', () => {
  test('is private, and another process finds in it what was written', () => {
    const team = newTeam('ada');
    send(team, 'lead', 'ada', 'hello');
    expect(statSync(join(team.project, 'teams.sqlite')).mode & 0o777).toBe(0o600);
    using again = new TeamStore(team.project);
    const found = again.find('crew');
    expect(found?.mail.unread('ada')).toMatchObject([{ from: 'lead', text: 'hello' }]);
  });

  test('of the version before is brought to this one, with everything in it', () => {
    const project = newProject();
    const file = join(project, 'teams.sqlite');
    const db = new DatabaseSync(file);
    for (const migration of TEAM_MIGRATIONS.slice(0, -1)) db.exec(migration);
    db.exec(`PRAGMA user_version = ${TEAM_MIGRATIONS.length - 1};
      INSERT INTO teams (key, name, session, created) VALUES ('crew', 'crew', 'aaaaaaaa', 1);
      INSERT INTO members (team, key, name, agent, type, state, cursor) VALUES
        (1, 'lead', 'lead', 'aaaaaaaa.1', 'main', 'idle', 0), (1, 'ada', 'ada', 'aaaaaaaa.2', 'teammate', 'idle', 0),
        (1, 'bob', 'bob', 'aaaaaaaa.3', 'teammate', 'stopped', 0);
      INSERT INTO messages (team, call, sender, receiver, text) VALUES (1, 'c1', 'lead', 'ada', 'an old letter');
      INSERT INTO tasks (team, number, subject, description, status, blockers, created_by)
        VALUES (1, 1, 'an old task', '', 'pending', 0, 'lead')`);
    db.close();
    using store = new TeamStore(project);
    const team = store.find('crew');
    if (team === undefined) throw new Error('the team is gone');
    expect(read(team, 'ada')).toEqual([['lead', 'an old letter']]);
    expect(made(team.tasks.claim(1, 'ada', { ...ME, position: 7 })).task).toMatchObject({ owner: 'ada' });
    expect(team.tasks.positionOf(1)).toBe(7);
    send(team, 'ada', '*', 'to those who are there');
    team.roster.reopen();
    expect(read(team, 'bob')).toEqual([]);
  });

  test('from a newer version is refused and left as it is', () => {
    const { project } = newTeam();
    const file = join(project, 'teams.sqlite');
    const db = new DatabaseSync(file);
    db.exec('PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    const before = readFileSync(file);
    expect(() => new TeamStore(project)).toThrow(
      `${file} has schema version 99 and this ramet knows up to ${TEAM_MIGRATIONS.length}: update ramet to use it`,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('that is damaged is explained in one line and left as it is', () => {
    const project = newProject();
    const file = join(project, 'teams.sqlite');
    writeFileSync(file, 'this is no database, '.repeat(500));
    const before = readFileSync(file);
    expect(() => new TeamStore(project)).toThrow(
      `cannot use the teams of this repository in ${file}: it is damaged, or not a database; put a copy back, or move it away to begin without teams (sessions stay)`,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('that is a directory is explained', () => {
    const project = newProject();
    mkdirSync(join(project, 'teams.sqlite'));
    expect(() => new TeamStore(project)).toThrow('it is a directory; move it away');
  });
});

describe('TEAM-2, TEAM-5: calls that are made again after a kill', () => {
  test('find what they did, and change nothing a second time', () => {
    const team = newTeam('ada');
    const create = () =>
      team.calls.once('ada:1', () => team.tasks.create('ada', { subject: 'x', description: '' }));
    const first = made(create());
    expect(create()).toEqual(first);
    expect(team.tasks.all()).toHaveLength(1);
    const claim = () => team.calls.once('ada:2', () => team.tasks.claim(1, 'ada', ME));
    expect(claim()).toEqual(claim());
    expect(made(claim()).task).toMatchObject({ owner: 'ada', status: 'in_progress' });
    expect([team.calls.isFirst('ada:3'), team.calls.isFirst('ada:3')]).toEqual([true, false]);
  });

  test('find it also after another team of the repository has made thousands', () => {
    const team = newTeam('ada');
    const claim = () => team.calls.once('ada:1', () => `claimed ${Math.random()}`);
    const first = claim();
    using store = new TeamStore(team.project);
    const other = made(store.create({ name: 'other', session: 'bbbbbbbb', agent: 'bbbbbbbb.1' }));
    other.calls.once('all', () => {
      for (let count = 0; count < 6_000; count++) other.calls.isFirst(`call ${count}`);
      return null;
    });
    expect(claim()).toBe(first);
    expect(other.calls.isFirst('call 0')).toBe(true);
  });

  test('leave nothing of a change that failed', () => {
    const team = newTeam('ada');
    const failing = (): void => {
      made(team.tasks.create('ada', { subject: 'x', description: '' }));
      throw new Error('no');
    };
    expect(() => team.calls.once('ada:1', failing)).toThrow('no');
    expect(team.tasks.all()).toEqual([]);
    expect(team.calls.isFirst('ada:1')).toBe(true);
  });

  test('a message that was sent is not refused because its receiver has ended since', () => {
    const team = newTeam('ada');
    const letter = { from: 'lead', to: 'ada', text: 'hello', call: 'lead:1' };
    const { seq } = made(team.mail.send(letter));
    team.roster.setState('ada', 'stopped');
    expect(team.mail.send(letter)).toEqual({ seq, receivers: ['ada'] });
  });
});

describe('TEAM-3: a claim of a process that is dead', () => {
  test('gives way to the next who claims, and is noted', () => {
    const team = newTeam('ada', 'bob');
    for (const subject of ['one', 'two']) made(team.tasks.create('lead', { subject, description: '' }));
    for (const number of [1, 2]) made(team.tasks.claim(number, 'ada', DEAD));
    expect(made(team.tasks.claim(1, 'bob', ME)).task).toMatchObject({ owner: 'bob', status: 'in_progress' });
    expect(team.tasks.claim(1, 'ada', ME)).toEqual({ problem: 'task 1 is taken by bob' });
    // The other claims of the same process went with it.
    expect(team.tasks.free()).toEqual([2]);
    expect(team.tasks.changes().map(({ task, what }) => `${task} ${what}`)).toEqual([
      '1 released',
      '2 released',
    ]);
  });
});

function raise(): never {
  throw new Error('it is not there');
}

describe('TEAM-5: clocks', () => {
  test('decide nothing: a clock that runs backwards changes no order', () => {
    let now = 1_000_000;
    using store = new TeamStore(newProject(), () => (now -= 10_000));
    const team = made(store.create({ name: 'crew', session: 'aaaaaaaa', agent: 'aaaaaaaa.1' }));
    team.roster.add({ name: 'ada', type: 'teammate', agent: null });
    for (const text of ['one', 'two', 'three']) made(send(team, 'lead', 'ada', text));
    expect(read(team, 'ada').map(([, text]) => text)).toEqual(['one', 'two', 'three']);
    for (const subject of ['a', 'b']) made(team.tasks.create('lead', { subject, description: '' }));
    expect(team.tasks.free()).toEqual([1, 2]);
  });

  test('of two processes that are hours apart change no order, no claim and no host', () => {
    const project = newProject();
    const hour = 3_600_000;
    let ahead = hour;
    using early = new TeamStore(project, () => 10 * hour);
    using late = new TeamStore(project, () => 10 * hour + ahead);
    made(early.create({ name: 'crew', session: 'aaaaaaaa', agent: 'aaaaaaaa.1' }));
    const sides = [early, late].map((store) => store.find('crew') ?? raise());
    const [one = raise(), other = raise()] = sides;
    one.roster.add({ name: 'ada', type: 'teammate', agent: null });
    expect(one.roster.host(ME)).toBeNull();
    expect(other.roster.hostNow()).toEqual(ME);
    for (const text of ['1', '2', '3', '4', '5', '6']) {
      // One side is ahead, then behind.
      ahead = -ahead;
      made(send(sides[Number(text) % 2] ?? raise(), 'lead', 'ada', text));
    }
    expect(read(other, 'ada').map(([, text]) => text)).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(read(one, 'ada')).toEqual([]);
    for (const [at, team] of sides.entries())
      made(team.tasks.create('lead', { subject: `${at}`, description: '' }));
    made(one.tasks.claim(1, 'ada', ME));
    expect(other.tasks.claim(1, 'lead', ME)).toEqual({ problem: 'task 1 is taken by ada' });
    expect(other.tasks.releaseDead('lead').released).toEqual([]);
    made(other.tasks.end(1, 'lead', { status: 'failed' }));
    made(one.tasks.release(1, 'lead', 'again'));
    expect(other.tasks.changes().map(({ what }) => what)).toEqual(['overridden', 'retried', 'overridden']);
    expect(one.tasks.free()).toEqual([1, 2]);
  });
});

test('TEAM-4: who answers a plan answers the one that was read, and no later one', () => {
  const team = newTeam();
  expect(team.roster.add({ name: 'ada', type: 'teammate', agent: null, plan: 'required' })).toBeNull();
  const answer = (more: { by: string | null; plan?: string }) =>
    team.plans.answer({ member: 'ada', approve: true, call: `call-${++calls}`, ...more });
  team.plans.submit('ada', 'one', 'c1');
  team.plans.passToLead();
  read(team, 'lead');
  team.plans.submit('ada', 'two', 'c2');
  team.plans.passToLead();
  const another = { problem: 'ada has given another plan since: read that one first' };
  expect(answer({ by: 'lead' })).toEqual(another);
  expect(answer({ by: null, plan: 'c1' })).toEqual(another);
  expect(team.roster.find('ada')?.plan).toBe('sent');
  read(team, 'lead');
  expect(answer({ by: 'lead' })).toHaveProperty('receivers');
  expect(team.roster.find('ada')?.plan).toBe('approved');
});
