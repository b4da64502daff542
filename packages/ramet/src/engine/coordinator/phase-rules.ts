/**
 * The coordinator of a session as the engine's other parts see it, and what a phase keeps an agent from doing, whatever modes
 * and rules allow (COORD-1). Nobody is asked about that. The host behind the port is `coordinator-host.ts`, loaded late.
 */
import { existsSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { AgentId } from '../../schema/ids.ts';
import type { CoordinatorPhase } from '../../schema/status.ts';
import { isInside, landingPath } from '../../system/landing-path.ts';
import { headOf, visibleLine } from '../../system/text/visible-text.ts';
import type { CoordinationDesk, SpawnRequest } from '../../tools/agent-desk.ts';
import { isForReaders } from '../../tools/registry.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentRuntime, PhaseRules } from '../agent/runtime.ts';

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

type PhaseAgent = Pick<Agent, 'spec' | 'directory' | 'record'> & {
  runtime: Pick<AgentRuntime, 'childEnvironment'>;
};

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
  const what = tool.effect === 'write' ? '' : await repair(rules, agent, tool, input);
  if (what === null) return null;
  return `${tool.name} is refused: the coordinator is in its verification phase, and nothing is repaired in it.${what} Report what is wrong. Scripts and output that you need belong into ${rules.scratchpad}.`;
}

/** What a command would repair, as a sentence. What programs write by themselves is not known before they run. */
async function repair(
  rules: PhaseRules,
  agent: PhaseAgent,
  tool: Tool,
  input: unknown,
): Promise<string | null> {
  const { cwd, workspace } = agent.directory;
  const { command } = tool.access?.(input) ?? {};
  if (command === undefined) return null;
  const { editedPaths } = await import('../../permission/shell/edited-files.ts');
  const [root, own] = [landingPath(workspace?.fence.root ?? cwd), landingPath(rules.scratchpad)];
  if (root === null) return null;
  const { files, outputs, rewritten, git, unread } = await editedPaths(command, cwd);
  const byGit = git.find(({ top }) => isInside(root, top) && isCheckout(top, root));
  if (byGit !== undefined)
    return ` Of git, commands that look may run, and add and commit: git ${byGit.command} may not.`;
  const [fed] = unread;
  if (fed !== undefined)
    return ` Nobody can read before it runs what ${fed.shell} is given (${visibleLine(headOf(fed.source, LONGEST_SOURCE))}).`;
  const inRoot = (path: string): boolean => isInside(path, root) && (own === null || !isInside(path, own));
  const named = files.filter((path) => inRoot(path) && path !== root);
  const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  const before =
    named.find((path) => isThere(path) && !rules.isOwnProof(path)) ??
    rewritten.find(
      (path) => (inRoot(path) || isInside(root, path)) && existsSync(path) && !rules.isOwnProof(path),
    );
  const known =
    before ?? (await knownFile([...named, ...outputs.filter(inRoot)], root, agent.runtime.childEnvironment));
  if (known !== undefined)
    return ` It would change ${isInside(root, known) ? 'what is in the repository' : relative(root, known)}.`;
  // A folder that is there holds more than what is put into it.
  const made = named.filter((path) => !rules.isOwnProof(path) && !existsSync(path));
  if (made.length > 0) agent.record({ type: 'verification.writes', paths: made });
  return null;
}

const LONGEST_SOURCE = 200;

/** Where git finds no repository it does nothing. */
function isCheckout(top: string, root: string): boolean {
  return top === root || existsSync(join(top, '.git'));
}

/** The first that git has in its index or in HEAD, also when it was removed. */
async function knownFile(
  paths: readonly string[],
  root: string,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (paths.length === 0) return undefined;
  const names = paths.map((path) => relative(root, path));
  const place = { cwd: root, env, looksUp: true };
  const { runGit } = await import('../../git/run-git.ts');
  for (const args of [
    ['--literal-pathspecs', 'ls-files', '-z', '--', ...names],
    ['--literal-pathspecs', 'ls-tree', '-rz', '--name-only', 'HEAD', '--', ...names],
  ]) {
    // Where there is no repository or no commit yet, or no git at all, a file that is not there is new.
    const { code, stdout } = await runGit(args, place).catch(() => ({ code: 1, stdout: '' }));
    const known = code === 0 ? stdout.split('\0') : [];
    const at = names.findIndex((name) => known.includes(name));
    if (at !== -1) return paths[at];
  }
  return undefined;
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
