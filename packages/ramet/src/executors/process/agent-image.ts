/**
 * An agent as plain data, to continue in another process: its state, the bytes that it names, tools by name, no
 * functions.
 */
import {
  Conversation,
  type FrozenMessage,
  freezeHead,
  type PromptHead,
} from '../../conversation/conversation.ts';
import type { FrozenBlock } from '../../conversation/frozen-block.ts';
import { Agent } from '../../engine/agent/agent.ts';
import { Spending } from '../../engine/budget/budget.ts';
import type {
  AgentRuntime,
  AgentSnapshot,
  AgentSpec,
  AnswerSchema,
  SpendingRecord,
} from '../../engine/shapes.ts';
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { AgentState } from '../../journal/projections/agent-state.ts';
import type { SandboxMode } from '../../sandbox/command-sandbox.ts';
import { RametError } from '../../schema/errors.ts';
import * as z from '../../schema/zod.ts';
import type { CheckSlots } from '../../system/check-slots.ts';
import type { SecretFingerprints } from '../../tools/redaction/fingerprint-redactor.ts';
import { builtInTools, findTool } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';

type SpecFunctions = 'tools' | 'ceiling' | 'canUseTool' | 'spending' | 'answer' | 'workspace';

export interface AgentImage {
  spec: Omit<AgentSpec, SpecFunctions>;
  tools: readonly string[];
  /** Those of them that are functions of the host: it runs them. */
  hostTools: readonly HostTool[];
  /** The worktree it is in, without what only its host does with it. */
  workspace: WorkspaceImage | null;
  /** The JSON Schema of its answer, as JSON. */
  schema: string | null;
  head: Omit<PromptHead, 'systemChain' | 'digest'>;
  messages: readonly FrozenMessage[];
  prompts: readonly FrozenMessage[];
  state: AgentState;
  /** The blocks of its waiting messages. */
  mail: readonly FrozenBlock[];
  /** The results of calls that are not answered yet. */
  results: readonly FrozenBlock[];
  /** Of its ancestors, the nearest first. */
  spending: readonly SpendingRecord[];
  surroundings: ProcessSurroundings;
}

/** What the process knows about the session it works for. */
export interface ProcessSurroundings {
  session: string;
  journal: string;
  environment: Readonly<Record<string, string>>;
  outputDirectory: string;
  /** Where Ramet keeps what it knows of checkouts; null where nothing is to be known of them. */
  home: string | null;
  /** Places for heavy commands; null where nobody waits for any. */
  slots: CheckSlots | null;
  /** Of agents that only read, and of those in worktrees. */
  sandbox: SandboxMode;
  isolation: SandboxMode;
  /** Of services, which commands in worktrees reach. */
  sockets?: readonly string[] | undefined;
  /** Where running process groups are noted. */
  processes: string;
  secrets: SecretFingerprints;
  /** The events that hooks are set up for, those of the agent's type too. */
  hookEvents: readonly string[];
  /** How far the session's clock is ahead of the system's. */
  clockAheadMs: number;
}

export function imageOf(value: AgentSnapshot, surroundings: ProcessSurroundings): AgentImage {
  const { tools, ceiling: _, canUseTool: __, spending, answer, workspace: ___, ...spec } = value.spec;
  refuseForeignTools(tools);
  const { workspace, state, conversation, prompts = [], mail = [], results = [] } = value;
  const { model, thinking, tools: schemas, system } = conversation.head;
  return {
    spec,
    workspace: workspace === null ? null : workspaceImage(workspace),
    tools: tools.map(({ name }) => name),
    hostTools: tools.filter(({ ofSession }) => ofSession === true).map(hostTool),
    schema: answer?.source ?? null,
    head: { model, thinking, tools: schemas, system },
    messages: conversation.messages.map(plainMessage),
    prompts: prompts.map(plainMessage),
    state,
    mail,
    results,
    spending: spending?.records() ?? [],
    surroundings,
  };
}

/** A message in a conversation has its bytes twice, as a whole and as blocks. */
function plainMessage({ role, blocks, shared }: FrozenMessage): FrozenMessage {
  return { role, blocks, shared };
}

/** The description of the Agent tool is in the frozen head: here the tool is only carried out. */
const REGISTRY: readonly Tool[] = builtInTools({ fork: true, types: [] });

/** What the loop must know of a tool that its host runs. */
interface HostTool extends Pick<Tool, 'name' | 'effect' | 'schedule' | 'pathFields' | 'onceInTeam'> {
  /** What names of tools that it adopts begin with. */
  readonly adopted?: string;
}

function hostTool({ name, effect, schedule, pathFields, onceInTeam, adopts }: Tool): HostTool {
  return {
    name,
    effect,
    schedule,
    ...(pathFields && { pathFields }),
    ...(onceInTeam && { onceInTeam }),
    ...(adopts && { adopted: adopts.prefix }),
  };
}

/** Its input is checked by the host, which alone knows its schema, when it is asked for permission. */
function calledTool({ adopted, ...tool }: HostTool, runtime: AgentRuntime, spec: AgentImage['spec']): Tool {
  return {
    ...tool,
    description: '',
    ofSession: true,
    input: z.unknown(),
    ...(adopted !== undefined && {
      adopts: { prefix: adopted, tool: (name: string) => calledTool({ ...tool, name }, runtime, spec) },
    }),
    run: (_, { call, signal }) => runtime.host.callTool({ spec }, call, signal),
  };
}

function refuseForeignTools(tools: readonly Tool[]): void {
  const foreign = tools.filter(
    ({ name, input, ofSession }) => ofSession !== true && findTool(REGISTRY, name)?.input !== input,
  );
  if (foreign.length === 0) return;
  const names = foreign.map(({ name }) => name).join(', ');
  const message = `${names} cannot be used in a process of its own: run this agent with executor: in-process`;
  throw new RametError('executor', 'terminal', message);
}

export async function agentFromImage(image: AgentImage, runtime: AgentRuntime): Promise<Agent> {
  const spec: AgentSpec = {
    ...image.spec,
    tools: toolsNamed(image, runtime),
    workspace: image.workspace === null ? undefined : followedWorkspace(image.workspace),
    spending: Spending.of(image.spending),
    answer: image.schema === null ? undefined : await answerSchema(image.schema),
  };
  const { state, messages, prompts, mail, results } = image;
  const conversation = new Conversation(freezeHead(image.head), messages);
  return new Agent(runtime, spec, { state, conversation, prompts, mail, results });
}

function toolsNamed({ tools, hostTools, spec }: AgentImage, runtime: AgentRuntime): Tool[] {
  const called = hostTools.map((tool) => calledTool(tool, runtime, spec));
  return tools.flatMap((name) => findTool(called, name) ?? findTool(REGISTRY, name) ?? []);
}

/** It was compiled by the host before: what fails here is ours. */
async function answerSchema(source: string): Promise<AnswerSchema> {
  const { compileAnswerSchema } = await import('../../engine/answer/answer-schema.ts');
  const compiled = await compileAnswerSchema(JSON.parse(source));
  if (compiled.ok) return compiled.schema;
  throw new RametError('executor', 'terminal', `the schema of the answer is lost: ${compiled.problem}`);
}

/**
 * The worktree of an agent in a process of its own (EXEC-2): where it may write. Keeping and clearing it is its host's.
 */
type WorkspaceImage = Omit<AgentWorkspace, 'giveTo' | 'checkpoint' | 'look' | 'release' | 'expectDirectory'>;

function workspaceImage(workspace: AgentWorkspace): WorkspaceImage {
  const { giveTo: _, checkpoint: __, look: ___, release: ____, expectDirectory: _____, ...image } = workspace;
  return image;
}

function followedWorkspace(image: WorkspaceImage): AgentWorkspace {
  return {
    ...image,
    giveTo() {},
    checkpoint: async () => null,
    release: async () => ({ kept: true, reasons: ['its host has it'] }),
  };
}
