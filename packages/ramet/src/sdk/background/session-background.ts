/**
 * Background work of a session (BG-1): whether there is any, and when it learns of prompts and turns. The mechanism is
 * `engine/background`, loaded after the first turn of a session that has work to do.
 */
import { contentOfBytes } from '../../conversation/frozen-block.ts';
import type {
  Agent,
  AgentResult,
  AgentSummaries,
  BackgroundForks,
  EarlierUsage,
  FinishedTurn,
} from '../../engine/shapes.ts';
import { RECIPE_MODEL } from '../../model/catalog.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { itemsOf } from '../../system/persistent.ts';
import { harmless } from '../session/event-bus.ts';
import type { LiveParts } from '../session/live-parts.ts';
import type { BackgroundView, SpeculationTally } from './background-view.ts';
import type { Speculation } from './speculation.ts';
import type { PromptSuggestions } from './suggest-prompts.ts';

/** A child that is younger says itself what it does. */
const DEFAULT_SUMMARY_SECONDS = 180;

export class SessionBackground {
  readonly #parts: LiveParts;
  readonly #isAttended: boolean;
  #forks: Promise<BackgroundForks> | null = null;
  #summaries: Promise<AgentSummaries> | null = null;
  readonly #over = new AbortController();
  /** Prompts as a person typed them, in this process; before them, those of earlier ones. */
  readonly #typed: string[] = [];
  #suggestions: PromptSuggestions | null = null;
  /** Null until the first turn has ended, and in a session that does not speculate. */
  #speculation: Speculation | null = null;
  #isClosed = false;

  private constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#isAttended = parts.settings.attended === true;
    if (parts.settings.settings.background?.agentSummaries === false) return;
    parts.bus.subscribe((event) => {
      if (event.type === 'agent_started') this.#childBegan();
    });
  }

  /** Null for a session without background work. */
  static of(parts: LiveParts): SessionBackground | null {
    const { settings, agent, watch } = parts;
    const { enabled = true, unattended = false } = settings.settings.background ?? {};
    const isAsked = settings.background ?? (settings.attended === true || unattended);
    // A recipe is carried out and not understood: there is nothing to ask it.
    const isModel = agent.conversation.head.model !== RECIPE_MODEL;
    return enabled && isAsked && isModel && watch === undefined ? new SessionBackground(parts) : null;
  }

  get #agent(): Agent {
    return this.#parts.agent;
  }

  get #turn(): FinishedTurn {
    return { agent: this.#agent, prompts: this.#agent.prompts.length };
  }

  /** Resolves when nothing of it runs. */
  async idle(): Promise<void> {
    await (await this.#forks)?.idle();
  }

  /** What the opener of the session sees of it. */
  get view(): BackgroundView {
    const texts = (): readonly string[] => this.#suggestions?.texts ?? [];
    const tally = (): SpeculationTally | null => this.#speculation?.tally ?? null;
    return {
      idle: () => this.idle(),
      get suggestions() {
        return texts();
      },
      dropSuggestions: () => {
        void this.#forks?.then((forks) => forks.end('suggestions'));
        this.#suggestions?.drop();
      },
      get speculation() {
        return tally();
      },
    };
  }

  /** Returns at once: nothing here holds up a prompt. What is `given` is the user's own words where a person is there. */
  promptBegins(given: unknown): void {
    if (this.#isAttended && typeof given === 'string' && this.#isOwnWord(given)) this.#typed.push(given);
    this.#speculation?.promptBegins(given);
    void this.#forks?.then((forks) => forks.promptBegins(this.#agent));
    this.#suggestions?.drop();
  }

  /** Whether it is what a person typed last. */
  isTyped(prompt: string | null): boolean {
    return prompt !== null && prompt === this.#typed.at(-1);
  }

  /** A command is none, and neither is a suggestion that was only sent. */
  #isOwnWord(given: string): boolean {
    return !given.trimStart().startsWith('/') && this.#suggestions?.made.has(given.trim()) !== true;
  }

  /** After the prompt was said: what was done for it in advance becomes its answer. */
  async adopt(): Promise<void> {
    await this.#speculation?.adopt();
  }

  turnEnded({ status }: AgentResult): void {
    if (status !== 'done' || this.#isClosed) return;
    this.#forks ??= this.#open();
    void this.#forks.then((forks) => {
      forks.turnEnded(this.#turn);
    });
  }

  async #open(): Promise<BackgroundForks> {
    const { dreamWork } = await import('./dream-work.ts');
    const { extractMemory } = await import('./extract-memory.ts');
    if (this.#parts.isResumed) this.#typed.unshift(...this.#typedBefore());
    this.#suggestions = await this.#openSuggestions();
    this.#speculation = await this.#openSpeculation();
    const ahead = this.#speculation?.work() ?? null;
    // Memory first: where both are due, its fork finds suggestions too.
    const works = [
      extractMemory(this.#parts, this.#typed, this.#suggestions),
      this.#suggestions?.work(this.#parts) ?? null,
      dreamWork(this.#parts),
      // Otherwise it begins with the first suggestion.
      this.#suggestions === null ? ahead : null,
    ].filter((work) => work !== null);
    const { BackgroundForks: Forks } = await import('../../engine/later.ts');
    const { costShare } = this.#parts.settings.settings.background ?? {};
    const { family, stops } = this.#parts;
    const earlier = this.#parts.isResumed ? await this.#earlier() : undefined;
    const forks = new Forks({
      ...{ family, works, costShare, earlier, onBegin: () => stops.begin() },
      onEnd: ({ source, result }) => {
        if (source === 'speculation') this.#speculation?.ended(result);
        else if (ahead !== null && this.#suggestions !== null) forks.begin(ahead, this.#turn);
      },
    });
    stops.include(forks);
    return forks;
  }

  async #earlier(): Promise<EarlierUsage> {
    const { family, settings } = this.#parts;
    const { earlierUsage } = await import('./earlier-usage.ts');
    const reader = family.parts.openReader();
    try {
      const found = await earlierUsage(reader);
      const { usd, tokens } = settings.agents.budget;
      // A budget of the session counts what was before.
      return usd === undefined && tokens === undefined ? found : { ...found, total: NO_USAGE };
    } finally {
      reader.close();
    }
  }

  /** As it is on record: after a resume they are still the user's own words. */
  #typedBefore(): string[] {
    const own = new Set(this.#typed);
    const typed = itemsOf(this.#agent.state.prompts).filter((prompt) => prompt.typed === true);
    const reader = this.#parts.family.parts.openReader();
    try {
      return typed
        .flatMap(({ blocks }) => blocks.slice(-1))
        .map((digest) => String(contentOfBytes(reader.block(digest)).text))
        .filter((text) => !own.has(text));
    } finally {
      reader.close();
    }
  }

  async #openSpeculation(): Promise<Speculation | null> {
    if (this.#parts.settings.settings.background?.speculation?.enabled !== true) return null;
    const suggestions = this.#suggestions;
    const likely = suggestions === null ? null : () => suggestions.texts[0] ?? null;
    return (await import('./speculation.ts')).Speculation.of(this.#parts, likely);
  }

  /** Only if they are shown. */
  async #openSuggestions(): Promise<PromptSuggestions | null> {
    const { onSuggestions, settings } = this.#parts.settings;
    if (onSuggestions === undefined || settings.background?.promptSuggestion === false) return null;
    const { PromptSuggestions: Suggestions } = await import('./suggest-prompts.ts');
    return new Suggestions(harmless(onSuggestions, () => 'onSuggestions'));
  }

  #childBegan(): void {
    if (this.#isClosed) return;
    this.#summaries ??= this.#openSummaries();
    void this.#summaries.then((summaries) => summaries.childBegan(this.#agent));
  }

  /** Most children have ended by the time that anything is loaded. */
  async #openSummaries(): Promise<AgentSummaries> {
    const { summarySeconds = DEFAULT_SUMMARY_SECONDS } = this.#parts.settings.settings.background ?? {};
    const afterMs = summarySeconds * 1_000;
    await this.#parts.runtime.clock.sleep(afterMs / 2, this.#over.signal, { keepsAlive: false });
    const { AgentSummaries: Summaries } = await import('../../engine/later.ts');
    return new Summaries(this.#parts.family, afterMs, () => {
      this.#forks ??= this.#open();
      return this.#forks;
    });
  }

  /** A person who leaves does not wait; where nobody watches, work ends by itself, within its own limits. */
  async close(isHurried: boolean): Promise<void> {
    this.#isClosed = true;
    this.#over.abort();
    (await this.#summaries)?.close();
    const forks = await this.#forks;
    if (!this.#isAttended && !isHurried) await this.idle();
    await forks?.close(this.#agent);
  }
}
