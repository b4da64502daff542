/**
 * A tool call that a person makes: a file to attach to a prompt, a command typed at the prompt. It has the rights of the
 * agent, it is on record, and it is no part of the conversation. Nobody is asked about what the person has just typed;
 * what rules or the mode deny is denied.
 */
import { randomUUID } from 'node:crypto';
import { contentOf } from '../../conversation/frozen-block.ts';
import type { ImageBlock, TextBlock } from '../../schema/content.ts';
import type { Agent } from '../agent/agent.ts';
import { runCalls } from './tool-runner.ts';

export interface UserCallResult {
  readonly content: readonly (TextBlock | ImageBlock)[];
  readonly isError: boolean;
}

export async function callForUser(
  agent: Agent,
  { name, input }: { name: string; input: unknown },
  signal: AbortSignal,
): Promise<UserCallResult> {
  const id = `user-${randomUUID()}`;
  const call = { type: 'tool_use', id, name, input } as const;
  const result = (await runCalls({ agent, signal, isUntold: true, byUser: true }, [call])).get(id);
  if (result === undefined) return { content: [{ type: 'text', text: 'it was interrupted' }], isError: true };
  const { content, is_error } = contentOf(result);
  // The result of a call has text, or blocks of text and images.
  const blocks = content as string | (TextBlock | ImageBlock)[];
  return {
    content: typeof blocks === 'string' ? [{ type: 'text', text: blocks }] : blocks,
    isError: is_error === true,
  };
}
