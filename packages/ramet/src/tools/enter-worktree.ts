import * as z from '../schema/zod.ts';
import { defineTool, type Tool } from './tool.ts';

export const enterWorktreeTool: Tool = defineTool({
  name: 'EnterWorktree',
  description:
    'Go on in a git worktree of your own, made new or entered again by name. Only when the user asks for one.',
  effect: 'read',
  ordered: true,
  input: z.strictObject({ name: z.optional(z.string()) }),
  run: ({ name }, { directory }) => directory.enter(name),
});
