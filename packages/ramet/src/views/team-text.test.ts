import { expect, test } from 'vitest';
import type { MemberState, TaskProof, TeamMember } from '../schema/team.ts';
import { taskTableText, teamListText, teamText } from './team-text.ts';

const member = (name: string, state: MemberState): TeamMember => ({
  ...{ name, state, agent: null, type: 'teammate', plan: null, unread: 0 },
});

function headOf(host: number | null, ...states: MemberState[]): string {
  return headWith({}, host, ...states);
}

function headWith(more: { isRun?: boolean }, host: number | null, ...states: MemberState[]): string {
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
