import * as z from '../schema/zod.ts';
import { defineTool, type Tool } from './tool.ts';

export const sendMessageTool: Tool = defineTool({
  name: 'SendMessage',
  description:
    'Say something to another agent, by name or id. A running one hears it after its present tool call; one that has ended goes on, with all it knew, in the background.',
  effect: 'read',
  ordered: true,
  input: z.strictObject({ to: z.string().check(z.minLength(1)), message: z.string().check(z.minLength(1)) }),
  run: ({ to, message }, { agents }) => agents.send(to, message),
});
