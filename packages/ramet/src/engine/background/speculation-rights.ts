/**
 * What a fork may do that works ahead of the user (BG-2): look into files, change files of its own worktree, and run commands
 * that are judged to only read. Whatever else a tool does has effects that throwing the work away would not take back.
 */
import { resolve } from 'node:path';
import { decide } from '../../permission/decide.ts';
import { isInside, landingPath } from '../../system/landing-path.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import type { ToolVerdict } from '../agent/runtime.ts';

const ALLOWED: ToolVerdict = { allowed: true };

const NOTHING_ELSE =
  'you work ahead of the user: only looking into files, changing files in your worktree and commands that only read are possible. Do the rest, and say in your answer what was not done';

/** Judged as for an agent that only reads, without a sandbox and without rules that would allow more. */
const STRICT = {
  mode: 'default',
  rules: { allow: [], ask: [], deny: [] },
  readOnly: true,
  wall: false,
} as const;

/** `fork` is null before it has begun: then nothing may run. */
export async function speculationVerdict(
  fork: Agent | null,
  name: string,
  input: unknown,
): Promise<ToolVerdict> {
  const tool = fork?.spec.tools.find((one) => one.name === name);
  if (fork === null || tool === undefined || tool.ofSession === true) return refused();
  if (tool.access?.(input).command !== undefined) return commandVerdict(fork, tool, input);
  if (typeof tool.pathFields !== 'object') return refused();
  if (tool.effect === 'read') return ALLOWED;
  return tool.effect === 'write' && isInOwnTree(fork, tool, input) ? ALLOWED : refused();
}

async function commandVerdict({ directory }: Agent, tool: Tool, input: unknown): Promise<ToolVerdict> {
  const { kind } = await decide(STRICT, tool, { input, cwd: directory.cwd });
  return kind === 'allow' ? ALLOWED : refused();
}

/** Memory, and whatever else agents may write outside of their worktree, is there for good. */
function isInOwnTree({ directory: { cwd, workspace } }: Agent, tool: Tool, input: unknown): boolean {
  const { writes = [] } = tool.access?.(input) ?? {};
  if (workspace === null || writes.length === 0) return false;
  const { root } = workspace.fence;
  return writes.every((path) => {
    const place = landingPath(resolve(cwd, path));
    return place !== null && isInside(place, root);
  });
}

function refused(): ToolVerdict {
  return { allowed: false, reason: NOTHING_ELSE };
}
