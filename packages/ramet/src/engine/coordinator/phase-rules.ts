/**
 * The coordinator of a session as the engine's other parts see it, and what a phase keeps an agent from doing, whatever modes
 * and rules allow (COORD-1). Nobody is asked about that. The host behind the port is `coordinator-host.ts`, loaded late.
 */
import { type Stats, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { AgentId } from '../../schema/ids.ts';
import type { CoordinatorPhase } from '../../schema/status.ts';
import { isInside, landingPath } from '../../system/landing-path.ts';
import type { CoordinationDesk, SpawnRequest } from '../../tools/agent-desk.ts';
import { isForReaders } from '../../tools/registry.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import type { PhaseRules } from '../agent/runtime.ts';

/** Absent in a session without a coordinator. */
export interface FamilyCoordinator extends PhaseRules {
  /** What a worker is told besides its task; null for an agent that is none. */
  notesFor(phase: CoordinatorPhase | undefined): string | null;
  /** An agent asks for another one. `start` does it, with the phase that the worker belongs to. */
  delegate(
    from: Agent,
    request: SpawnRequest,
    start: (request: SpawnRequest, phase: CoordinatorPhase) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome>;
  /** An agent writes to another one. */
  send(
    from: Agent,
    to: string,
    message: string,
    send: (message: string) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome>;
  deskFor(agent: AgentId): CoordinationDesk;
}

type PhaseAgent = Pick<Agent, 'spec' | 'directory'>;

export async function phaseRefusal(
  rules: PhaseRules,
  agent: PhaseAgent,
  tool: Tool,
  input: unknown,
): Promise<string | null> {
  const rights = rules.rightsOf(agent);
  if (rights === 'all' || tool.effect === 'read') return null;
  if (rights === 'coordinates')
    return `${tool.name} is refused: you coordinate and change nothing yourself. Give the work to a worker.`;
  if (isForScratchpad(rules, agent, tool, input)) return null;
  if (rights === 'reads')
    return isForReaders(tool)
      ? null
      : `${tool.name} is refused: the coordinator is in its research phase, and nothing is changed in it. Report what should be changed.`;
  const repairs = tool.effect === 'write' ? '' : await repairedPath(rules, agent, tool, input);
  if (repairs === null) return null;
  const what = repairs === '' ? '' : ` It would change ${repairs}.`;
  return `${tool.name} is refused: the coordinator is in its verification phase, and nothing is repaired in it.${what} Report what is wrong. Scripts and output that you need belong into ${rules.scratchpad}.`;
}

/**
 * A file that is there, and that a command names to change it, or a folder whose files it changes. What programs write by themselves
 * is not known before they run.
 */
async function repairedPath(
  { scratchpad }: PhaseRules,
  { directory: { cwd, workspace } }: PhaseAgent,
  tool: Tool,
  input: unknown,
): Promise<string | null> {
  const { command } = tool.access?.(input) ?? {};
  if (command === undefined) return null;
  const { editedPaths } = await import('../../permission/shell/edited-files.ts');
  const [root, own] = [landingPath(workspace?.fence.root ?? cwd), landingPath(scratchpad)];
  if (root === null) return null;
  const { files, trees } = await editedPaths(command, cwd);
  const isOwn = (path: string): boolean => own !== null && isInside(path, own);
  const file = files.find((path) => isInside(path, root) && !isOwn(path) && statOf(path)?.isFile() === true);
  if (file !== undefined) return relative(root, file);
  const isAll = trees.some((path) => isInside(root, path));
  const tree = trees.find((path) => isInside(path, root) && !isOwn(path) && statOf(path)?.isDirectory());
  if (isAll) return 'files of the whole checkout';
  return tree === undefined ? null : `files in ${relative(root, tree)}`;
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Whether a command is judged as that of an agent that only reads. */
export function onlyReads(rules: PhaseRules, agent: PhaseAgent, tool: Tool, input: unknown): boolean {
  return rules.rightsOf(agent) === 'reads' && !isForScratchpad(rules, agent, tool, input);
}

function isForScratchpad(
  { scratchpad }: PhaseRules,
  { directory }: PhaseAgent,
  tool: Tool,
  input: unknown,
): boolean {
  const { writes = [] } = tool.effect === 'write' ? (tool.access?.(input) ?? {}) : {};
  const root = landingPath(scratchpad);
  return (
    writes.length > 0 &&
    writes.every((path) => {
      const place = landingPath(resolve(directory.cwd, path));
      return place !== null && root !== null && isInside(place, root);
    })
  );
}
