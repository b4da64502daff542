/**
 * What a member's own conversation shows of its work on a task (TEAM-3, AGENT-6): the files that its file tools changed, and the
 * commands that it ran with how they ended. It is read from calls and their results, not from what the member says.
 */
import { contentOf, type FrozenBlock } from '../../conversation/frozen-block.ts';
import type { TaskProof } from '../../schema/team.ts';
import { headOf, visibleLine } from '../../system/text/visible-text.ts';
import { findTool, parseInput } from '../../tools/registry.ts';
import type { Agent } from '../agent/agent.ts';

const MOST_FILES = 50;
const MOST_COMMANDS = 30;
const LONGEST_COMMAND = 200;

/** Where its conversation is, in messages, and what it shows from there on. */
export function workOf(agent: Agent): { position(): number; proof(from: number): TaskProof } {
  return { position: () => agent.conversation.messages.length - 1, proof: (from) => proofOf(agent, from) };
}

/** After a compaction the whole conversation is what is left. */
function proofOf(agent: Agent, from: number): TaskProof {
  const { messages } = agent.conversation;
  const blocks = messages.slice(from < messages.length ? from : 0).flatMap((message) => message.blocks);
  const results = new Map(blocks.flatMap(resultIn));
  // Of calls beside the one that completes the task: no message holds them yet.
  for (const block of agent.content.results.values())
    for (const [call, result] of resultIn(block)) results.set(call, result);
  const files = new Set<string>();
  const commands: { command: string; exit: number | null }[] = [];
  for (const block of blocks.filter(({ type }) => type === 'tool_use')) {
    const { id, name, input } = contentOf(block);
    const result = results.get(String(id));
    const access = accessOf(agent, String(name), input);
    if (result === undefined || access === null) continue;
    if (!result.isError) for (const path of access.writes ?? []) files.add(path);
    if (access.command !== undefined)
      commands.push({ command: shortOf(agent, access.command), exit: exitOf(result) });
  }
  return { files: [...files].slice(0, MOST_FILES), commands: commands.slice(-MOST_COMMANDS) };
}

interface SeenResult {
  readonly text: string;
  readonly isError: boolean;
}

function resultIn(block: FrozenBlock): [call: string, result: SeenResult][] {
  if (block.type !== 'tool_result') return [];
  const { tool_use_id: call, content, is_error: isError } = contentOf(block);
  return [[String(call), { text: JSON.stringify(content), isError: isError === true }]];
}

function accessOf({ spec }: Agent, name: string, input: unknown) {
  const tool = findTool(spec.tools, name);
  const parsed = tool && parseInput(tool, input);
  return parsed?.ok === true ? (tool?.access?.(parsed.value) ?? null) : null;
}

/** A command that failed says its code after its output. */
function exitOf({ text, isError }: SeenResult): number | null {
  if (!isError) return 0;
  const code = [...text.matchAll(/Exit code (\d+)\./g)].at(-1)?.[1];
  return code === undefined ? null : Number(code);
}

function shortOf({ runtime }: Agent, command: string): string {
  return visibleLine(headOf(runtime.redact(command), LONGEST_COMMAND));
}

/** One line of it. */
export function proofText({ files, commands }: TaskProof): string {
  // What a command changed is not known.
  const none = commands.length === 0 ? 'no file changed' : 'no file changed by a file tool';
  const changed = files.length === 0 ? none : `changed ${files.map(visibleLine).join(', ')}`;
  const ran = commands.map(
    ({ command, exit }) => `\`${command}\` (${exit === null ? 'cut off' : `exit ${exit}`})`,
  );
  return `${changed}; ${ran.length === 0 ? 'no command run' : `ran ${ran.join(', ')}`}`;
}
