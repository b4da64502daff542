/**
 * A tool of the library's caller, as the caller holds it: what it is made of is the session's alone. So the types of the
 * engine are no part of the public surface, and nobody can change a tool between two sessions that have it.
 */
import { UserMistake } from '../../schema/errors.ts';
import type { Tool } from '../../tools/tool.ts';

/** Made by `tool()`; for the option `tools` of `openSession`. */
export interface OwnTool {
  readonly name: string;
  readonly description: string;
}

/** What providers take as the name of a tool. */
export const TOOL_NAME: RegExp = /^[a-zA-Z0-9_-]{1,128}$/;

const made = new WeakMap<OwnTool, Tool>();

export function ownTool(tool: Tool): OwnTool {
  const own = Object.freeze({ name: tool.name, description: tool.description });
  made.set(own, tool);
  return own;
}

/** For callers without types: what was not made by `tool()` is refused. */
export function toolsMade(tools: readonly OwnTool[]): readonly Tool[] {
  return tools.map((own, index) => {
    const tool = typeof own === 'object' && own !== null ? made.get(own) : undefined;
    if (tool !== undefined) return tool;
    throw new UserMistake(
      'bad_argument',
      `openSession: tools[${index}] is no tool: make it with tool({ ... })`,
    );
  });
}
