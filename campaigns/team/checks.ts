/** What must hold when a team has done its work, however often it was killed. Each check says in a line what is wrong. */
import type { TeamReport } from '../../packages/ramet/src/sdk/calls/teams.ts';
import type { RunEnd } from '../kill/world.ts';
import { type Letter, lettersOf, memberNames, type TeamPlan, taskNumbers } from './plan.ts';
import { fileOf } from './scripted-team.ts';

/** A call of the team's tools, with what its agent was told about it. */
export interface TeamCall {
  who: string;
  key: string;
  result: string;
}

export interface TeamEvidence {
  plan: TeamPlan;
  end: RunEnd;
  team: TeamReport;
  /** Letters from outside the team, in the order of sending. */
  outside: readonly Letter[];
  /** The texts that each agent's last request holds, in order. */
  told: ReadonlyMap<string, string>;
  /** Letters that were in some earlier request and not in the last. */
  forgotten: readonly string[];
  /** The numbers of messages that each agent's record has received. */
  received: ReadonlyMap<string, readonly number[]>;
  calls: readonly TeamCall[];
  /** Paths of files by name, in every worktree. */
  files: ReadonlyMap<string, readonly string[]>;
  processes: readonly string[];
}

type Check = (evidence: TeamEvidence) => string[];

const MARK = /(?:letter|over|go) \w+ \d+(?: \d+)?;/g;

export const CHECKS: Readonly<Record<string, Check>> = {
  'the last process ends well': ({ end }) =>
    end.code === 0 && !end.hung
      ? []
      : [`${end.hung ? 'it hangs' : `code ${end.code}`}: ${JSON.stringify(end.stdout + end.stderr)}`],
  'every letter is in a request, once': lettersOnce,
  'letters of a pair keep their order': lettersOrdered,
  'no request forgets a letter': ({ forgotten }) => [...forgotten],
  'no record receives a message twice': ({ received }) =>
    [...received].flatMap(([who, seqs]) => repeated(seqs.map(String)).map((seq) => `${who} message ${seq}`)),
  'no mailbox has unread letters': ({ team }) =>
    team.members.flatMap(({ name, unread }) => (unread === 0 ? [] : [`${name} has ${unread}`])),
  'every claim has one winner': claimedOnce,
  'every task is done, once': tasksDone,
  'every file is there': ({ plan, files }) =>
    taskNumbers(plan).flatMap((task) => {
      const found = files.get(fileOf(task)) ?? [];
      return found.length === 1
        ? []
        : [`${fileOf(task)} is there ${found.length} times: ${found.join(', ')}`];
    }),
  'the engine knows what its own calls did': ({ calls }) =>
    calls
      .filter(({ result }) => /may have (?:run|taken effect)|interrupted/i.test(result))
      .map(({ who, key, result }) => `${who}: ${key}: ${result.slice(0, 120)}`),
  'members are there once': ({ plan, team }) => {
    const names = team.members
      .map(({ name }) => name)
      .sort()
      .join(' ');
    const wanted = ['lead', ...memberNames(plan)].sort().join(' ');
    return names === wanted ? [] : [names];
  },
  'nothing is left running': ({ processes }) => [...processes],
};

export function problemsOf(evidence: TeamEvidence): string[] {
  return Object.entries(CHECKS).flatMap(([name, check]) =>
    check(evidence).map((problem) => `${name}: ${problem}`),
  );
}

/** What each receiver is to be told. */
function letters({ plan, outside }: TeamEvidence): Map<string, Letter[]> {
  return Map.groupBy([...lettersOf(plan), ...outside], ({ to }) => to);
}

function lettersOnce(evidence: TeamEvidence): string[] {
  const wanted = letters(evidence);
  return ['lead', ...memberNames(evidence.plan)].flatMap((who) => {
    const found = marksIn(evidence.told.get(who) ?? '');
    const due = (wanted.get(who) ?? []).map(({ text }) => text);
    const missing = due.filter((text) => !found.includes(text)).map((text) => `${who} lacks ${text}`);
    const strange = found
      .filter((text) => !due.includes(text))
      .map((text) => `${who} was not to get ${text}`);
    return [...missing, ...strange, ...repeated(found).map((text) => `${who} twice ${text}`)];
  });
}

function lettersOrdered(evidence: TeamEvidence): string[] {
  return [...letters(evidence)].flatMap(([who, due]) => {
    const found = marksIn(evidence.told.get(who) ?? '');
    return [...Map.groupBy(due, ({ from }) => from)].flatMap(([from, sent]) => {
      const texts = sent.map(({ text }) => text);
      const came = found.filter((text) => texts.includes(text));
      // What the lead sends answers what it hears, in that order.
      const isKept = from === 'lead' || came.join() === texts.filter((text) => came.includes(text)).join();
      return isKept ? [] : [`${from} to ${who}: ${came.join(' ')}`];
    });
  });
}

export function marksIn(text: string): string[] {
  return text.match(MARK) ?? [];
}

function repeated(items: readonly string[]): string[] {
  return [...new Set(items.filter((item, at) => items.indexOf(item) !== at))];
}

function claimedOnce({ plan, calls }: TeamEvidence): string[] {
  return taskNumbers(plan).flatMap((task) => {
    const won = calls.filter(({ result }) => new RegExp(`^Task ${task} is yours\\b`).test(result));
    const winners = [...new Set(won.map(({ who }) => who))];
    return winners.length === 1 ? [] : [`task ${task}: ${winners.join(', ') || 'nobody'}`];
  });
}

function tasksDone({ plan, team, calls }: TeamEvidence): string[] {
  const found = team.tasks.map(({ number, status }) => `${number} ${status}`).join(', ');
  const wanted = taskNumbers(plan)
    .map((task) => `${task} completed`)
    .join(', ');
  const ends = calls.filter(({ key }) => key.includes('"completed"'));
  const twice = taskNumbers(plan).filter(
    (task) => ends.filter(({ result }) => result.startsWith(`Task ${task} is completed.`)).length !== 1,
  );
  return [
    ...(found === wanted ? [] : [found]),
    ...twice.map((task) => `task ${task} was not completed once`),
  ];
}
