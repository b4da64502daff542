/** What the emulator holds between requests. */
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../schema/clock.ts';
import type { Answer } from './answer.ts';
import type { CassettePlayer } from './cassettes/cassette-player.ts';
import type { CassetteRecorder, RecordOptions } from './cassettes/cassette-recorder.ts';
import { ChatPrefixCache } from './chat/chat-cache.ts';
import type { Fault } from './fault.ts';
import { type Latency, type LatencyOptions, NO_LATENCY, withLatency } from './latency.ts';
import { PromptCache } from './messages/cache.ts';
import { ThinkingTurns } from './messages/thinking-turn.ts';
import { RateLimitHeaders, type RateLimits } from './rate-limits.ts';
import type { RequestRecord } from './request-record.ts';
import type { RequestView } from './request-view.ts';
import { type Scenario, ScenarioPlayer, type ScenarioRule } from './scenario.ts';

export interface EmulatorOptions {
  /** 0, the default, takes any free port. */
  port?: number | undefined;
  scenario?: Scenario | undefined;
  /** A file of recorded answers: nothing else answers then. */
  cassette?: string | undefined;
  /** Sends every request on to a real provider and records what it answers. */
  record?: RecordOptions | undefined;
  /** Asked when no rule matches; undefined means that it has no answer either. */
  respond?: ((view: RequestView) => Answer | undefined | Promise<Answer | undefined>) | undefined;
  /** Asked first for every request; what it returns takes the place of the rule's fault. */
  fault?: ((view: RequestView) => Fault | undefined) | undefined;
  latency?: LatencyOptions | undefined;
  rateLimits?: RateLimits | undefined;
  /** Without it any key or none will do. */
  requireKey?: string | undefined;
  /** Answered with 404; every other model is accepted. */
  unknownModels?: readonly string[] | undefined;
  maxBodyBytes?: number | undefined;
  /** Longer prompts, in tokens, are refused; before what the scenario says. */
  contextWindow?: number | undefined;
  /** Every request is appended here as one JSON line, its body verbatim. */
  log?: string | undefined;
  /** False keeps `requests` empty, for long runs. */
  keepRequests?: boolean | undefined;
  /** Called when a request is over. */
  onRequest?: ((record: RequestRecord) => void) | undefined;
  clock?: Clock | undefined;
}

/** A request that no rule and no hook answered. */
export interface UnmatchedRequest {
  model: string;
  turn: number;
  last: string;
  /** What the client was told. */
  message: string;
}

export interface EmulatorState {
  clock: Clock;
  cache: PromptCache;
  chatCache: ChatPrefixCache;
  thinking: ThinkingTurns;
  rules: readonly ScenarioRule[];
  player: ScenarioPlayer;
  respond: ((view: RequestView) => Answer | undefined | Promise<Answer | undefined>) | undefined;
  fault: ((view: RequestView) => Fault | undefined) | undefined;
  latency: Latency;
  rateLimits: RateLimitHeaders | undefined;
  unmatched: UnmatchedRequest[];
  contextWindow: number;
  cassette: CassettePlayer | undefined;
  recorder: CassetteRecorder | undefined;
  newId(prefix: string): string;
}

export function newState(options: EmulatorOptions): EmulatorState {
  const rules = options.scenario?.rules ?? [];
  // Ids of one emulator differ from those of another, so a conversation can move on to the next one.
  const instance = randomBytes(6).toString('hex');
  let issued = 0;
  return {
    clock: options.clock ?? systemClock,
    cache: new PromptCache(),
    chatCache: new ChatPrefixCache(),
    thinking: new ThinkingTurns(),
    rules,
    player: new ScenarioPlayer(rules),
    respond: options.respond,
    fault: options.fault,
    latency: withLatency(withLatency(NO_LATENCY, options.scenario?.latency), options.latency),
    rateLimits: options.rateLimits && new RateLimitHeaders(options.rateLimits),
    unmatched: [],
    contextWindow: options.contextWindow ?? options.scenario?.contextWindow ?? Number.POSITIVE_INFINITY,
    cassette: undefined,
    recorder: undefined,
    newId: (prefix) => {
      issued += 1;
      return `${prefix}_${instance}${String(issued).padStart(6, '0')}`;
    },
  };
}
