/**
 * Background work of a session (BG-1): whether there is any, and when it learns of prompts and turns. The mechanism is
 * `engine/background`, loaded after the first turn of a session that has work to do.
 */
import type { Agent, AgentResult, BackgroundForks } from '../../engine/shapes.ts';
import { RECIPE_MODEL } from '../../model/catalog.ts';
import type { LiveParts } from '../session/live-parts.ts';

export class SessionBackground {
  readonly #parts: LiveParts;
  readonly #isAttended: boolean;
  #forks: Promise<BackgroundForks | null> | null = null;
  readonly #typed: string[] = [];
  #isClosed = false;

  private constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#isAttended = parts.settings.attended === true;
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

  /** Resolves when nothing of it runs. */
  async idle(): Promise<void> {
    await (await this.#forks)?.idle();
  }

  /** Returns at once: nothing here holds up a prompt. What is `given` is the user's own words where a person is there. */
  promptBegins(given: unknown): void {
    if (this.#isAttended && typeof given === 'string' && !given.trimStart().startsWith('/'))
      this.#typed.push(given);
    void this.#forks?.then((forks) => forks?.promptBegins(this.#agent));
  }

  turnEnded({ status }: AgentResult): void {
    if (status !== 'done' || this.#isClosed) return;
    this.#forks ??= this.#open();
    void this.#forks.then((forks) => {
      forks?.turnEnded({ agent: this.#agent, prompts: this.#agent.prompts.length });
    });
  }

  async #open(): Promise<BackgroundForks | null> {
    const { dreamWork } = await import('./dream-work.ts');
    const { extractMemory } = await import('./extract-memory.ts');
    const works = [extractMemory(this.#parts, this.#typed), dreamWork(this.#parts)].filter(
      (work) => work !== null,
    );
    if (works.length === 0) return null;
    const { BackgroundForks: Forks } = await import('../../engine/later.ts');
    const { costShare } = this.#parts.settings.settings.background ?? {};
    return new Forks({ family: this.#parts.family, works, costShare });
  }

  /** A person who leaves does not wait; where nobody watches, work ends by itself, within its own limits. */
  async close(isHurried: boolean): Promise<void> {
    this.#isClosed = true;
    const forks = await this.#forks;
    if (!this.#isAttended && !isHurried) await this.idle();
    await forks?.close(this.#agent);
  }
}
