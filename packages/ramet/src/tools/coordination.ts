/** The tools of a session with a coordinator (COORD-1). Another session has none of them. */
import { COORDINATOR_PHASES } from '../schema/status.ts';
import * as z from '../schema/zod.ts';
import { defineTool, failure, type Tool } from './tool.ts';

const NO_COORDINATOR = 'This session has no coordinator.';

const phaseTool: Tool = defineTool({
  name: 'Phase',
  description:
    'Go to another phase. Refused while a worker of this phase has not reported. note: for synthesis what the research found; for implementation the plan, with files, symbols and what to change; for verification what is to be proved; for research what is still unknown.',
  effect: 'read',
  // What a worker may do depends on the phase that it is started in.
  schedule: 'divider',
  mainOnly: true,
  input: z.strictObject({ to: z.enum(COORDINATOR_PHASES), note: z.string().check(z.minLength(1)) }),
  run: async ({ to, note }, { agents }) => agents.coordination?.change(to, note) ?? failure(NO_COORDINATOR),
});

const scratchpadTool: Tool = defineTool({
  name: 'Scratchpad',
  description:
    'Write a file of the shared scratchpad, for long findings that others need. Read reads it. append adds to the end; without it the file is replaced.',
  effect: 'read',
  schedule: 'ordered',
  input: z.strictObject({
    file: z.string().check(z.minLength(1), z.describe('A name such as findings/parser.md')),
    text: z.string(),
    append: z.optional(z.boolean()),
  }),
  access: ({ file }) => ({ named: file }),
  run: async ({ file, text, append = false }, { agents }) =>
    agents.coordination?.write(file, text, append) ?? failure(NO_COORDINATOR),
});

/** Their order is part of the prompt. */
export const coordinationTools: readonly Tool[] = [phaseTool, scratchpadTool];
