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
 * 6. A hook that checks calls and cannot start any more, or ended well before and now fails, leaves the call to a person.
 */
import type { RuleOrigin } from '../../permission/policy.ts';
import { type Clock, elapsedOf } from '../../schema/clock.ts';
import { describeError } from '../../schema/errors.ts';
import type { NotedGuard } from '../../schema/events.ts';
import { forTrustedCommand, gitSettings } from '../../system/child-environment.ts';
import { actFor } from '../../system/current-agent.ts';
import { AtMost } from '../../system/few-at-once.ts';
import { onAbort } from '../../system/on-abort.ts';
import { endMarked } from '../../system/processes/marked-processes.ts';
import { type ExpectedGroup, OWNER_VARIABLE } from '../../system/processes/process-group.ts';
import type { ProcessRegister } from '../../system/processes/process-register.ts';
import { decidesCalls } from '../trust/commands-in.ts';
import { elicitedProblem } from './elicited-answer.ts';
import { GuardFiles } from './guard-files.ts';
import type { CommandHook, FunctionHook, Hook, HookInput } from './hook-config.ts';
import { type HookEventName, hookEventKind } from './hook-event.ts';
import { answerOfCommand, answerOfValue, type HookAnswer } from './hook-reply.ts';
import { type HookResult, hookName, merged, type TimedAnswer } from './merge-answers.ts';
import { runHookCommand } from './run-hook-command.ts';

export type { HookEffect, HookResult, HookRun } from './merge-answers.ts';

const MOST_AT_ONCE = 16;

export interface HookGround {
  readonly clock: Clock;
  readonly processes: ProcessRegister;
  /** Scrubbed. */
  readonly environment: Readonly<Record<string, string>>;
  /** The root of the repository that the session began in. */
  readonly projectDirectory: string;
  /** What is on record of hooks that check calls. */
  readonly noted?: (() => Iterable<NotedGuard>) | undefined;
}

export interface HookFiring {
  readonly hooks: readonly Hook[];
  /** Also those that are about other calls. */
  readonly all?: readonly Hook[];
  readonly input: HookInput;
  /** Id of the agent that they run for. */
  readonly agent: string;
  readonly signal: AbortSignal;
}

const NOTHING: Omit<HookResult, 'noted'> = { runs: [], effect: { contexts: [] }, messages: [] };

function environmentFor(
  event: HookEventName,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  const env = forTrustedCommand(variables);
  const { git } = hookEventKind(event);
  return git === undefined ? env : { ...env, ...gitSettings(env, Object.entries(git)) };
}

export class HookRunner implements AsyncDisposable {
  readonly #ground: HookGround;
  readonly #background = new Map<Promise<void>, AbortController>();
  /** The mark of all that hooks start, on disk until it is ended. */
  #owner: ExpectedGroup | null = null;
  /** Why hooks were not run: said once for each hook and file. */
  readonly #withheld = new Set<string>();
  readonly #guards: GuardFiles;

  constructor(ground: HookGround) {
    this.#ground = ground;
    this.#guards = new GuardFiles(ground);
  }

  /** What paths in the rules of hooks start from. */
  get origin(): Omit<RuleOrigin, 'place'> {
    const { projectDirectory, environment } = this.#ground;
    return { base: projectDirectory, home: environment.HOME || null };
  }

  async run({ hooks, all = hooks, input, agent, signal }: HookFiring): Promise<HookResult> {
    const matching = matchingHooks(hooks, input);
    const permits = new AtMost(MOST_AT_ONCE);
    // `read` of a shell takes only a whole line for one.
    const json = matching.length === 0 ? '' : `${JSON.stringify(input)}\n`;
    const running = matching.map((hook) =>
      permits.run(() => this.#timed(hook, { input, json, agent, signal })),
    );
    // Before the agent's first call nothing can be missing because of it. Meanwhile they run.
    this.#guards.learn(all, input.cwd);
    const answers = await Promise.all(running);
    const told = answers.map((one) => this.#onceTold(one));
    const result = told.length === 0 ? NOTHING : merged(input.hook_event_name, told);
    return { ...result, noted: this.#guards.takeNews() };
  }

  #onceTold(timed: TimedAnswer): TimedAnswer {
    if (!('withheld' in timed.answer)) return timed;
    const said = `${hookName(timed.hook)}\0${timed.answer.withheld}`;
    const isKnown = this.#withheld.has(said);
    this.#withheld.add(said);
    return isKnown ? { ...timed, isKnown } : timed;
  }

  async #timed(hook: Hook, call: HookCall): Promise<TimedAnswer> {
    const since = elapsedOf(this.#ground.clock);
    const { cwd } = call.input;
    const why = whyWithheld(hook, cwd) ?? this.#guards.problem(hook, cwd);
    if (why !== null) return { hook, answer: { withheld: why }, durationMs: 0 };
    // Nothing is waited for from here to the start of its process: what was checked is what runs.
    if (hook.kind === 'command' && hook.isAsync) {
      this.#startAlone(hook, call);
      return { hook, answer: { reply: {} }, durationMs: 0 };
    }
    const said = hook.kind === 'command' ? await this.#attended(hook, call) : await this.#call(hook, call);
    const ended = fitting(said, call.input);
    // Who changes it between the look and the start does not also get its word.
    const late = whyWithheld(hook, cwd) ?? this.#guards.problem(hook, cwd);
    const answer = late === null ? this.#judged(hook, ended, call.signal) : { withheld: late };
    const given = hook.source.narrows === true ? withoutAllow(answer) : answer;
    return { hook, answer: given, durationMs: Math.max(0, elapsedOf(this.#ground.clock) - since) };
  }

  /** One that has checked calls before was not broken by who set it up. */
  #judged(hook: Hook, answer: HookAnswer, signal: AbortSignal): HookAnswer {
    if ('reply' in answer) this.#guards.endedWell(hook);
    if (!('failure' in answer) || signal.aborted || !this.#guards.hasEndedWell(hook)) return answer;
    return { withheld: answer.failure, hasRun: true };
  }

  async #command(
    hook: CommandHook,
    { input, json, agent, signal }: HookCall,
    onLeft?: () => void,
  ): Promise<HookAnswer> {
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
      env: environmentFor(hook.event, { ...environment, ...variables }),
      input: json,
      ...{ timeoutMs: hook.timeoutMs, agent, signal, clock, processes, onLeft },
    });
    const isOff = 'failure' in end && end.ending === 'disturbed' && this.#guards.wasWhole(hook);
    return isOff ? { withheld: end.failure } : answerOfCommand(hook.event, end);
  }

  /** Until it ends, or says in its first line that nobody is to wait for it: `{"async": true}`. */
  async #attended(hook: CommandHook, call: HookCall): Promise<HookAnswer> {
    const stop = new AbortController();
    const unlink = onAbort(call.signal, () => stop.abort(call.signal.reason));
    const left = Promise.withResolvers<HookAnswer>();
    const work = this.#command(hook, { ...call, signal: stop.signal }, () => left.resolve({ reply: {} }));
    const answer = await Promise.race([work, left.promise]).finally(unlink);
    this.#keep(work, stop);
    return answer;
  }

  async #call(hook: FunctionHook, { input, agent, signal }: HookCall): Promise<HookAnswer> {
    const { clock } = this.#ground;
    const over = new AbortController();
    // A function may leave nothing behind that keeps the process: then only its limit does.
    const late = clock.sleep(hook.timeoutMs, over.signal);
    const id = typeof input.tool_use_id === 'string' ? input.tool_use_id : undefined;
    const own = new AbortController();
    const limits = AbortSignal.any([signal, own.signal]);
    try {
      return await Promise.race([
        Promise.try(actFor, agent, () => hook.run(structuredClone(input), id, { signal: limits })).then(
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
    this.#keep(this.#command(hook, { ...call, signal: stop.signal }), stop);
  }

  #keep(running: Promise<unknown>, stop: AbortController): void {
    const work = running.then(() => void this.#background.delete(work));
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

function whyWithheld(hook: Hook, cwd: string): string | null {
  const { check, variables = {} } = hook.source;
  if (check === undefined || hook.kind === 'function') return null;
  return check(
    [hook.command, ...(hook.args ?? [])].map((word) => expanded(word, variables)),
    cwd,
    decidesCalls(hook.event),
  );
}

/** What a server must not be told in a person's place is a failure of the hook. */
function fitting(answer: HookAnswer, input: HookInput): HookAnswer {
  const given = 'reply' in answer ? answer.reply.answer : undefined;
  const failure = given === undefined ? null : elicitedProblem(given, input);
  return failure === null ? answer : { failure };
}

function withoutAllow(answer: HookAnswer): HookAnswer {
  if (!('reply' in answer)) return answer;
  const { decision, answer: given, ...reply } = answer.reply;
  return {
    reply: {
      ...reply,
      ...(decision !== 'allow' && { decision }),
      ...(given?.action !== 'accept' && { answer: given }),
    },
  };
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
    if (hook.source.isOver?.() === true) return false;
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
