/** One round: a team begins, its processes are killed and resumed many times, and what is left is checked. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RequestRecord, startEmulator } from 'ramet/emulator';
import { openReader } from '../../packages/ramet/src/journal/sessions.ts';
import { listTeams, sendToTeam, type TeamReport } from '../../packages/ramet/src/sdk/calls/teams.ts';
import { blocksOf, resultsOf, textsOf } from '../kill/own-part.ts';
import { agentProcesses, endProcess } from '../kill/processes.ts';
import type { Chance } from '../kill/random.ts';
import { type Run, type RunEnd, World } from '../kill/world.ts';
import { marksIn, problemsOf, type TeamCall, type TeamEvidence } from './checks.ts';
import { type Letter, letterText, type TeamPlan } from './plan.ts';
import { answerOf, whoAsks } from './scripted-team.ts';

export type TeamKill = 'host' | 'member process' | 'host and member processes';

export interface TeamRound {
  plan: string;
  kills: TeamKill[];
  letters: number;
  problems: string[];
  ms: number;
}

export interface TeamRoundOptions {
  chance: Chance;
  mostKills: number;
  keep?: string;
  stopped?: AbortSignal;
}

const LATENCY_MS = 15;
const SHORTEST_LIFE_MS = 300;
const LONGEST_LIFE_MS = 2_000;
const OUTSIDE_SHARE = 0.4;
const MEMBER_SHARE = 0.5;
const GO = ['-p', 'Go.', '--permission-mode', 'bypassPermissions'];
const LONGEST_RUN_MS = 180_000;

export async function teamRound(plan: TeamPlan, options: TeamRoundOptions): Promise<TeamRound> {
  const emulator = await startEmulator({
    latency: { baseMs: LATENCY_MS },
    respond: (view) => answerOf(plan, view),
  });
  try {
    const settings = {
      sandbox: { readOnly: 'off', worktree: 'off' },
      agents: { executor: plan.executor },
    };
    const parts = { env: {}, settings, files: { 'README.md': '# Work\n' } };
    const { stopped } = options;
    await using world = new World(parts, emulator.url, { stopped, longestRun: async () => LONGEST_RUN_MS });
    const result = await new TeamKills(plan, world, options).play(emulator.requests);
    if (options.keep !== undefined && result.problems.length > 0 && stopped?.aborted !== true) {
      cpSync(world.root, options.keep, { recursive: true, verbatimSymlinks: true });
      const asked = emulator.requests.map(({ request, outcome, time }) => ({ time, outcome, request }));
      writeFileSync(join(options.keep, 'round.json'), JSON.stringify({ ...result, asked }));
    }
    return result;
  } finally {
    await emulator.close();
  }
}

class TeamKills {
  readonly #plan: TeamPlan;
  readonly #world: World;
  readonly #options: TeamRoundOptions;
  readonly #kills: TeamKill[] = [];
  readonly #outside: Letter[] = [];

  constructor(plan: TeamPlan, world: World, options: TeamRoundOptions) {
    [this.#plan, this.#world, this.#options] = [plan, world, options];
  }

  async play(requests: readonly RequestRecord[]): Promise<TeamRound> {
    const began = performance.now();
    const { chance, mostKills } = this.#options;
    let left = 1 + chance.below(mostKills);
    for (;;) {
      const run = this.#world.start(...this.#command());
      const isKilled = left > 0 && (await this.#kill(run));
      left -= 1;
      const end = await run.ended;
      if (!isKilled || end.hung) return this.#result(end, requests, performance.now() - began);
      this.#sendFromOutside();
    }
  }

  /** Whether the host was killed; a member's process alone may be, again and again. */
  async #kill(run: Run): Promise<boolean> {
    const { chance } = this.#options;
    for (;;) {
      const life = SHORTEST_LIFE_MS + chance.next() * (LONGEST_LIFE_MS - SHORTEST_LIFE_MS);
      await Promise.race([run.ended, sleep(life)]);
      if (run.isOver) return false;
      const processes = this.#plan.executor === 'process' ? agentProcesses(run.pid) : [];
      const isAlone = processes.length > 0 && chance.holds(MEMBER_SHARE);
      if (isAlone) {
        this.#kills.push('member process');
        endProcess(chance.pick(processes));
        continue;
      }
      const withThem = processes.length > 0 && chance.holds(MEMBER_SHARE);
      this.#kills.push(withThem ? 'host and member processes' : 'host');
      if (withThem) for (const pid of processes) endProcess(pid);
      endProcess(run.pid);
      return true;
    }
  }

  /** Who was killed before the prompt was on record gives it again, as the command advises. */
  #command(): string[] {
    const team = this.#team();
    if (team === null) return [...GO, '--team', 'crew'];
    const reader = openReader({ project: this.#world.project, session: team.session });
    try {
      const hasPrompt = Iterator.from(reader.events({ type: 'message.appended' })).some(() => true);
      return hasPrompt ? ['team', 'resume', 'crew'] : [...GO, '--resume', team.session];
    } finally {
      reader.close();
    }
  }

  #team(): TeamReport | null {
    const { env, repository: cwd } = this.#world;
    return listTeams({ env, cwd }).at(-1) ?? null;
  }

  #sendFromOutside(): void {
    const { chance } = this.#options;
    const known = this.#team()?.members.map(({ name }) => name) ?? [];
    if (known.length < 2 || !chance.holds(OUTSIDE_SHARE)) return;
    const to = chance.pick(known);
    const text = letterText('outside', 0, this.#outside.length);
    const { env, repository: cwd } = this.#world;
    sendToTeam({ to, text }, { env, cwd });
    this.#outside.push({ from: 'outside', to, text });
  }

  async #result(end: RunEnd, requests: readonly RequestRecord[], ms: number): Promise<TeamRound> {
    const { name: plan } = this.#plan;
    const kills = this.#kills;
    try {
      const evidence = await this.#collect(end, requests);
      const letters = [...evidence.told.values()].flatMap(marksIn).length;
      return { plan, kills, letters, problems: problemsOf(evidence), ms };
    } catch (error) {
      const problem = `the round cannot be read: ${String(error)}; it had said ${JSON.stringify(end.stderr)}`;
      return { plan, kills, letters: 0, problems: [problem], ms };
    }
  }

  async #collect(end: RunEnd, requests: readonly RequestRecord[]): Promise<TeamEvidence> {
    const team = this.#team();
    if (team === null) throw new Error('there is no team');
    const asked = requests.flatMap(({ request }) => (request === undefined ? [] : [request]));
    const byAgent = Map.groupBy(asked, whoAsks);
    const last = new Map([...byAgent].map(([who, all]) => [who, longest(all)]));
    const told = new Map([...last].map(([who, request]) => [who, textOf(request)]));
    const forgotten = asked.flatMap((request) => {
      const who = whoAsks(request);
      const kept = new Set(marksIn(told.get(who) ?? ''));
      return marksIn(textOf(request)).flatMap((mark) => (kept.has(mark) ? [] : [`${who}: ${mark}`]));
    });
    return {
      ...{ plan: this.#plan, end, team, told, outside: this.#outside },
      forgotten: [...new Set(forgotten)],
      received: this.#received(team),
      calls: [...last].flatMap(([who, request]) => callsOf(who, request)),
      files: this.#files(),
      processes: await this.#world.leftProcesses(),
    };
  }

  #received({ session, members }: TeamReport): Map<string, number[]> {
    const names = new Map(members.map(({ agent, name }) => [agent, name]));
    const received = new Map<string, number[]>();
    const reader = openReader({ project: this.#world.project, session });
    try {
      for (const { agent, event } of reader.events({ type: 'message.received' })) {
        const who = names.get(agent) ?? String(agent);
        if (event.type !== 'message.received' || event.mail === undefined) continue;
        received.set(who, [...(received.get(who) ?? []), event.mail]);
      }
      return received;
    } finally {
      reader.close();
    }
  }

  #files(): Map<string, string[]> {
    const { repository } = this.#world;
    const list = execFileSync('git', ['worktree', 'list', '--porcelain'], {
      cwd: repository,
      encoding: 'utf8',
    });
    const places = list.split('\n').flatMap((line) => (line.startsWith('worktree ') ? [line.slice(9)] : []));
    const found = places.flatMap((place) =>
      existsSync(place) ? readdirSync(place).map((name) => ({ name, path: join(place, name) })) : [],
    );
    const byName = Map.groupBy(found, ({ name }) => name);
    return new Map([...byName].map(([name, all]) => [name, all.map(({ path }) => path)]));
  }
}

type AskedRequest = NonNullable<RequestRecord['request']>;

function longest(requests: readonly AskedRequest[]): AskedRequest {
  const [first, ...rest] = requests;
  if (first === undefined) throw new Error('nothing was asked');
  return rest.reduce((best, next) => (next.messages.length >= best.messages.length ? next : best), first);
}

/** What others have told: results of calls are not, nor what the agent says itself. */
function textOf({ messages }: AskedRequest): string {
  return messages
    .filter(({ role }) => role === 'user')
    .flatMap(textsOf)
    .join('\n');
}

const TEAM_TOOL = /^(?:Task|SendMessage)/;

function callsOf(who: string, { messages }: AskedRequest): TeamCall[] {
  const calls = new Map(
    messages
      .flatMap(blocksOf)
      .flatMap(({ type, id, name, input }) =>
        type === 'tool_use' && TEAM_TOOL.test(String(name))
          ? [[String(id), `${name} ${JSON.stringify(input)}`] as const]
          : [],
      ),
  );
  return messages.flatMap(resultsOf).flatMap(({ call, text }) => {
    const key = calls.get(call);
    return key === undefined ? [] : [{ who, key, result: text }];
  });
}
