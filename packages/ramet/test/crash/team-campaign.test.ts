/** A short team campaign, and its checks shown to fail: each defect is planted into the evidence of a sound round. */
import { describe, expect, test } from 'vitest';
import { runTeamCampaign, teamCampaignReport } from '../../../../campaigns/team/campaign.ts';
import { CHECKS, problemsOf, type TeamEvidence } from '../../../../campaigns/team/checks.ts';
import { lettersOf, memberNames, type TeamPlan, taskNumbers } from '../../../../campaigns/team/plan.ts';
import { fileOf } from '../../../../campaigns/team/scripted-team.ts';

describe('TEAM-2, TEAM-3, TEAM-5: a short team campaign', () => {
  test('accounts for every letter, claim, task and file', { timeout: 240_000 }, async () => {
    // This seed begins with a small team of each executor; `npm run campaign:team` takes others, and many more kills.
    const result = await runTeamCampaign({ kills: 4, seed: 9, parallel: 2, minutes: 3, mostKills: 5 });
    const problems = result.rounds.flatMap((round) => round.problems);
    expect(problems, teamCampaignReport(result)).toEqual([]);
  });
});

const plan: TeamPlan = { name: 'small', members: 3, letters: 2, executor: 'in-process' };

function soundEvidence(): TeamEvidence {
  const names = memberNames(plan);
  const byReceiver = Map.groupBy(lettersOf(plan), ({ to }) => to);
  const told = new Map([...byReceiver].map(([who, all]) => [who, all.map(({ text }) => text).join('\n')]));
  const calls = taskNumbers(plan).flatMap((task) => [
    { who: 'm0', key: 'TaskUpdate {"status":"in_progress"}', result: `Task ${task} is yours.` },
    { who: 'm0', key: 'TaskUpdate {"status":"completed"}', result: `Task ${task} is completed.` },
  ]);
  const member = (name: string) => ({
    ...{
      name,
      agent: null,
      type: 'teammate',
      state: 'idle' as const,
      cause: null,
      plan: null,
      unread: 0,
      branch: null,
    },
  });
  const task = (number: number) => ({
    ...{ number, subject: '', description: '', status: 'completed' as const, owner: 'm0', createdBy: 'lead' },
    ...{ needs: [], blockedBy: [], evidence: null, proof: null, note: null },
  });
  return {
    plan,
    end: { code: 0, signal: null, stdout: '', stderr: '', hung: false, ms: 0 },
    team: {
      ...{ name: 'crew', session: 'aaaaaaaa', host: null, isRun: false, plans: [] },
      members: ['lead', ...names].map(member),
      tasks: taskNumbers(plan).map(task),
    },
    outside: [],
    told,
    forgotten: [],
    received: new Map([['m0', [1, 2, 3]]]),
    calls,
    files: new Map(taskNumbers(plan).map((number) => [fileOf(number), [`/m0/${fileOf(number)}`]])),
    processes: [],
  };
}

const DEFECTS: Record<keyof typeof CHECKS & string, (evidence: TeamEvidence) => Partial<TeamEvidence>> = {
  'the last process ends well': ({ end }) => ({ end: { ...end, code: 1 } }),
  'every letter is in a request, once': ({ told }) => ({
    told: changed(told, (text) => text.replace(/.*\n/, '')),
  }),
  'letters of a pair keep their order': ({ told }) => ({
    told: changed(told, (text) => text.split('\n').reverse().join('\n')),
  }),
  'no request forgets a letter': () => ({ forgotten: ['m0: letter m1 1 0;'] }),
  'no record receives a message twice': () => ({ received: new Map([['m0', [1, 2, 2]]]) }),
  'no mailbox has unread letters': ({ team }) => ({
    team: { ...team, members: team.members.map((one) => ({ ...one, unread: 1 })) },
  }),
  'every claim has one winner': ({ calls }) => ({
    calls: [...calls, { who: 'm1', key: 'TaskUpdate {"status":"in_progress"}', result: 'Task 1 is yours.' }],
  }),
  'every task is done, once': ({ team }) => ({ team: { ...team, tasks: team.tasks.slice(1) } }),
  'every file is there': () => ({ files: new Map() }),
  'the engine knows what its own calls did': ({ calls }) => ({
    calls: [...calls, { who: 'm1', key: 'SendMessage {}', result: 'interrupted: may have taken effect' }],
  }),
  'members are there once': ({ team }) => ({ team: { ...team, members: team.members.slice(1) } }),
  'nothing is left running': () => ({ processes: ['1 node'] }),
};

function changed(told: TeamEvidence['told'], change: (text: string) => string): TeamEvidence['told'] {
  return new Map([...told].map(([who, text]) => [who, who === 'm0' ? change(text) : text]));
}

describe('the checks of the team campaign', () => {
  test('find nothing in a sound round', () => {
    expect(problemsOf(soundEvidence())).toEqual([]);
  });

  test.each(Object.keys(CHECKS))('%s', (name) => {
    const sound = soundEvidence();
    const planted = { ...sound, ...DEFECTS[name]?.(sound) };
    const found = new Set(problemsOf(planted).map((problem) => problem.slice(0, problem.indexOf(':'))));
    expect([...found]).toEqual([name]);
  });
});
