/** The tools an agent has. Their order is part of the cached prefix: a new one goes to the end. */

import type { ToolUseBlock } from '../schema/content.ts';
import type { CallDetails, ToolAccess } from '../schema/tool-access.ts';
import * as z from '../schema/zod.ts';
import { type AgentChoices, agentToolFor, sendMessageTool } from './agent.ts';
import { enterWorktreeTool, exitWorktreeTool } from './enter-worktree.ts';
import { editTool } from './files/edit.ts';
import { readTool } from './files/read.ts';
import { writeTool } from './files/write.ts';
import { globTool } from './search/glob.ts';
import { grepTool } from './search/grep.ts';
import { bashTool } from './shell/bash.ts';
import { taskOutputTool, taskStopTool } from './shell/task-output.ts';
import { todoWriteTool } from './todo-write.ts';
import { type Tool, toolSchema } from './tool.ts';
import { webFetchTool } from './web-fetch.ts';

/** The types of agents are not the tools' own: the caller passes the lines that the Agent tool shows. */
export function builtInTools(choices: AgentChoices): readonly Tool[] {
  return [
    readTool,
    writeTool,
    editTool,
    globTool,
    grepTool,
    bashTool,
    taskOutputTool,
    taskStopTool,
    todoWriteTool,
    webFetchTool,
    agentToolFor(choices),
    sendMessageTool,
    enterWorktreeTool,
    exitWorktreeTool,
  ];
}

/** For an agent that only looks at files. */
export const lookingTools: readonly Tool[] = [readTool, globTool, grepTool];

/**
 * The tools of a coordinator and those that its workers have theirs of (COORD-1): it has what reads, and they have all but
 * what starts agents or writes to them.
 */
export function splitForCoordinator(tools: readonly Tool[]): {
  lead: readonly Tool[];
  workers: readonly Tool[];
} {
  return {
    lead: tools.filter(({ effect }) => effect === 'read'),
    workers: tools.filter((tool) => tool.schedule !== 'last' && tool !== sendMessageTool),
  };
}

/** Whether it can change the checkout by itself; starting agents and fetching pages cannot. */
export function mayChangeFiles({ effect, changesFiles }: Tool): boolean {
  return effect === 'write' || changesFiles === true;
}

/**
 * Whether an agent that only reads may have it (TYPE-2). What built-in tools execute is judged call by call; what a tool
 * of the session does, nobody can see.
 */
export function isForReaders({ effect, ofSession }: Tool): boolean {
  return effect === 'read' || (effect === 'execute' && ofSession !== true);
}

/** What a call reaches, before anybody has checked its input; nothing when that is wrong. */
export function accessOfCall(tool: Tool, input: unknown): ToolAccess {
  const parsed = tool.input.safeParse(input);
  return parsed.success ? (tool.access?.(parsed.data) ?? {}) : {};
}

/** As `accessOfCall`, for views. */
export function detailsOfCall(tool: Tool, input: unknown): CallDetails | undefined {
  if (tool.details === undefined) return undefined;
  const parsed = tool.input.safeParse(input);
  return parsed.success ? tool.details(parsed.data) : undefined;
}

/** Also one that a tool of the list adopts. */
export function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name) ?? adopterOf(tools, name)?.adopts?.tool(name);
}

function adopterOf(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find(({ adopts }) => adopts !== undefined && name.startsWith(adopts.prefix));
}

/** Strict: the call would be made without what is in another field. */
const adoptedCall = z.strictObject({
  tool: z.string(),
  arguments: z.optional(z.record(z.string(), z.unknown())),
});

/** The call that is meant: itself, or that of the adopted tool which it names. */
export function meantCall(tools: readonly Tool[], call: ToolUseBlock): ToolUseBlock {
  const { adopts } = tools.find(({ name }) => name === call.name) ?? {};
  const { data } = adopts === undefined ? {} : adoptedCall.safeParse(call.input);
  if (adopts === undefined || data?.tool.startsWith(adopts.prefix) !== true) return call;
  return { ...call, name: data.tool, input: data.arguments ?? {} };
}

export type ParsedInput = { ok: true; value: unknown } | { ok: false; message: string };

/** Checks what the model sent. The message names each wrong field, what was expected, and the fields there are. */
export function parseInput(tool: Tool, input: unknown): ParsedInput {
  const parsed = tool.input.safeParse(input);
  if (parsed.success) return { ok: true, value: parsed.data };
  const { issues } = parsed.error;
  const problems = issues.map(describeIssue).join('; ');
  const hasOther = tool.adopts !== undefined && issues.some(({ code }) => code === 'unrecognized_keys');
  const hint = hasOther ? ` ${ADOPTED_FORM}` : '';
  return {
    ok: false,
    message: `Wrong input for ${tool.name}: ${problems}. Fields: ${describeFields(tool)}.${hint}`,
  };
}

const ADOPTED_FORM =
  'Nothing was called: put what the tool takes into arguments, {"tool": "...", "arguments": {...}}.';

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `unknown field ${issue.keys.join(', ')}`;
  const field = issue.path.join('.');
  if (field === '') return 'expected an object';
  const missing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  return missing
    ? `${field} is missing`
    : `${field}: ${issue.message.replace(/^Invalid (?:input|option): /, '')}`;
}

/** `file_path (string), offset? (integer)`, from the schema the model was given. */
function describeFields(tool: Tool): string {
  const { properties, required } = toolSchema(tool).input_schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties ?? {})
    .map(([name, field]) => `${name}${needed.has(name) ? '' : '?'} (${typeOf(field)})`)
    .join(', ');
}

function typeOf(field: unknown): string {
  const named = typeof field === 'object' && field !== null && 'type' in field ? field.type : undefined;
  return typeof named === 'string' ? named : 'any';
}
