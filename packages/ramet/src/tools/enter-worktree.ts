import * as z from '../schema/zod.ts';
import { defineTool, type Tool } from './tool.ts';

export const exitWorktreeTool: Tool = defineTool({
  name: 'ExitWorktree',
  description: 'Leave the current worktree. It is kept if it has changes, otherwise removed.',
  effect: 'read',
  schedule: 'ordered',
  input: z.strictObject({}),
  run: (_, { directory }) => directory.exit(),
});

export const enterWorktreeTool: Tool = defineTool({
  name: 'EnterWorktree',
  description: 'Continue in your own git worktree, new or existing (name). Only when the user asks for one.',
  effect: 'read',
  schedule: 'ordered',
  input: z.strictObject({ name: z.optional(z.string()) }),
  run: ({ name }, { directory }) => directory.enter(name),
});
