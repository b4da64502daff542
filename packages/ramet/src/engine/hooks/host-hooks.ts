/** Where the hooks of a session run. Nothing that runs a hook is loaded before one is to run. */
import type { Hook, HookEntry } from '../../extensions/hooks/hook-config.ts';
import type { HookEventName } from '../../extensions/hooks/hook-event.ts';
import type { HookEffect, HookGround, HookRunner } from '../../extensions/hooks/hook-runner.ts';
import { type Agent, hosted } from '../agent/agent.ts';
import type { AgentHooks, HookedAgent } from '../agent/runtime.ts';

/** Whether the hooks of an agent's own type are about the event. Its `Stop` is that of an agent that others started. */
function hasOwnHooks({ spec }: HookedAgent, event: HookEventName): boolean {
  if (spec.hooks === undefined) return false;
  const isStop = event === 'SubagentStop' && Object.hasOwn(spec.hooks, 'Stop');
  return isStop || concerns(new Set(Object.keys(spec.hooks)), event);
}

/** What hooks that answer questions need is found before the first call: later an agent may have removed it. */
function concerns(events: ReadonlySet<string>, event: HookEventName): boolean {
  return events.has(event) || (event === 'PreToolUse' && events.has('PermissionRequest'));
}

/** In the process that has the settings of the session. */
export class HostHooks implements AgentHooks, AsyncDisposable {
  readonly #entries: readonly HookEntry[];
  readonly #events: ReadonlySet<string>;
  readonly #ground: HookGround;
  readonly #main: () => Agent | null;
  #running: { readonly runner: HookRunner; readonly hooks: readonly Hook[] } | null = null;

  /** `main` is the session's main agent, once there is one. */
  constructor(entries: readonly HookEntry[], ground: HookGround, main: () => Agent | null = () => null) {
    this.#entries = entries;
    this.#events = new Set(entries.flatMap(({ value }) => Object.keys(Object(value))));
    this.#ground = ground;
    this.#main = main;
  }

  has(agent: HookedAgent, event?: HookEventName): boolean {
    if (event === undefined) return this.#events.size > 0 || agent.spec.hooks !== undefined;
    return concerns(this.#events, event) || hasOwnHooks(agent, event);
  }

  async run(...[agent, event, fields, signal]: Parameters<AgentHooks['run']>): Promise<HookEffect> {
    const { fireHooks, openHooks } = await import('./fire-hooks.ts');
    this.#running ??= openHooks(this.#entries, this.#ground);
    return fireHooks(hosted(agent), { event, fields, signal, main: this.#main(), ...this.#running });
  }

  /** Ends hooks that nobody waits for. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.runner[Symbol.asyncDispose]();
  }
}
