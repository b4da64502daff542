/** Teams with real processes: messages from other processes, a host that is killed, and its resume. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import type { RequestView } from '../../src/emulator/request-view.ts';
import { eventually } from '../fixtures/command.ts';
import { test, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];

type Request = NonNullable<Emulator['requests'][number]['request']>;
type Script = readonly (Answer | 'never')[];

const call = (name: string, input: Record<string, unknown>) => ({ name, input });
const uses = (...tool_use: ReturnType<typeof call>[]): Answer => ({ tool_use });
const add = (name: string) =>
  call('Agent', { subagent_type: 'teammate', name, description: name, prompt: `You are ${name}. Wait.` });

function whoAsks({ messages }: Pick<Request, 'messages'>): string {
  return /You are (\w+)\. /.exec(JSON.stringify(messages[0]))?.[1] ?? 'lead';
}

/** Answers of each agent by turn; `never` waits until the emulator is closed. */
async function play(user: User, scripts: Record<string, Script>): Promise<Emulator> {
  const over = Promise.withResolvers<Answer>();
  const respond = (view: RequestView): Answer | Promise<Answer> => {
    const answer = scripts[whoAsks(view.request)]?.[view.turn] ?? { text: 'Done.' };
    return answer === 'never' ? over.promise : answer;
  };
  const emulator = await user.emulate({ respond });
  const { close } = emulator;
  return Object.assign(emulator, {
    close: () => {
      over.resolve({ text: 'over' });
      return close();
    },
  });
}

function asked(emulator: Emulator, name: string): Request[] {
  return emulator.requests.flatMap(({ request }) => (request && whoAsks(request) === name ? [request] : []));
}

function times(request: Request | undefined, text: string): number {
  return JSON.stringify(request?.messages ?? []).split(text).length - 1;
}

function withoutSandbox(user: User): void {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
}

async function shown(user: User): Promise<{
  host: number | null;
  members: { name: string; state: string; unread: number }[];
  tasks: { owner: string; status: string }[];
}> {
  const { stdout, code } = await user.ramet(['team', 'show', '--json']);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

describe.concurrent('TEAM-2, TEAM-5: a team whose host is killed', () => {
  test('keeps members, messages and claims; what was sent meanwhile is read once, in order', async ({
    user,
  }) => {
    withoutSandbox(user);
    const first = await play(user, {
      lead: [uses(call('TaskCreate', { subject: 'one', description: '' }), add('ada'), add('bob'))],
      ada: [uses(call('TaskUpdate', { task: 1, status: 'in_progress' })), 'never'],
    });
    const running = user.start(['-p', 'Go.', '--team', 'crew', ...BYPASS]);
    await eventually(() => asked(first, 'ada').length === 2 && asked(first, 'bob').length === 1);
    expect(await user.ramet(['team', 'send', 'ada', 'letter', 'one'])).toMatchObject({
      code: 0,
      stdout: 'sent to ada\n',
      stderr: '',
    });
    // An idle member is woken by another process.
    expect(await user.ramet(['team', 'send', 'bob', 'letter for bob'])).toMatchObject({ code: 0 });
    await eventually(() => asked(first, 'bob').length === 2);
    expect(times(asked(first, 'bob')[1], 'letter for bob')).toBe(1);
    // Its second run is on record: nothing of it is to be resumed.
    while ((await shown(user)).members[2]?.state !== 'idle');
    running.kill('SIGKILL');
    await running.ended;
    expect(await shown(user)).toMatchObject({
      host: null,
      members: [
        { name: 'lead' },
        { name: 'ada', state: 'interrupted', unread: 1 },
        { name: 'bob', state: 'idle', unread: 0 },
      ],
      tasks: [{ owner: 'ada', status: 'in_progress' }],
    });
    const { stderr } = await user.ramet(['team', 'send', 'ada', 'letter two']);
    expect(stderr).toContain('no process hosts the team: it is read after ramet team resume crew');
    const second = await play(user, {});
    expect(await user.ramet(['team', 'resume', 'crew'])).toMatchObject({ code: 0 });
    const last = asked(second, 'ada').at(-1);
    expect([times(last, 'letter one'), times(last, 'letter two')]).toEqual([1, 1]);
    const texts = JSON.stringify(last?.messages);
    expect(texts.indexOf('letter one')).toBeLessThan(texts.indexOf('letter two'));
    expect(times(last, 'the command line, not the user')).toBe(2);
    expect(asked(second, 'bob')).toEqual([]);
    expect(await shown(user)).toMatchObject({
      host: null,
      members: [
        { name: 'lead', state: 'idle', unread: 0 },
        { name: 'ada', state: 'idle', unread: 0 },
        { name: 'bob', state: 'idle', unread: 0 },
      ],
      tasks: [{ owner: 'ada', status: 'in_progress' }],
    });
    const idle = await user.ramet(['team', 'resume', 'crew']);
    expect(idle).toMatchObject({ code: 0, stdout: expect.stringContaining('crew') });
    expect(idle.stderr).toContain('nothing was left to do');
    const shownTeam = await user.here(['team', 'resume', 'crew', '--json']);
    expect(shownTeam).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(shownTeam.stdout)).toMatchObject({ name: 'crew', host: null, members: [{}, {}, {}] });
  });
});

describe.concurrent('TEAM-4: ramet team stop', () => {
  test('ends members and lead from another process, also after the host was killed', async ({ user }) => {
    withoutSandbox(user);
    const first = await play(user, {
      lead: [uses(call('TaskCreate', { subject: 'one', description: '' }), add('ada')), 'never'],
      ada: [uses(call('TaskUpdate', { task: 1, status: 'in_progress' }))],
    });
    const running = user.start(['-p', 'Go.', '--team', 'crew', ...BYPASS]);
    await eventually(() => asked(first, 'ada').length === 2 && asked(first, 'lead').length === 2);
    expect(await user.ramet(['team', 'stop', '--member', 'bob'])).toMatchObject({
      code: 2,
      stderr: 'ramet: nobody here is called "bob"; there are lead, ada\n',
    });
    expect(await user.ramet(['team', 'stop', '--json'])).toMatchObject({
      code: 0,
      stdout: '{"team":"crew","asked":["ada"],"ended":true}\n',
    });
    await running.ended;
    expect(await shown(user)).toMatchObject({
      host: null,
      members: [{ name: 'lead' }, { name: 'ada', state: 'stopped' }],
      tasks: [{ owner: null, status: 'pending' }],
    });
    const second = await play(user, { lead: ['never', 'never', 'never'] });
    const again = user.start(['team', 'resume', 'crew']);
    await eventually(() => asked(second, 'lead').length === 1);
    expect((await shown(user)).members[1]).toMatchObject({ name: 'ada', state: 'idle' });
    again.kill('SIGKILL');
    await again.ended;
    expect(await user.ramet(['team', 'stop'])).toMatchObject({ code: 0, stdout: 'stopped ada\n' });
    expect(await user.ramet(['team', 'stop'])).toMatchObject({
      code: 0,
      stdout: 'nobody was left to stop\n',
    });
  });
});

describe.concurrent('TEAM-2: ramet team', () => {
  test('says what is wrong in one line', async ({ user }) => {
    withoutSandbox(user);
    expect(await user.here(['team'])).toMatchObject({
      code: 0,
      stdout: 'no team here: ramet team create NAME makes one\n',
    });
    expect(await user.here(['team', 'send', 'ada', 'x'])).toMatchObject({
      code: 2,
      stderr: 'ramet: this repository has no team: ramet team create NAME makes one\n',
    });
    await play(user, {});
    expect(await user.ramet(['-p', 'Go.', '--team', 'crew', ...BYPASS])).toMatchObject({ code: 0 });
    expect(await user.here(['team', 'send', 'ada', 'x'])).toMatchObject({
      code: 2,
      stderr: 'ramet: not sent: nobody here is called "ada"; there are lead, * (everybody)\n',
    });
    expect(await user.here(['team', 'show', 'other'])).toMatchObject({
      code: 2,
      stderr: 'ramet: there is no team "other"; the teams here are crew\n',
    });
    expect(await user.ramet(['-p', 'Go.', '--team', 'Crew', ...BYPASS])).toMatchObject({
      code: 2,
      stderr: 'ramet: this repository has a team "crew" already: `ramet team show crew` shows it\n',
    });
    expect((await user.here(['team', 'ls'])).stdout).toMatch(
      /^crew +\w{8} +no process +0 members +0 of 0 tasks completed$/m,
    );
  });
});

describe.concurrent('TEAM-4, TEAM-5: a plan that waits when its process is killed', () => {
  test('is shown and approved by command; after a resume the member carries it out', async ({ user }) => {
    withoutSandbox(user);
    const planner = (name: string) =>
      call('Agent', {
        ...{ subagent_type: 'planning-teammate', name, description: name },
        prompt: `You are ${name}. Write made.txt.`,
      });
    const plan = uses(call('TeamPlan', { plan: '1. Write made.txt.' }));
    const first = await play(user, {
      lead: [
        uses(planner('ada'), planner('eve'), planner('fay')),
        { text: 'Wait.' },
        'never',
        'never',
        'never',
      ],
      ...{ ada: [plan], eve: [plan], fay: [plan] },
    });
    const running = user.start(['-p', 'Go.', '--team', 'crew', ...BYPASS]);
    const planned = (): boolean => ['ada', 'eve', 'fay'].every((name) => asked(first, name).length === 2);
    await eventually(() => planned() && asked(first, 'lead').length >= 3);
    running.kill('SIGKILL');
    await running.ended;
    const { stdout } = await user.ramet(['team', 'show']);
    expect(stdout).toContain('plan sent');
    expect(stdout).toContain('plan of ada, which waits: ramet team approve ada\n  1. Write made.txt.');
    expect(await user.ramet(['team', 'approve', 'bob'])).toMatchObject({
      code: 2,
      stderr: 'ramet: no plan was answered: nobody here is called "bob"; there are ada, eve, fay\n',
    });
    expect(await user.ramet(['team', 'approve', 'ada'])).toMatchObject({
      code: 0,
      stdout: 'approved the plan of ada:\n  1. Write made.txt.\n',
      stderr: 'ramet: no process hosts the team: it is read after ramet team resume crew\n',
    });
    expect(await user.ramet(['team', 'reject', 'ada', '--reason', 'late'])).toMatchObject({
      code: 2,
      stderr: 'ramet: no plan was answered: ada has an approved plan already\n',
    });
    const answered = (member: string, approved: boolean): object => ({
      ...{ code: 0, stderr: '' },
      stdout: `${JSON.stringify({ team: 'crew', member, plan: '1. Write made.txt.', is_hosted: false, approved })}\n`,
    });
    expect(await user.here(['team', 'approve', 'fay', '--json'])).toMatchObject(answered('fay', true));
    const rejected = await user.here(['team', 'reject', 'eve', '--reason', 'ada does it', '--json']);
    expect(rejected).toMatchObject(answered('eve', false));
    const write = uses(call('Write', { file_path: 'made.txt', content: 'made\n' }));
    const second = await play(user, { ada: [{ text: 'Wait.' }, { text: 'Wait.' }, write] });
    const resumed = await user.ramet(['team', 'resume', 'crew', '--json']);
    expect(resumed).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(resumed.stdout)).toMatchObject({ type: 'result', subtype: 'success' });
    expect(JSON.stringify(asked(second, 'eve').at(-1)?.messages)).toContain('ada does it');
    const told = JSON.stringify(asked(second, 'ada').at(-1)?.messages);
    expect(told).toContain('A person approved your plan.');
    expect(told).toContain('Created made.txt');
  });
});

describe.concurrent('TEAM-5: a team that was made without a key', () => {
  test('says so, fails in plain words while a member begins, and works with a model that resuming names', async ({
    user,
  }) => {
    withoutSandbox(user);
    const key = user.env.ANTHROPIC_API_KEY;
    delete user.env.ANTHROPIC_API_KEY;
    const made = await user.ramet(['team', 'create', 'crew', '--member', 'ada']);
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('no key set') });
    expect(made.stderr).toContain('--model with ramet team resume crew');
    await user.ramet(['team', 'send', 'ada', 'hello']);
    const failed = await user.ramet(['team', 'resume']);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain('failed: recipe:');
    expect(failed.stderr).not.toContain('JournalError');
    user.env.ANTHROPIC_API_KEY = key;
    const emulator = await play(user, {});
    await user.ramet(['team', 'send', 'lead', 'What is left?']);
    expect(await user.ramet(['team', 'resume', '--model', 'sonnet'])).toMatchObject({ code: 0 });
    const told = emulator.requests.map(({ request }) => JSON.stringify(request?.messages ?? []));
    expect(told.filter((messages) => messages.includes('What is left?'))).not.toEqual([]);
  });
});
