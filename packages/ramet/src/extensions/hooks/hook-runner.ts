/**
 * Runs the hooks of an event and makes one answer of theirs.
 *
 * Invariants
 * 1. Matching hooks run side by side, at most 16 at once; the same command runs once.
 * 2. The answer depends on the order of the configuration, never on who ends first: deny beats ask beats allow, of changed
 *    inputs the last counts, texts are joined in order.
 * 3. A hook that fails, hangs or prints garbage changes nothing, and is reported.
 * 4. Hooks that nobody waits for end with the runner, and so does what hooks have left running.
 * 5. A hook of a repository runs only with the files that were trusted, as they are at that moment.
 */
import { type Clock, elapsedOf } from '../../schema/clock.ts';
import { describeError } from '../../schema/errors.ts';
import { withOwnPython } from '../../system/child-environment.ts';
import { AtMost } from '../../system/few-at-once.ts';
import { endMarked } from '../../system/processes/marked-processes.ts';
import { type ExpectedGroup, OWNER_VARIABLE } from '../../system/processes/process-group.ts';
import type { ProcessRegister } from '../../system/processes/process-register.ts';
import { decidesCalls } from '../trust/commands-in.ts';
import type { CommandHook, FunctionHook, Hook, HookInput } from './hook-config.ts';
import { type HookEventName, hookEventKind } from './hook-event.ts';
import { answerOfCommand, answerOfValue, type HookAnswer, type HookReply, replyOf } from './hook-reply.ts';
import { runHookCommand } from './run-hook-command.ts';

const MOST_AT_ONCE = 16;

export interface HookGround {
  readonly clock: Clock;
  readonly processes: ProcessRegister;
  /** Scrubbed. */
  readonly environment: Readonly<Record<string, string>>;
  /** The root of the repository that the session began in. */
  readonly projectDirectory: string;
}

export interface HookFiring {
  readonly hooks: readonly Hook[];
  readonly input: HookInput;
  /** Id of the agent that they run for. */
  readonly agent: string;
  readonly signal: AbortSignal;
}

/** How one hook ended, for the record. */
export interface HookRun {
  /** Its command, and where it is set up. */
  readonly hook: string;
  readonly source: string;
  readonly outcome: 'ok' | 'blocked' | 'failed' | 'started';
  readonly durationMs: number;
  /** How it failed. */
  readonly problem?: string;
  /** The same was said before. */
  readonly isKnown?: true;
}

export interface HookResult {
  readonly runs: readonly HookRun[];
  readonly effect: HookEffect;
  /** For the user, in order. */
  readonly messages: readonly string[];
}

/** What all hooks of an event together want. */
export interface HookEffect extends Omit<HookReply, 'context' | 'message' | 'path'> {
  readonly paths?: readonly string[];
  /** Told to the model, in order. */
  readonly contexts: readonly string[];
}

const NOTHING: HookResult = { runs: [], effect: { contexts: [] }, messages: [] };

export class HookRunner implements AsyncDisposable {
  readonly #ground: HookGround;
  readonly #background = new Map<Promise<void>, AbortController>();
  /** The mark of all that hooks start, on disk until it is ended. */
  #owner: ExpectedGroup | null = null;
  /** Why hooks were not run: said once for each file. */
  readonly #withheld = new Set<string>();

  constructor(ground: HookGround) {
    this.#ground = ground;
  }

  async run({ hooks, input, agent, signal }: HookFiring): Promise<HookResult> {
    const matching = matchingHooks(hooks, input);
    if (matching.length === 0) return NOTHING;
    const permits = new AtMost(MOST_AT_ONCE);
    const json = JSON.stringify(input);
    const answers = await Promise.all(
      matching.map((hook) => permits.run(() => this.#timed(hook, { input, json, agent, signal }))),
    );
    return merged(
      input.hook_event_name,
      answers.map((one) => this.#onceTold(one)),
    );
  }

  #onceTold(timed: TimedAnswer): TimedAnswer {
    if (!('withheld' in timed.answer)) return timed;
    const isKnown = this.#withheld.has(timed.answer.withheld);
    this.#withheld.add(timed.answer.withheld);
    return isKnown ? { ...timed, isKnown } : timed;
  }

  async #timed(hook: Hook, call: HookCall): Promise<TimedAnswer> {
    const since = elapsedOf(this.#ground.clock);
    const why = whyWithheld(hook, call.input.cwd);
    if (why !== null) return { hook, answer: { withheld: why }, durationMs: 0 };
    // Nothing is waited for from here to the start of its process: what was checked is what runs.
    if (hook.kind === 'command' && hook.isAsync) {
      this.#startAlone(hook, call);
      return { hook, answer: { reply: {} }, durationMs: 0 };
    }
    const ended = hook.kind === 'command' ? await this.#command(hook, call) : await this.#call(hook, call);
    // Who changes it between the look and the start does not also get its word.
    const late = whyWithheld(hook, call.input.cwd);
    const answer = late === null ? ended : { withheld: late };
    const given = hook.source.narrows === true ? withoutAllow(answer) : answer;
    return { hook, answer: given, durationMs: Math.max(0, elapsedOf(this.#ground.clock) - since) };
  }

  async #command(hook: CommandHook, { input, json, agent, signal }: HookCall): Promise<HookAnswer> {
    const { clock, processes, environment, projectDirectory } = this.#ground;
    const variables = { CLAUDE_PROJECT_DIR: projectDirectory, ...hook.source.variables };
    // A shell expands variables itself: a folder's name put into its script could be a command.
    const words = [hook.command, ...(hook.args ?? [])].map((word) => expanded(word, variables));
    this.#owner ??= processes.expect('hooks');
    const end = await runHookCommand({
      owner: this.#owner.token,
      program: hook.args === null ? 'bash' : (words[0] ?? ''),
      // Where its input is a socket, bash takes itself for a remote shell and reads ~/.bashrc, which may print.
      args: hook.args === null ? ['--norc', '-c', hook.command] : words.slice(1),
      cwd: input.cwd,
      env: withOwnPython({ ...environment, ...variables }),
      input: json,
      ...{ timeoutMs: hook.timeoutMs, agent, signal, clock, processes },
    });
    return answerOfCommand(hook.event, end);
  }

  async #call(hook: FunctionHook, { input, signal }: HookCall): Promise<HookAnswer> {
    const { clock } = this.#ground;
    const over = new AbortController();
    const late = clock.sleep(hook.timeoutMs, over.signal, { keepsAlive: false });
    const id = typeof input.tool_use_id === 'string' ? input.tool_use_id : undefined;
    const own = new AbortController();
    const limits = AbortSignal.any([signal, own.signal]);
    try {
      return await Promise.race([
        Promise.try(() => hook.run(structuredClone(input), id, { signal: limits })).then(
          (value) => answerOfValue(hook.event, value),
          (error) => ({ failure: `it threw: ${describeError(error)}` }),
        ),
        late.then(() => ({ failure: `it took longer than ${hook.timeoutMs / 1_000} s` })),
        aborted(signal, over.signal),
      ]);
    } finally {
      over.abort();
      own.abort();
    }
  }

  /** It lives on when the run that caused it is interrupted. */
  #startAlone(hook: CommandHook, call: HookCall): void {
    const stop = new AbortController();
    const work = this.#command(hook, { ...call, signal: stop.signal }).then(() => {
      this.#background.delete(work);
    });
    this.#background.set(work, stop);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#background.values()) stop.abort();
    await Promise.all(this.#background.keys());
    if (this.#owner === null) return;
    await endMarked(`${OWNER_VARIABLE}=${this.#owner.token}`);
    this.#owner.settle();
    this.#owner = null;
  }
}

interface HookCall {
  readonly input: HookInput;
  readonly json: string;
  readonly agent: string;
  readonly signal: AbortSignal;
}

interface TimedAnswer {
  readonly hook: Hook;
  readonly answer: HookAnswer;
  readonly durationMs: number;
  readonly isKnown?: true;
}

function whyWithheld(hook: Hook, cwd: string): string | null {
  const { check, variables = {} } = hook.source;
  if (check === undefined || hook.kind === 'function') return null;
  return check(
    [hook.command, ...(hook.args ?? [])].map((word) => expanded(word, variables)),
    cwd,
    decidesCalls(hook.event),
  );
}

function withoutAllow(answer: HookAnswer): HookAnswer {
  if (!('reply' in answer) || answer.reply.decision !== 'allow') return answer;
  const { decision: _, ...reply } = answer.reply;
  return { reply };
}

function aborted(signal: AbortSignal, over: AbortSignal): Promise<HookAnswer> {
  return new Promise((settle) => {
    const interrupt = (): void => settle({ failure: 'it was interrupted' });
    if (signal.aborted) interrupt();
    signal.addEventListener('abort', interrupt, { signal: over });
  });
}

/** In the order of the configuration, each command once. */
function matchingHooks(hooks: readonly Hook[], input: HookInput): Hook[] {
  const { matches } = hookEventKind(input.hook_event_name);
  const found = matches === null ? null : input[matches];
  const subject = typeof found === 'string' ? found : null;
  const seen = new Set<unknown>();
  return hooks.filter((hook) => {
    if (hook.event !== input.hook_event_name || !hook.matches(subject)) return false;
    const identity = identityOf(hook);
    if (seen.has(identity)) return false;
    seen.add(identity);
    return true;
  });
}

function identityOf(hook: Hook): unknown {
  if (hook.kind === 'function') return hook.run;
  const { command, args, isAsync, source } = hook;
  return JSON.stringify([command, args, isAsync, source.variables ?? null]);
}

function expanded(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(variables, name) ? (variables[name] ?? whole) : whole,
  );
}

const LONGEST_NAME = 120;

/** As messages name it. */
function hookName(hook: Hook): string {
  if (hook.kind === 'function') return hook.run.name || 'a function';
  const text = [hook.command, ...(hook.args ?? [])].join(' ').replace(/\s+/g, ' ').trim();
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text;
}

const WIDTH = { allow: 0, ask: 1, deny: 2 } as const;

function merged(event: HookEventName, answers: readonly TimedAnswer[]): HookResult {
  const replies = answers.flatMap(({ answer }) => replyOf(event, answer) ?? []);
  const decided = replies.reduce<HookReply | null>((best, reply) => {
    if (reply.decision === undefined) return best;
    const isStronger = best?.decision === undefined || WIDTH[reply.decision] > WIDTH[best.decision];
    return isStronger ? reply : best;
  }, null);
  const failures = answers.flatMap(({ answer }) => ('failure' in answer ? [answer.failure] : []));
  const blocks = [
    ...replies.flatMap(({ block }) => block ?? []),
    ...(hookEventKind(event).failureBlocks ? failures : []),
  ];
  const paths = replies.flatMap(({ path }) => path ?? []);
  const last = <Key extends keyof HookReply>(key: Key): HookReply[Key] =>
    replies.findLast((reply) => reply[key] !== undefined)?.[key];
  return {
    runs: answers.map((answer) => runOf(event, answer)),
    messages: replies.flatMap(({ message }) => message ?? []),
    effect: {
      decision: decided?.decision,
      reason: decided?.reason,
      updatedInput: last('updatedInput'),
      updatedOutput: last('updatedOutput'),
      block: blocks.length === 0 ? undefined : blocks.join('\n'),
      stop: replies.find(({ stop }) => stop !== undefined)?.stop,
      contexts: replies.flatMap(({ context }) => context ?? []),
      ...(paths.length > 0 && { paths }),
    },
  };
}

function runOf(event: HookEventName, { hook, answer, durationMs, isKnown }: TimedAnswer): HookRun {
  const named = { hook: hookName(hook), source: hook.source.label, durationMs: Math.round(durationMs) };
  if ('failure' in answer) return { ...named, outcome: 'failed', problem: answer.failure };
  if ('withheld' in answer)
    return { ...named, outcome: 'failed', problem: answer.withheld, ...(isKnown && { isKnown }) };
  if (hook.kind === 'command' && hook.isAsync) return { ...named, outcome: 'started' };
  const { decision, block, stop } = answer.reply;
  const isBlocked = decision === 'deny' || block !== undefined || stop !== undefined;
  return { ...named, outcome: isBlocked && event !== 'PostToolUse' ? 'blocked' : 'ok' };
}
