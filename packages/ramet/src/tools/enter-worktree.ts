import * as z from '../schema/zod.ts';
import { defineTool, type Tool } from './tool.ts';

export const enterWorktreeTool: Tool = defineTool({
  name: 'EnterWorktree',
  description: 'Continue in your own git worktree, new or existing (name). Only when the user asks for one.',
  effect: 'read',
  schedule: 'ordered',
  input: z.strictObject({ name: z.optional(z.string()) }),
  run: ({ name }, { directory }) => directory.enter(name),
});
