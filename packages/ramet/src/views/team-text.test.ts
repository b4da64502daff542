import { expect, test } from 'vitest';
import type { ShownMember, TaskProof } from '../schema/team.ts';
import { taskTableText, teamListText, teamRow, teamText } from './team-text.ts';

const member = (name: string, state: ShownMember['state'], cause: string | null = null): ShownMember => ({
  ...{ name, state, cause, agent: null, type: 'teammate', plan: null, unread: 0, branch: null },
});

function headOf(host: number | null, ...states: ShownMember['state'][]): string {
  return headWith({}, host, ...states);
}

function headWith(more: { isRun?: boolean }, host: number | null, ...states: ShownMember['state'][]): string {
  const members = [member('lead', 'idle'), ...states.map((state, index) => member(`m${index}`, state))];
  const shown = { name: 'crew', session: 'abc', host, isRun: false, members, tasks: [], plans: [], ...more };
  return teamText(shown).split('\n', 1)[0] ?? '';
}

test('TEAM-5: a team that nobody hosts names the command that resumes it; one that was stopped says so', () => {
  expect(headOf(null, 'idle', 'stopped')).toMatch(/no process hosts it: ramet team resume crew resumes it$/);
  expect(headOf(null)).toMatch(/no process hosts it/);
  expect(headOf(null, 'stopped', 'stopped')).toMatch(
    /it was stopped; ramet team resume crew lets its members work again$/,
  );
  expect(headOf(12, 'stopped')).toMatch(/process 12$/);
  expect(headWith({ isRun: true }, null, 'stopped')).toMatch(
    /no process hosts it; ramet operate status --session abc shows its run$/,
  );
});

test('TEAM-3: where commands ran and no file tool did, no number of files is given', () => {
  const shown = (proof: TaskProof) =>
    taskTableText([
      {
        ...{ number: 1, subject: 'one', description: '', status: 'completed', owner: 'ada', needs: [] },
        ...{ blockedBy: [], createdBy: 'lead', evidence: 'done', note: null, proof },
      },
    ]);
  const commands = [{ command: 'echo x > made.txt', exit: 0 }];
  expect(shown({ files: [], commands })).toMatch(/ 1 command: done/);
  expect(shown({ files: [], commands })).not.toContain('0 files');
  expect(shown({ files: ['a.txt'], commands })).toMatch(/ 1 file, 1 command: done/);
  expect(shown({ files: [], commands: [] })).toMatch(/ 0 files, 0 commands: done/);
});

test('one member is not several', () => {
  const shown = { name: 'crew', session: 'abc', host: null, isRun: false, tasks: [], plans: [] };
  const members = [member('lead', 'idle'), member('ada', 'idle')];
  expect(teamListText([{ ...shown, members }])).toMatch(/ 1 member /);
});

test('AGENT-5: each member is shown with what it is and why, and a list of teams counts them', () => {
  const members = [
    member('lead', 'waiting', 'children'),
    member('ada', 'blocked', 'permission'),
    member('bob', 'queued', 'capacity'),
    member('cyd', 'blocked', 'permission'),
    member('dan', 'interrupted', 'process_ended'),
  ];
  const shown = { name: 'crew', session: 'abc', host: 1, isRun: false, tasks: [], plans: [], members };
  const text = teamText(shown);
  expect(text).toMatch(/^ {2}lead +waiting: children +teammate/m);
  expect(text).toMatch(/^ {2}ada +blocked: permission +teammate/m);
  expect(text).toMatch(/^ {2}dan +interrupted +teammate/m);
  expect(teamRow(shown)).toBe(
    'crew: lead · ada blocked: permission · bob queued: capacity · cyd blocked: permission · dan interrupted',
  );
  expect(teamListText([shown])).toMatch(/ 2 blocked, 1 queued, 1 interrupted /);
});

test('TEAM-1: the branch of each member is shown: after kills it need not be called like the member', () => {
  const ada = { ...member('ada', 'idle'), branch: 'ramet/ada-2' };
  const team = { name: 'crew', session: 'abc', host: 1, isRun: false, members: [ada], tasks: [], plans: [] };
  expect(teamText(team)).toMatch(/^ {2}ada +idle +teammate +ramet\/ada-2$/m);
});

test('TEAM-1: where rows are cut at the edge, what each member does and what is unread comes before the rest', () => {
  const long = {
    ...member('a very long name with spaces and 漢字 for trial', 'running'),
    unread: 2,
    branch: 'b',
  };
  const shown = { name: 'crew', session: 'abc', host: 1, isRun: false, tasks: [], plans: [] };
  const members = [member('lead', 'idle'), long];
  const [, , , lead = '', row = ''] = teamText({ ...shown, members }, 40).split('\n');
  expect(row).toMatch(/^ {2}a very lon.*… {2}running {2}2 unread {2}/);
  expect(lead.slice(0, 40)).toMatch(/ idle/);
  expect(teamText({ ...shown, members })).toContain('for trial  running');
});
