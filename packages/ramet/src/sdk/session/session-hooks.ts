/** The events of hooks that the agents of a session do not know about: its start and end, prompts, and compactions on request. */
import { hookText } from '../../engine/opening.ts';
import type { CompactionOutcome } from '../../engine/shapes.ts';
import type { HookEffect } from '../../extensions/hooks/hook-runner.ts';
import { renameSession } from '../../journal/rename-session.ts';
import type { TextBlock } from '../../schema/content.ts';
import { describeError, UserMistake } from '../../schema/errors.ts';
import type { SessionEndReason, StartSource } from '../../schema/status.ts';
import { onAbort } from '../../system/on-abort.ts';
import type { LiveParts } from './live-parts.ts';
import { titleOf } from './prompts/begin-prompt.ts';
import { questionHooks } from './question-hooks.ts';

type HookedParts = Pick<
  LiveParts,
  'agent' | 'hooks' | 'place' | 'settings' | 'runtime' | 'startSource' | 'extra' | 'family'
>;

/** How long after an answer a person may have gone. */
const IDLE_MS = 60_000;

/** What a hook says when the session starts, at each prompt, after a compaction, and at the end. */
export class SessionHooks {
  readonly #parts: HookedParts;
  /** What is told with the next prompt. */
  readonly #due: Promise<HookEffect>[];
  readonly #openings: string[] = [];
  /** Ends hooks of the start: they belong to no prompt, and the one that waits for them may be interrupted. */
  readonly #starting = new AbortController();
  #idle: AbortController | null = null;

  /** Hooks of the start begin with the session; the first prompt waits for them. */
  constructor(parts: HookedParts) {
    this.#parts = parts;
    this.#due = [this.#start(parts.startSource, this.#starting.signal)];
    for (const effect of this.#due) void effect.catch(() => {});
    parts.extra.onQuestion(
      questionHooks(parts, ({ server, message }) => {
        if (parts.settings.broker.elicit !== undefined)
          this.#notify('elicitation_dialog', `The MCP server ${server} asks: ${message}`);
      }),
    );
  }

  async #start(source: StartSource | 'compact', signal: AbortSignal): Promise<HookEffect> {
    const { agent, hooks } = this.#parts;
    if (!hooks.has(agent, 'SessionStart')) return { contexts: [] };
    const effect = await hooks.run(
      agent,
      'SessionStart',
      { source, model: agent.conversation.head.model },
      signal,
    );
    this.#name(effect);
    return effect;
  }

  /** What hooks told the conversation is told again, as they have it now. */
  async compacted(outcome: CompactionOutcome, signal: AbortSignal): Promise<CompactionOutcome> {
    if (!outcome.compacted) return outcome;
    const { contexts, stop } = await this.#start('compact', signal);
    this.#due.push(Promise.resolve({ contexts, stop }));
    return outcome;
  }

  /**
   * Before a prompt is taken. What hooks add is delivered with it, after everything that others share. Resolves with what they say
   * in the user's place before it.
   */
  async beforePrompt(prompt: string | null, signal: AbortSignal): Promise<readonly TextBlock[]> {
    const { agent, hooks } = this.#parts;
    this.#idle?.abort();
    const unlink = onAbort(signal, () => this.#starting.abort(signal.reason));
    const started = await Promise.all(this.#due).finally(unlink);
    this.#due.splice(0);
    for (const text of started.flatMap(({ contexts }) => contexts)) this.#tell('SessionStart', text);
    this.#openings.push(...started.flatMap(({ opening }) => opening ?? []));
    const [end] = started.flatMap(({ stop }) => stop ?? []);
    if (end !== undefined)
      throw new UserMistake('prompt_refused', `a hook ended the session at its start: ${end}`);
    if (prompt === null) return [];
    if (hooks.has(agent, 'UserPromptSubmit')) {
      const effect = await hooks.run(agent, 'UserPromptSubmit', { prompt }, signal);
      const refusal = effect.block ?? effect.stop;
      if (refusal !== undefined)
        throw new UserMistake('prompt_refused', `a hook refused the prompt: ${refusal}`);
      this.#name(effect);
      for (const text of effect.contexts) this.#tell('UserPromptSubmit', text);
    }
    return this.#openings.splice(0).map((text) => ({ type: 'text', text }));
  }

  /** A run has ended. Where a person is there, hooks learn it when nothing comes for a while. */
  promptWaits(): void {
    const { agent, hooks, settings, runtime, family } = this.#parts;
    if (settings.attended !== true || !hooks.has(agent, 'Notification')) return;
    this.#idle?.abort();
    this.#idle = new AbortController();
    const { signal } = this.#idle;
    void runtime.clock.sleep(IDLE_MS, signal, { keepsAlive: false }).then(() => {
      // Agents that work will report: nobody waits for the person yet.
      if (!signal.aborted && family.running.length === 0)
        this.#notify('idle_prompt', 'Ramet waits for your next prompt');
    });
  }

  /** Nobody waits for it. */
  #notify(notification_type: string, message: string): void {
    const { agent, hooks } = this.#parts;
    if (!hooks.has(agent, 'Notification')) return;
    void hooks.run(agent, 'Notification', { message, notification_type }, NEVER).catch(() => {});
  }

  #tell(event: string, text: string): void {
    const { agent, runtime } = this.#parts;
    agent.receive('notification', null, runtime.redact(hookText(event, text)));
  }

  /** A title that a person or a program has given to the session stays. */
  #name({ title }: HookEffect): void {
    const { agent, place, settings, runtime } = this.#parts;
    const kept = titleOf(title ?? '', runtime.redact);
    if (kept === null || settings.title !== null) return;
    try {
      renameSession(place.project, runtime.journal.session, kept);
    } catch (error) {
      agent.warn('no_title', `a hook could not name the session: ${describeError(error)}`);
    }
  }

  /** Nobody waits long for the end of a session, unless a hook sets a time. */
  async end(reason: SessionEndReason = 'other'): Promise<void> {
    const { agent, hooks } = this.#parts;
    this.#idle?.abort();
    this.#starting.abort();
    try {
      if (hooks.has(agent, 'SessionEnd')) await hooks.run(agent, 'SessionEnd', { reason }, NEVER);
    } finally {
      await hooks[Symbol.asyncDispose]();
    }
  }
}

const NEVER: AbortSignal = new AbortController().signal;
