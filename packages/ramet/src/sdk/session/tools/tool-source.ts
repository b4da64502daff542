/** The port of whatever brings tools to a session (`session-tools.ts`). */
import type { AgentDefinition } from '../../../agents/definitions/definition.ts';
import type { RecordedOrder, ToolHeir } from '../../../engine/shapes.ts';
import type { ModelProvider } from '../../../model/provider.ts';
import type { ElicitedAnswer, ElicitedQuestion } from '../../../permission/broker.ts';
import type { ImageBlock } from '../../../schema/content.ts';
import type { RecordedServers } from '../../../schema/events.ts';
import type { Tool } from '../../../tools/tool.ts';
import type { SessionPrompts } from '../../extensions/session-prompts.ts';
import type { ResolvedOptions } from '../../options.ts';
import type { Place } from '../../place.ts';

export interface ServerStanding {
  readonly name: string;
  /** `pending`: it starts when it is first used; `failed`: it could not be started or used, and is tried again when it is asked. */
  readonly status: 'pending' | 'connected' | 'failed' | 'disabled' | 'untrusted' | 'forbidden';
}

export interface QuestionListener {
  /** Before a person is asked: an answer in that place, or null. */
  asked(question: ElicitedQuestion, signal: AbortSignal): Promise<ElicitedAnswer | null>;
  /** The answer as the server is to have it. */
  answered(question: ElicitedQuestion, answer: ElicitedAnswer, signal: AbortSignal): Promise<ElicitedAnswer>;
}

/** What one source brings to a session. */
export interface ToolSource {
  readonly tools: readonly Tool[];
  /** What the user should know, one line each. */
  readonly notices?: readonly string[];
  /** The same about types of agents. */
  typeNotices?(definitions: readonly AgentDefinition[]): readonly string[];
  /** MCP servers that are set up, also those that do not count, as they are now. */
  servers?(): readonly ServerStanding[];
  /** Loads what agents of these types need of it, before `forType` is asked about one. */
  prepareTypes?(definitions: readonly AgentDefinition[]): Promise<void>;
  /** The tools of an agent of a type, where that depends on more than names; `tools` is what names come to. */
  forType?(type: AgentDefinition, tools: readonly Tool[], parent: ToolHeir): readonly Tool[];
  /** The same for a resumed agent, of which `recordOf` was recorded. */
  forRecorded?(recorded: RecordedServers | undefined, order: RecordedOrder): readonly Tool[];
  /** What is recorded about an agent with these tools, so that it can have no more when it is resumed. */
  recordOf?(tools: readonly Tool[]): RecordedServers | undefined;
  /**
   * What an agent with these tools is told about them besides, after everything that agents share. A child pays for each
   * word of it again: it is told less.
   */
  about?(tools: readonly Tool[], reader: 'main' | 'child'): string | null;
  /** What a person asks for by `/name argument`; null for a name that this source does not know. */
  command?(
    asked: { readonly name: string; readonly argument: string },
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly images: readonly ImageBlock[] } | null>;
  /** Calls `listener` whenever the person is asked something. */
  onQuestion?(listener: QuestionListener): void;
  /** Releases what the tools need. Called once, after all agents have ended. */
  close?(): Promise<void>;
}

export interface SourceOrder {
  readonly settings: ResolvedOptions;
  readonly place: Place;
  readonly prompts: SessionPrompts;
  readonly provider: ModelProvider;
}

/** Null when the session has nothing of it: then nothing is loaded, and no byte changes. */
export type OpenSource = (order: SourceOrder) => ToolSource | null | Promise<ToolSource | null>;
