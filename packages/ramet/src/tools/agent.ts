import { EFFORTS } from '../schema/status.ts';
import type { ToolAccess } from '../schema/tool-access.ts';
import * as z from '../schema/zod.ts';
import { defineTool, type Tool } from './tool.ts';

/** What heads of prompts that were recorded before call it. */
export const AGENT_TOOL = 'Agent';

const LONGEST_NAME = 60;

/** The engine says what is wrong with one: bounds here would be sent with every prompt. */
const amount = z.optional(z.number());

const input = z.strictObject({
  prompt: z.string().check(z.minLength(1), z.describe('The whole task')),
  description: z.string().check(z.describe('3-5 words')),
  subagent_type: z.optional(z.string()),
  model: z.optional(z.string().check(z.describe('haiku, sonnet, opus or an id; like effort, not for forks'))),
  effort: z.optional(z.enum(EFFORTS)),
  run_in_background: z.optional(z.boolean()),
  name: z.optional(z.string().check(z.maxLength(LONGEST_NAME), z.describe('For SendMessage'))),
  isolation: z.optional(
    z.enum(['worktree']).check(z.describe('Own branch and directory, for changes in parallel')),
  ),
  schema: z.optional(
    z.record(z.string(), z.unknown()).check(z.describe('JSON Schema: the report is then JSON that meets it')),
  ),
  expect: z.optional(
    z
      .strictObject({
        files: z.optional(z.array(z.string())),
        check: z.optional(z.string().check(z.minLength(1))),
        commit: z.optional(z.boolean()),
      })
      .check(z.describe('Proof of done: files made or changed, a command that succeeds, a commit')),
  ),
  budget: z.optional(z.strictObject({ tokens: amount, usd: amount, seconds: amount })),
  max_turns: amount,
});

const WITH_FORKS = `Without subagent_type it is a fork: it knows this whole conversation and shares its cache, so prompt is only its task. Fork when the steps are not worth keeping here: wide reading, trial and error, one of several independent changes.
With subagent_type it is new and knows prompt alone; when this conversation is long, that is cheaper than a fork. Use the cheapest type that can do it:`;

const WITHOUT_FORKS =
  'It is new and knows prompt alone. Use the cheapest type that can do it; without subagent_type it is general-purpose:';

/** Which agents the model can ask for. */
export interface AgentChoices {
  /** Whether an agent without a type is a fork: the setting `agents.fork`. */
  fork: boolean;
  /** The types, a line each. */
  types: readonly string[];
}

function namedBy(name: string | undefined): ToolAccess {
  return name === undefined ? {} : { named: name };
}

export function agentToolFor({ fork, types }: AgentChoices): Tool {
  return defineTool({
    name: AGENT_TOOL,
    description: `Hand a part of the work to another agent. Calls in one message run in parallel, and each returns that agent's report.
${[fork ? WITH_FORKS : WITHOUT_FORKS, ...types].join('\n')}
Do not delegate one or two tool calls. Say what you want, where, and what to report. Good: "In src/parser, list each function that throws: file, line, error." Bad: "look at the parser"; "fix what you found" to an agent that has found nothing.
Do not look at its work or guess its result: wait for the report. run_in_background returns at once, and a <task-notification> tells you when it ends: do other work or end your turn, do not poll. TaskOutput with block waits (task_id "all": every agent), TaskStop stops.`,
    effect: 'read',
    schedule: 'last',
    input,
    access: ({ subagent_type, name }) => namedBy(subagent_type ?? name),
    details: ({ description }) => ({ title: description, startsAgent: true }),
    // A model without a name is none.
    run: ({ max_turns: maxTurns, ...request }, { agents }) =>
      agents.spawn({ ...request, maxTurns, model: request.model?.trim() || undefined }),
  });
}

export const sendMessageTool: Tool = defineTool({
  name: 'SendMessage',
  description:
    'Send a message to another agent by name or id. A running agent reads it after its current tool call; an ended agent resumes in the background with all it knew.',
  effect: 'read',
  schedule: 'ordered',
  onceInTeam: true,
  input: z.strictObject({ to: z.string().check(z.minLength(1)), message: z.string().check(z.minLength(1)) }),
  run: ({ to, message }, { agents }) => agents.send(to, message),
});
