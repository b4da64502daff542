/**
 * A tool call beside the conversation: a file to attach to a prompt, a command typed at the prompt, a command that a skill
 * names. It has the rights of the agent, it is on record, and it is no part of the conversation. Nobody is asked about
 * what a person has just typed; what rules or the mode deny is denied.
 */
import { randomUUID } from 'node:crypto';
import { contentOf } from '../../conversation/frozen-block.ts';
import type { ImageBlock, TextBlock } from '../../schema/content.ts';
import type { Agent } from '../agent/agent.ts';
import { runCalls, type ToolRun } from './tool-runner.ts';

export interface UserCallResult {
  readonly content: readonly (TextBlock | ImageBlock)[];
  readonly isError: boolean;
}

export function callForUser(
  agent: Agent,
  call: NamedCall,
  signal: AbortSignal,
  onOutput?: (text: string) => void,
): Promise<UserCallResult> {
  return callBeside({ agent, signal, isUntold: true, byUser: true, onOutput }, call);
}

/** Asked about like any call of the agent; a prompt that a person wrote names it. */
export function callForAgent(agent: Agent, call: NamedCall, signal: AbortSignal): Promise<UserCallResult> {
  return callBeside({ agent, signal, isUntold: true, byPrompt: true }, call);
}

interface NamedCall {
  name: string;
  input: unknown;
}

async function callBeside(run: ToolRun, { name, input }: NamedCall): Promise<UserCallResult> {
  const id = `${run.byUser === true ? 'user' : 'beside'}-${randomUUID()}`;
  const call = { type: 'tool_use', id, name, input } as const;
  const result = (await runCalls(run, [call])).get(id);
  if (result === undefined) return { content: [{ type: 'text', text: 'it was interrupted' }], isError: true };
  const { content, is_error } = contentOf(result);
  // The result of a call has text, or blocks of text and images.
  const blocks = content as string | (TextBlock | ImageBlock)[];
  return {
    content: typeof blocks === 'string' ? [{ type: 'text', text: blocks }] : blocks,
    isError: is_error === true,
  };
}
