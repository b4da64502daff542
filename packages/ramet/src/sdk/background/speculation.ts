/**
 * Work ahead of the user (BG-2): a fork carries out the likely next prompt in a worktree that has the uncommitted state. If that
 * prompt comes, what was prepared becomes its answer and its files move in; otherwise it is thrown away. Off unless settings ask
 * for it.
 *
 * Invariants
 * 1. At most one is prepared, for the conversation as it is. Every prompt uses it or forgets it.
 * 2. It spends no more than its own budget, and ends for the session when too few tries were of use.
 */
import {
  adoptWork,
  answerOfFork,
  childWorkspace,
  speculationVerdict,
  standOf,
  TouchedFiles,
} from '../../engine/later.ts';
import type { Agent, AgentResult, BackgroundWork, DueWork, PreparedWork } from '../../engine/shapes.ts';
import { costOf } from '../../model/prices.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { addCost, NO_USAGE } from '../../schema/usage.ts';
import { BACKGROUND_LIMITS, type SpeculationSettings } from '../../settings/settings.ts';
import { ledgerOf } from '../../views/ledger/ledger.ts';
import type { LiveParts } from '../session/live-parts.ts';
import type { SpeculationTally } from './background-view.ts';

/** A try that takes longer is of no use: the user has typed something by then. */
const MOST_SECONDS = 600;
const MOST_TURNS = 30;
const LONGEST_PROMPT = 500;

/** Begins the task: tests and scripted models know it by this. */
export const WORK_AHEAD = 'Do in advance what the user will ask for next.';

const RULES = `You may read files, change files in your worktree, and run commands that only read. Everything else is refused: do what is possible without it, and say clearly what was not done, above all tests that were not run. Your report is shown to the user as the answer to that request if they make it: write it for them, without the line "Scope:".`;

const GUESS = `${WORK_AHEAD} Decide what that most likely is, and carry it out now as if they had asked. Begin your report with one line "NEXT: " and the request in the words that the user would type, at most 12 of them. If nothing is likely, or it needs a decision of the user, answer "NEXT: NOTHING" and call no tool. ${RULES}`;

const known = (prompt: string): string =>
  `${WORK_AHEAD} It is most likely this:\n${prompt}\nCarry it out now as if they had asked. ${RULES}`;

/** Whether a tool runs where nobody here can refuse it: at the provider. */
const runsElsewhere = ({ spec }: Agent): boolean => spec.tools.some(({ server }) => server !== undefined);

/** Null if nothing is likely after the conversation as it is. */
type LikelyPrompt = () => string | null;

interface BegunTry {
  readonly fork: Agent;
  readonly touched: TouchedFiles;
}

interface SpeculationTerms {
  readonly sessionUsd: number;
  readonly tryUsd: number;
  readonly tries: number;
  readonly leastHits: number;
}

export class Speculation {
  readonly #parts: LiveParts;
  readonly #terms: SpeculationTerms;
  /** Says the likely next prompt, if it is known; null lets the fork find it. */
  readonly #likely: LikelyPrompt | null;
  #tally: SpeculationTally | null = null;
  #prepared: PreparedWork | null = null;
  #chosen: PreparedWork | null = null;
  /** The conversation that the last try began with: there is one for each. */
  #triedAt: string | null = null;
  #isOver = false;

  private constructor(parts: LiveParts, settings: SpeculationSettings, likely: LikelyPrompt | null) {
    this.#parts = parts;
    const { tries = 8, leastHits = 0.2 } = settings;
    const { sessionUsd = BACKGROUND_LIMITS.sessionUsd, tryUsd = BACKGROUND_LIMITS.tryUsd } = settings;
    this.#terms = { sessionUsd, tryUsd, tries, leastHits };
    this.#likely = likely;
  }

  /** Null for a session that does not speculate. */
  static of(parts: LiveParts, likely: LikelyPrompt | null): Speculation | null {
    const { settings, attended } = parts.settings;
    const { speculation } = settings.background ?? {};
    const isPossible = parts.place.repository !== null && !runsElsewhere(parts.agent);
    // Where no person is there, nobody asks for anything next.
    if (speculation?.enabled !== true || attended !== true || !isPossible) return null;
    return new Speculation(parts, speculation, likely);
  }

  /** The user's prompt: what was prepared for it is chosen, anything else forgotten. */
  promptBegins(given: unknown): void {
    const prepared = this.#prepared;
    this.#prepared = null;
    this.#chosen = null;
    if (prepared === null || typeof given !== 'string' || !isSame(given, prepared.prompt)) return;
    const { begunAt, mode } = standOf(this.#parts.agent);
    if (begunAt === prepared.begunAt && mode === prepared.mode) this.#chosen = prepared;
  }

  /** After the prompt was said. Where it does not succeed, the prompt runs as usual. */
  async adopt(): Promise<void> {
    const chosen = this.#chosen;
    this.#chosen = null;
    if (chosen === null) return;
    const { agent } = this.#parts;
    const problem = await adoptWork(agent, chosen);
    if (problem === null) this.#note({ hits: this.tally.hits + 1 });
    else agent.warn('not_adopted', `what ${chosen.agent} prepared for this prompt is not used: ${problem}`);
  }

  /** One has ended, however. */
  ended({ costUsd }: AgentResult): void {
    this.#note({ costUsd: addCost(this.tally.costUsd, costUsd) });
  }

  work(): BackgroundWork {
    let begun: BegunTry | null = null;
    const leftUsd = (): number => Math.min(this.#terms.tryUsd, this.#leftUsd);
    return {
      source: 'speculation',
      description: 'work ahead',
      // Of the moment when a fork begins.
      get limits() {
        return { budget: { usd: leftUsd(), seconds: MOST_SECONDS }, maxTurns: MOST_TURNS };
      },
      async canUseTool(name, input) {
        const verdict = await speculationVerdict(begun?.fork ?? null, name, input);
        if (verdict.allowed) begun?.touched.allow(begun.fork, name, input);
        return verdict;
      },
      endsWithPrompt: true,
      hasOwnBudget: true,
      due: ({ agent }) =>
        this.#whyNot(agent) === null
          ? this.#due(agent, (one) => {
              begun = one;
            })
          : null,
    };
  }

  #due(main: Agent, begins: (one: BegunTry) => void): DueWork | null {
    const likely = this.#likely?.() ?? null;
    const stand = standOf(main);
    if ((this.#likely !== null && likely === null) || this.#triedAt === stand.begunAt) return null;
    const touched = new TouchedFiles();
    return {
      task: likely === null ? GUESS : known(likely),
      workspace: (id, signal) => this.#workspace(main, id, signal),
      begins: (fork, stop) => {
        begins({ fork, touched });
        this.#triedAt = stand.begunAt;
        this.#note({ tries: this.tally.tries + 1 });
        const writes = new Set(
          fork.spec.tools.filter(({ effect }) => effect === 'write').map(({ name }) => name),
        );
        fork.here.onRecord = (event) => {
          touched.note(event);
          // The user would be asked about it, so the work cannot be done in advance.
          if (event.type === 'tool.completed' && event.denied === true && writes.has(event.name)) stop();
        };
      },
      take: ({ fork, answer }) => {
        const found = likely === null ? guessIn(answer) : { prompt: likely, rest: answer };
        if (found === null) return;
        const { prompt, rest } = found;
        const { id } = fork.spec;
        const task = `work ahead: ${prompt}`;
        const text = answerOfFork(fork, rest);
        this.#prepared = { agent: id, task, prompt, answer: text, ...touched.filesOf(fork), ...stand };
      },
    };
  }

  async #workspace(
    main: Agent,
    id: string,
    signal: AbortSignal,
  ): ReturnType<NonNullable<DueWork['workspace']>> {
    const order = {
      name: undefined,
      description: 'ahead',
      isByDefault: true,
      throwaway: true,
      signal,
    } as const;
    const workspace = await childWorkspace(main, order, id);
    this.#isOver = workspace === null;
    return workspace;
  }

  get #leftUsd(): number {
    return Math.max(0, this.#terms.sessionUsd - (this.tally.costUsd ?? 0));
  }

  /** Null if it may try once more. */
  #whyNot(agent: Agent): string | null {
    if (this.#isOver) return 'it is over';
    const { tries, hits, costUsd } = this.tally;
    const { leastHits } = this.#terms;
    const { model } = agent.conversation.head;
    if (costUsd === null || costOf(model, NO_USAGE, this.#parts.settings.prices).usd === null)
      return this.#end(agent, `no price of ${model} is known, so its budget cannot be held`);
    if (this.#leftUsd === 0) return this.#end(agent, 'its budget is spent');
    if (tries < this.#terms.tries || hits / tries >= leastHits) return null;
    return this.#end(agent, `only ${hits} of ${tries} tries were of use`);
  }

  #end(agent: Agent, why: string): string {
    this.#isOver = true;
    agent.warn('speculation_ended', `working ahead has ended for this session: ${why}`);
    return why;
  }

  /** With what earlier processes of the session have tried. */
  get tally(): SpeculationTally {
    this.#tally ??= this.#parts.isResumed ? this.#earlier() : { tries: 0, hits: 0, costUsd: 0 };
    return this.#tally;
  }

  #note(changed: Partial<SpeculationTally>): void {
    this.#tally = { ...this.tally, ...changed };
  }

  #earlier(): SpeculationTally {
    const reader = this.#parts.family.parts.openReader();
    try {
      const started = [...reader.events({ type: 'agent.started' })];
      const forks = started.filter(({ event }) => isSpeculation(event)).map(({ agent }) => agent ?? '');
      const said = reader.events({ agent: this.#parts.agent.spec.id, type: 'message.appended' });
      const bills = forks.map((agent) => ledgerOf(reader.events({ agent })).total.costUsd);
      return {
        tries: forks.length,
        hits: ledgerOf(said).speculation.hits,
        costUsd: bills.reduce(addCost, 0),
      };
    } finally {
      reader.close();
    }
  }
}

function isSpeculation(event: JournalEvent): boolean {
  return event.type === 'agent.started' && event.origin?.source === 'speculation';
}

/** The request that a fork says it has carried out, and the rest of its answer. */
export function guessIn(answer: string): { prompt: string; rest: string } | null {
  const found = /^[ \t]*NEXT:[ \t]*(.+)$/m.exec(answer);
  const prompt = found?.[1]?.trim() ?? '';
  if (found === null || prompt === 'NOTHING' || !isPlain(prompt)) return null;
  return { prompt, rest: answer.replace(found[0], '').trim() };
}

/** What a user types that is a prompt and nothing else. */
function isPlain(prompt: string): boolean {
  return prompt !== '' && prompt.length <= LONGEST_PROMPT && !/^[/!#@]/.test(prompt);
}

/** But for white space and the mark at the end. Letters stay as they are: names differ by them. */
export function isSame(one: string, other: string): boolean {
  const said = normal(one);
  return said !== '' && said === normal(other);
}

function normal(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/[\s.!?\u2026]+$/u, '');
}
