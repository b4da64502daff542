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
