/** Collects from an agent what a compaction keeps besides the summary: prompts, open todos, files, recent turns. */
import { relative } from 'node:path';
import { type CompactionPlan, compactedMessages, promptsBefore } from '../../conversation/compacted.ts';
import type { FrozenMessage } from '../../conversation/conversation.ts';
import {
  bytesOfTokens,
  contentOf,
  estimateTokens,
  type FrozenBlock,
  freezeBlock,
} from '../../conversation/frozen-block.ts';
import { MEMORY_NOTES } from '../../schema/content.ts';
import { entriesOf } from '../../system/persistent.ts';
import type { Agent } from '../agent/agent.ts';
import { bindsThinking } from '../exchange/switch-model.ts';
import { compactionThreshold } from './context-state.ts';

/** Shares of the threshold, and the most tokens, that each may take. */
const RECENT_TURNS = { share: 1 / 8, most: 40_000 };
/** Results that the model has not seen yet are worth more room; only beyond it they are cut. */
const LAST_TURN = { share: 1 / 3, most: 100_000 };
const PROMPTS = { share: 1 / 8, most: 40_000 };
/** Of a short conversation, which is compacted on request only, no more than this part is kept as it is. */
const RECENT_PART = 0.25;

/** `memory` is what is remembered now: null for nothing, undefined where the agent keeps what it was told. */
export function keepWithSummary(
  agent: Agent,
  plan: CompactionPlan,
  summary: string,
  memory: string | null | undefined,
): FrozenMessage[] {
  const { messages, head } = agent.conversation;
  const [opening] = messages;
  const prompts = promptsBefore(agent.prompts, messages.slice(plan.tail));
  return compactedMessages(messages, plan, {
    opening: withMemory(opening ?? { role: 'user', blocks: [], shared: 0 }, memory),
    record: {
      prompts: prompts.map((prompt, index) => promptText(prompt, index === 0, agent.spec.parent === null)),
      promptRoom: bytesOfTokens(room(agent, PROMPTS)),
      whole: `ramet show ${agent.spec.id} --full`,
      todos: openTodos(agent.state),
      team: agent.here.teamNow?.(),
      summary,
      ...filesOf(agent),
    },
    mostTailTokens: room(agent, LAST_TURN),
    stripThinking: bindsThinking(head.model),
  });
}

/** The message that opened the conversation, with what is remembered now in place of what was then. */
function withMemory(opening: FrozenMessage, memory: string | null | undefined): FrozenMessage {
  if (memory === undefined) return opening;
  const blocks = opening.blocks.filter((block) => !isMemory(block));
  const fresh = memory === null ? [] : [freezeBlock({ type: 'text', text: memory })];
  return { ...opening, blocks: [...blocks.slice(0, -1), ...fresh, ...blocks.slice(-1)] };
}

function isMemory(block: FrozenBlock): boolean {
  return block.type === 'text' && String(contentOf(block).text).startsWith(`<${MEMORY_NOTES}>`);
}

/** For the turns that are kept besides the last one. */
export function tailRoom(agent: Agent): number {
  const whole = estimateTokens(agent.conversation.messages.flatMap(({ blocks }) => blocks));
  return Math.min(room(agent, RECENT_TURNS), Math.floor(whole * RECENT_PART));
}

function room(agent: Agent, { share, most }: { share: number; most: number }): number {
  return Math.min(most, Math.floor(compactionThreshold(agent) * share));
}

/**
 * The first message ends with the prompt, after what opens the conversation; a fork's own, after what forks share. What
 * a person says comes after what is attached to it, and matters more; what other agents say is in its order.
 */
function promptText({ blocks, shared }: FrozenMessage, isFirst: boolean, ofPerson: boolean): string {
  const said = ofPerson ? [...blocks.slice(-1), ...blocks.slice(shared, -1)] : blocks.slice(shared);
  const own = isFirst ? blocks.slice(-1) : said;
  return own
    .map((block) => (block.type === 'text' ? String(contentOf(block).text) : `[${block.type}]`))
    .join('\n');
}

function filesOf({ state, directory }: Agent): { changedFiles: string[]; readFiles: string[] } {
  const named = (wanted: string): string[] =>
    [...entriesOf(state.touched)]
      .filter(([, how]) => how === wanted)
      .map(([path]) => shownPath(directory.cwd, path));
  return { changedFiles: named('changed'), readFiles: named('read') };
}

function shownPath(cwd: string, path: string): string {
  const inside = relative(cwd, path);
  return inside.startsWith('..') ? path : inside;
}

function openTodos({ todos }: Agent['state']): string[] {
  return todos
    .filter(({ status }) => status !== 'completed')
    .map(({ content, status }) => `- [${status}] ${content}`);
}
