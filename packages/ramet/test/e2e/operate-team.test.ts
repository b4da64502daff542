/** `ramet operate --pattern team`: members of a team do the tasks of a run, and the merge queue lands them. */
import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { eventually } from '../fixtures/command.ts';
import {
  type Asked,
  filesOn,
  operateHere,
  prepareRun,
  promptOf,
  statusesOf,
  writing,
} from '../fixtures/task-runs.ts';
import { test, type User } from '../fixtures/user.ts';
import { git, rametBranches } from '../fixtures/worktrees.ts';

const update = (input: Record<string, unknown>): Answer => ({ tool_use: [{ name: 'TaskUpdate', input }] });

interface Doing {
  /** The try that it has claimed; null before. */
  attempt: string | null;
  number: number;
  has(text: string): boolean;
}

/** What a member has done since a task woke it the last time. */
function doing(asked: Asked): Doing {
  const text = promptOf(asked);
  const told = [...text.matchAll(/Task (\d+) is free now/g)].at(-1);
  const since = text.slice(told?.index ?? 0);
  const claim = /Task (\d+) is yours\.\\n\d+\. \[[^\]]*\] (T\d+-\d+) /.exec(since);
  return {
    attempt: claim?.[2] ?? null,
    number: Number(claim?.[1] ?? told?.[1]),
    has: (wanted) => since.includes(wanted),
  };
}

/** Claims the task that woke it, writes the file of the task, completes it, and ends its turn. */
function member(asked: Asked): Answer {
  const { attempt, number, has } = doing(asked);
  if (attempt === null) return update({ task: number, status: 'in_progress' });
  const file = `${attempt.split('-')[0]}.txt`;
  // The first call is refused if the member knew another version: its worktree has been brought elsewhere.
  if (!has(`Created ${file}`)) return writing(file, `${attempt}\n`);
  if (!has(`Task ${number} is completed`))
    return update({ task: number, status: 'completed', evidence: 'the file exists' });
  return { text: 'Done.' };
}

const team = (...args: string[]): string[] => ['tasks.md', '--pattern', 'team', '--parallel', '2', ...args];

/** By member, in the report. */
function memberCosts(report: string): Record<string, string> {
  return Object.fromEntries(
    [...report.matchAll(/^\| (member-\d) \| \d+ \| (\S+) \|$/gm)].map(([, name, cost]) => [name, cost]),
  );
}

function doneBy(report: string, task: string): string | undefined {
  return new RegExp(`^## ${task}: [^#]*done by (\\S+)`, 'm').exec(report)?.[1];
}

async function teamCosts(user: User): Promise<Record<string, string>> {
  const { stdout } = await user.here(['cost', '--team']);
  return Object.fromEntries(
    [...stdout.matchAll(/^(member-\d) .* (\$\S+)$/gm)].map(([, name, cost]) => [name, cost]),
  );
}

describe.concurrent('OP-8, OP-9: a team carries out a run', { timeout: 120_000 }, () => {
  test('members claim the tasks, the merge queue lands them, and the report says who did what', async ({
    user,
  }) => {
    prepareRun(
      user,
      '- [ ] T1 [P] Write one\n- [ ] T2 [P] Write two\n- [ ] T3 Write three (depends on T1, T2)\n- [ ] T4 Write four (depends on T3)\n',
    );
    const letter = { name: 'SendMessage', input: { to: 'lead', message: 'I begin.' } };
    const answers: string[] = [];
    const emulator = await user.emulate({
      respond: (asked) => {
        if (!promptOf(asked).includes('I begin.')) return { tool_use: [letter] };
        answers.push(...(promptOf(asked).match(/Not sent: [^"]*/) ?? []));
        return member(asked);
      },
    });
    const { run, code, stderr } = await operateHere(user, ...team('--check', 'test -e README.md'));
    // The run has a lead that asks no model.
    expect(new Set(answers)).toEqual(
      new Set([expect.stringContaining('nobody reads what is sent to the lead of a run')]),
    );
    expect(statusesOf(run), stderr).toEqual(['T1 done', 'T2 done', 'T3 done', 'T4 done']);
    expect(code).toBe(0);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt', 'T2.txt', 'T3.txt', 'T4.txt']);
    // Two that were ready at once had two members, and a member keeps what it knew.
    const report = readFileSync(run.report, 'utf8');
    expect(report).toMatch(/## T1:(?:.|\n)*done by member-1(?:.|\n)*## T2:(?:.|\n)*done by member-2/);
    expect(report).toMatch(/\| member-1 \| [123] \| \$0\.0\d+ \|\n/);
    expect(memberCosts(report)).toEqual(await teamCosts(user));
    const agents = new Set(emulator.requests.map(({ request }) => JSON.stringify(request?.messages?.[0])));
    expect(agents.size).toBe(2);
    // Everything that agents cost is in the sum of the tasks.
    const bill = JSON.parse((await user.here(['cost', run.session_id, '--json'])).stdout);
    expect(run.total_cost_usd).toBeCloseTo(bill.total.total_cost_usd, 6);
    const named = git(user.repository, 'log', '--format=%(trailers:key=Ramet-Task,valueonly)', 'main');
    expect(new Set(named.match(/\S+/g)?.filter((word) => /^T\d|member/.test(word)))).toEqual(
      new Set(['T1', 'T2', 'T3', 'T4']),
    );
    expect(rametBranches(user.repository)).toEqual([]);
    expect(git(user.repository, 'for-each-ref', 'refs/ramet/attempts')).toBe('');
    const { stdout } = await user.here(['team', 'tasks', '--json']);
    const toLead = await user.here(['team', 'send', 'lead', 'hello']);
    expect(toLead).toMatchObject({ code: 2, stdout: '' });
    expect(toLead.stderr).toMatch(/not sent: nobody reads .* write to member-1, member-2/);
    const late = await user.here(['team', 'send', '*', 'hello']);
    expect(late).toMatchObject({ code: 0, stdout: 'sent to member-1, member-2\n' });
    expect(late.stderr).toMatch(/read only if tasks are left for ramet operate --resume (\w+) \(/);
    expect(stdout.match(/"status": ?"completed"/g)).toHaveLength(4);
  });

  test('a task costs what its own member paid for it, whatever the others are at meanwhile', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T1 [P] Write one\n- [ ] T2 [P] Write two\n');
    await user.emulate({
      respond: async (asked) => {
        const { attempt, number, has } = doing(asked);
        if (attempt !== null || number !== 2) return member(asked);
        if (!has('"name":"TaskList"')) return { tool_use: [{ name: 'TaskList', input: {} }] };
        // It has paid for a request, and claims its task when the other one is over.
        await eventually(() => filesOn(user, 'main').includes('T1.txt'));
        return member(asked);
      },
    });
    const { run, stderr } = await operateHere(user, ...team('--into', 'main'));
    expect(statusesOf(run), stderr).toEqual(['T1 done', 'T2 done']);
    const costs = await teamCosts(user);
    const report = readFileSync(run.report, 'utf8');
    expect(memberCosts(report)).toEqual(costs);
    for (const { id, attempts } of run.tasks) {
      const paid = attempts.map(({ total_cost_usd: cost }) => `$${cost.toFixed(4)}`);
      expect(paid).toEqual([costs[doneBy(report, id) ?? '']]);
    }
  });

  test('what fails goes back with the reason, and freezes after its retries', async ({ user }) => {
    prepareRun(user, '- [ ] T1 [P] Write one\n- [ ] T2 [P] Write two\n- [ ] T3 [P] Write three\n');
    const prompts = new Map<string, string>();
    await user.emulate({
      respond: (asked) => {
        const { attempt, number, has } = doing(asked);
        if (attempt !== null) prompts.set(attempt, promptOf(asked));
        if (attempt === 'T2-1' && has('"file_path":"T2.txt"')) return { text: 'I stop here.' };
        if (attempt?.startsWith('T3') && !has('is failed'))
          return update({ task: number, status: 'failed', note: 'nobody can' });
        return attempt?.startsWith('T3') ? { text: 'Failed.' } : member(asked);
      },
    });
    const { run, code } = await operateHere(user, ...team('--check', '! grep T1-1 T1.txt', '--retries', '1'));
    expect(statusesOf(run)).toEqual(['T1 done', 'T2 done', 'T3 frozen given_up']);
    expect(code).toBe(1);
    expect(git(user.repository, 'show', 'main:T1.txt')).toBe('T1-2');
    expect(prompts.get('T1-2')).toContain('An earlier attempt failed (check');
    expect(prompts.get('T2-2')).toContain('ended its turn without completing task');
    expect(run.tasks[2]?.message).toMatch(/^member-\d gave up: nobody can$/);
    // What was left half-done is kept, and no part of the next try.
    const left = run.tasks[1]?.attempts[0]?.branch ?? '';
    expect(git(user.repository, 'show', `${left}:T2.txt`)).toBe('T2-1');
    expect(git(user.repository, 'show', 'main:T2.txt')).toBe('T2-2');
  });

  test('after kill -9 of everything, the members that were at work complete what they had claimed', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T1 [P] Write one\n- [ ] T2 [P] Write two\n- [ ] T3 Write three\n');
    const written = new Set<string>();
    const killed = Promise.withResolvers<void>();
    let isKilled = false;
    await user.emulate({
      respond: async (asked) => {
        const { attempt, has } = doing(asked);
        if (!isKilled && attempt !== null && has(`"file_path":"${attempt.split('-')[0]}.txt"`)) {
          written.add(attempt);
          await killed.promise;
        }
        return member(asked);
      },
    });
    const first = user.start(['operate', ...team('--into', 'main')]);
    await eventually(() => written.size === 2);
    first.kill('SIGKILL');
    await first.ended;
    isKilled = true;
    killed.resolve();
    const { run, stderr } = await operateHere(user, '--resume');
    expect(statusesOf(run), stderr).toEqual(['T1 done', 'T2 done', 'T3 done']);
    expect(run.tasks.map(({ attempts }) => attempts.length)).toEqual([1, 1, 1]);
    // What a member's tasks cost is what it has cost, but for turns without a task.
    const report = readFileSync(run.report, 'utf8');
    const costs = await teamCosts(user);
    expect(memberCosts(report)).toEqual(costs);
    const bill = JSON.parse((await user.here(['cost', run.session_id, '--json'])).stdout);
    expect(run.total_cost_usd).toBeCloseTo(bill.total.total_cost_usd, 6);
    const spent = Object.entries(costs).map(([name, cost]) => {
      const own = run.tasks.filter(({ id }) => doneBy(report, id) === name);
      const paid = own.map(({ attempts }) => attempts[0]?.total_cost_usd ?? 0);
      expect(Math.min(...paid)).toBeGreaterThan(0);
      expect(paid.reduce((sum, one) => sum + one, 0)).toBeLessThan(Number(cost.slice(1)) + 0.0001);
      return own.length;
    });
    expect(spent.toSorted()).toEqual([1, 2]);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt', 'T2.txt', 'T3.txt']);
    expect(rametBranches(user.repository)).toEqual([]);
  });
});
