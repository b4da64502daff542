import * as z from '../schema/zod.ts';
import { defineTool, type Tool } from './tool.ts';

export const exitWorktreeTool: Tool = defineTool({
  name: 'ExitWorktree',
  description: 'Leave it: kept if it holds work.',
  effect: 'read',
  ordered: true,
  input: z.strictObject({}),
  run: (_, { directory }) => directory.exit(),
});
