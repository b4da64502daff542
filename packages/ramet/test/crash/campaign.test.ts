/**
 * A short kill campaign, and every check of it shown to fail: each defect is planted into the evidence of a sound
 * round, and exactly the checks that ought to find it do.
 */
import { copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runCampaign } from '../../../../campaigns/kill/campaign.ts';
import { interruptedIn, NOT_RUN } from '../../../../campaigns/kill/careful-agents.ts';
import { CHECKS, problemsOf, type Undisturbed } from '../../../../campaigns/kill/checks.ts';
import { collect, type Evidence } from '../../../../campaigns/kill/evidence.ts';
import { everyAgent, planOf, type RoundPlan } from '../../../../campaigns/kill/plan.ts';
import { copiedEnd, losePower } from '../../../../campaigns/kill/power-loss.ts';
import { chanceOf } from '../../../../campaigns/kill/random.ts';
import type { RecordedAgent } from '../../../../campaigns/kill/recorded.ts';
import { campaignReport } from '../../../../campaigns/kill/report.ts';
import { Stage } from '../../../../campaigns/kill/stage.ts';
import { World } from '../../../../campaigns/kill/world.ts';
import { childInterrupted, NOT_RUN as ENGINE_NOT_RUN } from '../../src/engine/agent/notices.ts';
import { createSession, openReader } from '../../src/journal/sessions.ts';
import { PROVIDER_CAUSE } from '../../src/schema/errors.ts';
import type { EventOf, JournalEvent } from '../../src/schema/events.ts';
import { temporaryDirectory } from '../fixtures/temporary.ts';

describe('AGENT-5, LOG-1: a short kill campaign', () => {
  test('ends every round as an undisturbed run', { timeout: 180_000 }, async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const kills = 4;
    const result = await runCampaign({ kills, seed, parallel: 2, minutes: 2, power: true });
    const problems = result.rounds.flatMap((round) => round.problems);
    expect(problems, campaignReport(result)).toEqual([]);
    expect(result.rounds.flatMap(({ kills }) => kills).length).toBeGreaterThanOrEqual(kills);
  });
});

describe('the model of the kill campaign', () => {
  test('knows the words in which the engine tells of calls and agents that were interrupted', () => {
    for (const cause of [null, PROVIDER_CAUSE])
      expect(interruptedIn(childInterrupted('k3v9x2ab.2', cause))).toBe('k3v9x2ab.2');
    expect(NOT_RUN).toBe(ENGINE_NOT_RUN.interrupted);
    expect(interruptedIn(NOT_RUN)).toBeNull();
  });
});

describe('LOG-1: a power cut of the kill campaign', () => {
  test('takes the end of the journal, and nothing that a command had waited for', async () => {
    const project = temporaryDirectory();
    const journal = await createSession({ project, cwd: '/' });
    onTestFinished(() => journal.close());
    const started = (call: string): JournalEvent => ({ type: 'tool.started', call, name: 'Bash' });
    const note = (message: string): JournalEvent => ({ type: 'warning.raised', code: 'note', message });
    for (let number = 0; number < 5; number++) {
      journal.append(null, started(String(number)));
      await journal.commit('synced');
    }
    for (let number = 0; number < 20; number++) {
      journal.append(null, note('later '.repeat(500)));
      await journal.commit('written');
    }
    const notes = Array.from({ length: 12 }, (_, seed) => {
      const file = join(temporaryDirectory(), `${journal.session}.sqlite`);
      for (const end of ['', '-wal', '-shm']) copyFileSync(journal.file + end, file + end);
      const cut = losePower(file, copiedEnd(file), chanceOf(seed));
      expect(cut?.after).toBeLessThan(cut?.before ?? 0);
      const reader = openReader({ project: dirname(file), session: journal.session });
      const types = Array.from(reader.events(), ({ event }) => event.type);
      reader.close();
      expect(types.filter((type) => type === 'tool.started')).toHaveLength(5);
      return types.length - 5;
    });
    // Somewhere between nothing and nearly everything of what came later.
    expect(Math.min(...notes)).toBeLessThan(10);
    expect(Math.max(...notes)).toBeGreaterThan(10);
  });
});

let plan: RoundPlan;
let sound: Evidence;
let undisturbed: Undisturbed;

beforeAll(async () => {
  plan = planOf('mixed', chanceOf(7));
  await using stage = await Stage.open(plan);
  await using world = new World(plan, stage.emulator.url);
  stage.run = 1;
  const args = ['-p', '[task root] Do the work.', '--permission-mode', 'bypassPermissions'];
  const end = await world.start(...args).ended;
  sound = await collect({ plan, stage, world }, end, false);
  const said = Array.from(sound.recorded.agents.values(), ({ task, lastText }) => [task, lastText] as const);
  undisturbed = { reports: new Map(said), files: sound.files };
});

/** The names of the checks that find something. */
function found(evidence: Evidence): string[] {
  const problems = problemsOf(evidence, { undisturbed, mayBeGivenUp: false });
  return [...new Set(problems.map((problem) => problem.slice(0, problem.indexOf(': '))))];
}

function withAgent(task: string, change: (agent: RecordedAgent) => Partial<RecordedAgent>): Evidence {
  const agents = Array.from(sound.recorded.agents, ([id, agent]) =>
    agent.task === task ? ([id, { ...agent, ...change(agent) }] as const) : ([id, agent] as const),
  );
  return { ...sound, recorded: { ...sound.recorded, agents: new Map(agents) } };
}

function responses({ events }: RecordedAgent): EventOf<'response.completed'>[] {
  return events.filter((event) => event.type === 'response.completed');
}

function firstTalker(): string {
  const talker = everyAgent(plan.root).find(({ talks }) => talks);
  if (talker === undefined) throw new Error('nobody of the plan talks');
  return talker.task;
}

function textOf(block: Record<string, unknown>): string {
  return String(block.type === 'tool_result' ? block.content : block.text);
}

const DEFECTS: Record<string, { plant: () => Evidence; finds: (keyof typeof CHECKS)[] }> = {
  'a run that fails': {
    plant: () => ({ ...sound, end: { ...sound.end, code: 1 } }),
    finds: ['the last run ends well and prints the answer'],
  },
  'a run that hangs': {
    plant: () => ({ ...sound, end: { ...sound.end, hung: true } }),
    finds: ['the last run ends well and prints the answer'],
  },
  'another report': {
    plant: () => withAgent('a', () => ({ lastText: 'Scope: a. [effects: none]' })),
    finds: ['every agent reports what it reports undisturbed'],
  },
  'a file that is missing': {
    plant: () => ({ ...sound, files: { ...sound.files, 'a.txt': 'one\n' } }),
    finds: ['the files are those of an undisturbed run'],
  },
  'an effect that is there twice': {
    plant: () => ({ ...sound, effects: [...sound.effects, 'a-last'] }),
    finds: ['no effect is there twice'],
  },
  'a response that is asked for again': {
    plant: () => {
      const [first] = sound.asked;
      if (first === undefined) throw new Error('nothing was asked');
      const again = { ...first, number: sound.asked.length + 1, run: 2 };
      return { ...sound, asked: [...sound.asked, again] };
    },
    finds: ['no response on record is asked for again'],
  },
  'a response that is on record twice': {
    plant: () => withAgent('a', (agent) => ({ events: [...agent.events, ...responses(agent).slice(0, 1)] })),
    finds: [
      'every response on record is one that the server gave, once',
      'views and bill agree with the server',
    ],
  },
  'a response that the server did not give': {
    plant: () =>
      withAgent('a', (agent) => ({
        events: agent.events.map((event) =>
          event === responses(agent)[0]
            ? { ...event, usage: { ...event.usage, input_tokens: 999_999 } }
            : event,
        ) as JournalEvent[], // only a usage is another
      })),
    finds: ['every response on record is one that the server gave, once'],
  },
  'a report that reaches its parent twice': {
    plant: () =>
      withAgent('root', ({ told }) => ({
        told: [...told, ...told.filter((block) => textOf(block).includes('Scope: a. ['))],
      })),
    finds: ['every report reaches its parent once'],
  },
  'a report that reaches nobody': {
    plant: () =>
      withAgent('root', ({ told }) => ({
        told: told.filter((block) => !textOf(block).includes('Scope: b. [')),
      })),
    finds: ['every report reaches its parent once'],
  },
  'a message that is heard twice': {
    plant: () =>
      withAgent('root', ({ told }) => ({
        told: [...told, ...told.filter((block) => textOf(block).includes(`news from ${firstTalker()}.`))],
      })),
    finds: ['every message is heard'],
  },
  'an agent that is left open': {
    plant: () => ({
      ...sound,
      shown: sound.shown.map((agent, index) =>
        index === 1 ? { ...agent, status: 'interrupted', cause: 'process_ended' } : agent,
      ),
    }),
    finds: ['every agent is done, and none twice there'],
  },
  'an agent that was started twice': {
    plant: () => ({ ...sound, shown: [...sound.shown, { id: 'x.9', status: 'done', cause: null }] }),
    finds: ['every agent is done, and none twice there'],
  },
  'an agent that was done before it reported': {
    plant: () =>
      withAgent('c', ({ events }) => ({
        events: [{ type: 'agent.ended', status: 'done', cause: null, message: null }, ...events],
      })),
    finds: ['nobody is done before it has reported'],
  },
  'an agent that was given up': {
    plant: () => ({
      ...sound,
      asked: sound.asked.map((asked, index) => (index === 1 ? { ...asked, moment: 'resume' } : asked)),
    }),
    finds: ['no agent is reported as interrupted instead of resumed'],
  },
  'a request that is refused': {
    plant: () => ({ ...sound, unmatched: [{ message: 'a call without its result' }] }),
    finds: ['no request is refused'],
  },
  'a bill that is too low': {
    plant: () => ({ ...sound, billed: sound.billed - 1 }),
    finds: ['views and bill agree with the server'],
  },
  'a view that fails': {
    plant: () => ({ ...sound, viewFailures: ['ramet: the journal is damaged'] }),
    finds: ['views and bill agree with the server'],
  },
  'a process that is left': {
    plant: () => ({ ...sound, processes: ['1234 sleep 600'] }),
    finds: ['nothing is left running or lying about'],
  },
};

describe('the checks of the kill campaign', () => {
  test('find nothing wrong with an undisturbed run', () => {
    expect(problemsOf(sound, { undisturbed, mayBeGivenUp: false })).toEqual([]);
  });

  test.each(Object.entries(DEFECTS))('find %s', (_, { plant, finds }) => {
    expect(found(plant())).toEqual(finds);
  });

  test('are each shown to fail', () => {
    const shown = new Set(Object.values(DEFECTS).flatMap(({ finds }) => finds));
    expect(Object.keys(CHECKS).filter((name) => !shown.has(name))).toEqual([]);
  });
});
