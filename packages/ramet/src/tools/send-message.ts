import * as z from '../schema/zod.ts';
import { defineTool, type Tool } from './tool.ts';

export const sendMessageTool: Tool = defineTool({
  name: 'SendMessage',
  description:
    'Send a message to another agent by name or id. A running agent reads it after its current tool call; an ended agent resumes in the background with all it knew.',
  effect: 'read',
  schedule: 'ordered',
  input: z.strictObject({ to: z.string().check(z.minLength(1)), message: z.string().check(z.minLength(1)) }),
  run: ({ to, message }, { agents }) => agents.send(to, message),
});
