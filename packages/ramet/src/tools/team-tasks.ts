/** The tools of a team: its task list (TEAM-3) and plans (TEAM-4). A session without a team has none of them. */
import * as z from '../schema/zod.ts';
import type { TaskDesk } from './agent-desk.ts';
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from './tool.ts';

const task = z.number().check(z.int(), z.describe('Its number'));
const numbers = z.optional(z.array(z.number().check(z.int())));

const createTool: Tool = defineTool({
  name: 'TaskCreate',
  description: "Put a task on the team's list. Say in description everything that its worker needs to know.",
  effect: 'read',
  schedule: 'ordered',
  onceInTeam: true,
  input: z.strictObject({
    subject: z.string().check(z.describe('One line')),
    description: z.string(),
    blocked_by: numbers,
    owner: z.optional(z.string().check(z.describe('Who alone may claim it'))),
  }),
  run: (input, context) => desk(context, (tasks) => tasks.create(input)),
});

const getTool: Tool = defineTool({
  name: 'TaskGet',
  description: "One task of the team's list, whole.",
  effect: 'read',
  schedule: 'parallel',
  input: z.strictObject({ task }),
  run: (input, context) => desk(context, (tasks) => tasks.get(input.task)),
});

const listTool: Tool = defineTool({
  name: 'TaskList',
  description: "The team's tasks: number, status, owner, what each waits for.",
  effect: 'read',
  schedule: 'parallel',
  input: z.strictObject({}),
  run: (_, context) => desk(context, (tasks) => tasks.list()),
});

const updateTool: Tool = defineTool({
  name: 'TaskUpdate',
  description:
    'Change a task. status in_progress claims it, and fails if another was faster; completed needs evidence; failed needs a note; pending releases it. Only its owner and the lead may change it.',
  effect: 'read',
  schedule: 'ordered',
  onceInTeam: true,
  input: z.strictObject({
    task,
    status: z.optional(z.enum(['pending', 'in_progress', 'completed', 'failed'])),
    subject: z.optional(z.string()),
    description: z.optional(z.string()),
    add_blocked_by: numbers,
    owner: z.optional(z.string()),
    evidence: z.optional(z.string().check(z.describe('What proves it: command and result, commit, files'))),
    note: z.optional(z.string()),
  }),
  run: (input, context) => desk(context, (tasks) => tasks.update(input)),
});

/** Plans of members that must plan first (TEAM-4). */
const planTool: Tool = defineTool({
  name: 'TeamPlan',
  description:
    'For a member that must plan first: give plan, then end your turn and wait. For the lead: answer with member, approve and, to reject, feedback.',
  effect: 'read',
  schedule: 'ordered',
  onceInTeam: true,
  input: z.strictObject({
    plan: z.optional(z.string()),
    member: z.optional(z.string()),
    approve: z.optional(z.boolean()),
    feedback: z.optional(z.string()),
  }),
  async run({ plan, member, approve, feedback }, { agents }) {
    if (agents.plans === undefined) return failure('This session has no team.');
    if (plan !== undefined && member === undefined && approve === undefined) return agents.plans.submit(plan);
    if (member === undefined || approve === undefined || plan !== undefined)
      return failure('Give plan, or member and approve.');
    return agents.plans.answer({ member, approve, feedback });
  },
});

/** Their order is part of the prompt. */
export const teamTools: readonly Tool[] = [createTool, getTool, listTool, updateTool, planTool];

async function desk(
  { agents }: Pick<ToolContext, 'agents'>,
  ask: (tasks: TaskDesk) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  return agents.tasks === undefined ? failure('This session has no team.') : ask(agents.tasks);
}
