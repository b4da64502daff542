/** Collects from an agent what a compaction keeps besides the summary: prompts, open todos, files, recent turns. */
import { relative } from 'node:path';
import { type CompactionPlan, compactedMessages, promptsBefore } from '../conversation/compacted.ts';
import type { FrozenMessage } from '../conversation/conversation.ts';
import { contentOf } from '../conversation/frozen-block.ts';
import { bytesOfTokens } from '../conversation/token-estimate.ts';
import type { Agent } from './agent.ts';
import { contextWindow } from './context-state.ts';
import { bindsThinking } from './fallback.ts';

/** Shares of the context window, and the most tokens, that recent turns and the user's prompts may take. */
const TAIL = { share: 0.1, most: 40_000 };
const PROMPTS = { share: 0.05, most: 20_000 };

export function keepWithSummary(agent: Agent, plan: CompactionPlan, summary: string): FrozenMessage[] {
  const { messages, head } = agent.conversation;
  const [opening] = agent.prompts;
  const prompts = promptsBefore(agent.prompts, messages.slice(plan.tail));
  return compactedMessages(messages, plan, {
    opening: opening ?? { role: 'user', blocks: [], shared: 0 },
    record: {
      prompts: prompts.map((prompt, index) => promptText(prompt, index === 0)),
      promptRoom: bytesOfTokens(room(agent, PROMPTS)),
      todos: openTodos(agent),
      summary,
      ...filesOf(agent),
    },
    tailTokens: tailRoom(agent),
    stripThinking: bindsThinking(head.model),
  });
}

export function tailRoom(agent: Agent): number {
  return room(agent, TAIL);
}

function room(agent: Agent, { share, most }: { share: number; most: number }): number {
  return Math.min(most, Math.floor(contextWindow(agent) * share));
}

/** The first message ends with the prompt, after what opens the conversation; the others are nothing else. */
function promptText({ blocks }: FrozenMessage, isFirst: boolean): string {
  const own = isFirst ? blocks.slice(-1) : blocks;
  return own
    .map((block) => (block.type === 'text' ? String(contentOf(block).text) : `[${block.type}]`))
    .join('\n');
}

function filesOf({ touched, spec }: Agent): { changedFiles: string[]; readFiles: string[] } {
  const named = (wanted: string): string[] =>
    [...touched].filter(([, how]) => how === wanted).map(([path]) => shownPath(spec.cwd, path));
  return { changedFiles: named('changed'), readFiles: named('read') };
}

function shownPath(cwd: string, path: string): string {
  const inside = relative(cwd, path);
  return inside.startsWith('..') ? path : inside;
}

interface TodoOwner {
  readonly spec: unknown;
  readonly todos?: readonly { content: string; status: string }[];
}

function openTodos({ todos = [] }: TodoOwner): string[] {
  return todos
    .filter(({ status }) => status !== 'completed')
    .map(({ content, status }) => `- [${status}] ${content}`);
}
