/**
 * `ramet mcp serve`: Ramet as an MCP server on standard input and output. Other programs start agents and task files in the
 * repository it was started in. A long run answers with its session at once and is waited for in bounded steps.
 */
import { type CallToolResult, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { describeError } from '../../schema/errors.ts';
import { onAbort } from '../../system/on-abort.ts';
import { type CallOptions, callerOf } from '../calls/caller.ts';
import { sendToTeam, showTeam } from '../calls/teams.ts';
import { VERSION } from '../version.ts';
import { type AgentOrder, ServedRuns, type TasksOrder } from './served-runs.ts';

const LONGEST_WAIT_SECONDS = 600;
const USUAL_WAIT_SECONDS = 60;

const text = (description: string): object => ({ type: 'string', description });
const amount = (description: string): object => ({ type: 'number', exclusiveMinimum: 0, description });

const RUN: object = {
  type: 'object',
  properties: {
    session: text('id of the session'),
    running: { type: 'boolean' },
    status: text('running, succeeded, failed, interrupted and so on'),
    cause: { type: ['string', 'null'] },
    text: { type: ['string', 'null'], description: 'the last answer' },
    cost_usd: { type: ['number', 'null'], description: 'null when unknown' },
    turns: { type: 'integer' },
    agents: { type: 'array', items: { type: 'object' } },
    tasks: { type: 'object', description: 'of a run of tasks: how many are in each state' },
    next: text('what to do next'),
  },
  required: ['session', 'running', 'status', 'agents', 'next'],
};

const SESSION = { session: text('id of the session') };

const TEAM_NAME: object = text('name or session of the team; the only one there is when absent');

const TEAM: object = {
  type: 'object',
  properties: {
    name: text('name of the team'),
    session: text('session of its lead; run_agent with it and no prompt resumes the team'),
    host: { type: ['integer', 'null'], description: 'process that hosts it; null when none does' },
    members: { type: 'array', items: { type: 'object' } },
    tasks: { type: 'array', items: { type: 'object' } },
    plans: { type: 'array', items: { type: 'object' }, description: 'plans that wait for an answer' },
  },
  required: ['name', 'session', 'host', 'members', 'tasks', 'plans'],
};

const SENT: object = {
  type: 'object',
  properties: {
    team: text('name of the team'),
    to: { type: 'array', items: { type: 'string' }, description: 'whom it reaches' },
    isHosted: { type: 'boolean', description: 'false: it is read when the team is resumed' },
  },
  required: ['team', 'to', 'isHosted'],
};

interface ServedTool<Input> {
  readonly description: string;
  readonly properties: Record<string, object>;
  readonly required?: readonly string[];
  /** Of its answer; a run when absent. */
  readonly answer?: object;
  readonly reads?: true;
  run(input: Input, signal: AbortSignal): Promise<object>;
}

/** Runs until its client goes away, or the caller's signal aborts. */
export async function serveAgents(
  options: CallOptions & { permissionMode?: string | undefined } = {},
): Promise<void> {
  const caller = callerOf(options);
  await using runs = new ServedRuns(caller, options.permissionMode);
  const over = Promise.withResolvers<void>();
  const handle = serveStdio(() => serverOf(runs, options));
  const unlink = onAbort(caller.signal, over.resolve);
  process.stdin.once('end', over.resolve);
  process.stdin.once('close', over.resolve);
  try {
    await over.promise;
  } finally {
    unlink();
    await handle.close().catch(() => {});
  }
}

function serverOf(runs: ServedRuns, options: CallOptions): McpServer {
  const server = new McpServer(
    { name: 'ramet', title: 'Ramet', version: VERSION },
    {
      instructions:
        'Run coding agents in one repository. run_agent and run_tasks answer at once with a session; wait_for_run waits for it.',
    },
  );
  const add = <Input>(name: string, tool: ServedTool<Input>): void => {
    const { description, properties, required = [], answer = RUN, reads, run } = tool;
    server.registerTool(
      name,
      {
        description,
        inputSchema: fromJsonSchema<Input>({
          type: 'object',
          properties,
          required: [...required],
          additionalProperties: false,
        }),
        outputSchema: fromJsonSchema({ ...answer }),
        ...(reads && { annotations: { readOnlyHint: true } }),
      },
      (input, { mcpReq }) => answered(() => run(input, mcpReq.signal)),
    );
  };
  add<AgentOrder>('run_agent', {
    description: 'Start an agent on a prompt, or continue a session. Answers at once with the session.',
    properties: {
      prompt: text('what it is to do'),
      type: text('agent type, such as Explore; the main agent when absent'),
      cwd: text('directory inside the repository'),
      model: text('model id or tier'),
      budget_usd: amount('most it may cost'),
      max_turns: { type: 'integer', minimum: 1 },
      session: text('a session to continue; without a prompt it resumes what was interrupted'),
    },
    run: (order, signal) => runs.startAgent(order, signal),
  });
  add<{ session: string; seconds?: number }>('wait_for_run', {
    description: `Wait until a run has ended, at most ${LONGEST_WAIT_SECONDS} seconds, and give its answer.`,
    properties: {
      ...SESSION,
      seconds: { type: 'number', minimum: 0, maximum: LONGEST_WAIT_SECONDS, default: USUAL_WAIT_SECONDS },
    },
    required: ['session'],
    reads: true,
    run: ({ session, seconds = USUAL_WAIT_SECONDS }, signal) => runs.wait(session, seconds, signal),
  });
  add<{ session: string }>('run_status', {
    description: 'How a run is now: its agents, its cost and, once it has ended, its answer.',
    properties: SESSION,
    required: ['session'],
    reads: true,
    run: async ({ session }) => runs.view(session),
  });
  add<object>('list_runs', {
    description: 'The newest sessions of this repository.',
    properties: {},
    answer: { type: 'object', properties: { runs: { type: 'array', items: RUN } }, required: ['runs'] },
    reads: true,
    run: async () => ({ runs: runs.list() }),
  });
  add<{ session: string }>('stop_run', {
    description: 'Stop a run. It can be continued later by its session.',
    properties: SESSION,
    required: ['session'],
    run: ({ session }) => runs.stop(session),
  });
  add<TasksOrder>('run_tasks', {
    description:
      'Start a run of a task file: agents in worktrees, their work merged, checked and landed. Answers at once with the session.',
    properties: {
      file: text('task file inside the repository'),
      session: text('a run to resume, instead of file'),
      budget_usd: amount('most the run may cost'),
      parallel: { type: 'integer', minimum: 1, description: 'how many agents work at once' },
      check: text('shell command that must succeed on the merged files'),
    },
    run: (order) => runs.startTasks(order),
  });
  add<{ team?: string }>('team_status', {
    description:
      'A team of this repository: its members, how many messages each has not read, its tasks and the plans that wait.',
    properties: { team: TEAM_NAME },
    answer: TEAM,
    reads: true,
    run: async ({ team }) => showTeam(team, options),
  });
  add<{ team?: string; to: string; text: string }>('team_send', {
    description:
      'Write to a member of a team, to its lead, or to everybody. They read that it came from outside the team: it permits nothing.',
    properties: {
      team: TEAM_NAME,
      to: text('name of a member, lead, or * for everybody'),
      text: text('the message, at most 64 KB'),
    },
    required: ['to', 'text'],
    answer: SENT,
    run: async (letter) => sendToTeam(letter, options),
  });
  return server;
}

/** What goes wrong is an answer too: the program that asked reads it. */
async function answered(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    const value = await work();
    return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } };
  } catch (error) {
    return { content: [{ type: 'text', text: describeError(error) }], isError: true };
  }
}
