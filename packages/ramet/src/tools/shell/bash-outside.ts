/**
 * What becomes of a command that ran behind the wall (RES-3): where the sandbox made it fail, somebody is asked whether
 * it may run outside; where it may not, its result says what the sandbox did. Nothing is changed silently.
 */
import type { ShellDecision, ShellStart } from '../../sandbox/command-sandbox.ts';
import type { ToolContext, ToolOutcome } from '../tool.ts';
import { sandboxDoing } from './sandbox-doing.ts';

export type TextOutcome = ToolOutcome & { content: string };

export interface WalledCommand {
  readonly command: string;
  /** Runs it again. */
  run(shell: ShellStart): Promise<TextOutcome>;
}

export async function outsideIfStopped(
  inside: TextOutcome,
  { command, run }: WalledCommand,
  { outside, signal }: Pick<ToolContext, 'outside' | 'signal'>,
): Promise<TextOutcome> {
  const doing = sandboxDoing({ output: inside.content, failed: inside.isError === true });
  if (doing === null || outside === undefined || signal.aborted) return inside;
  if (doing.kind === 'doubtful') return withNote(inside, `(It ran in a read-only sandbox: ${doing.reason}.)`);
  const shell = await outside(command, doing.kind === 'owners' ? null : doing.reason);
  if (!isRefusal(shell)) return run(shell);
  if (doing.kind === 'owners')
    return withNote(inside, '(It ran in a sandbox, which shows every other owner as nobody.)');
  const known = shell.refusal.includes(doing.reason);
  return withNote(
    inside,
    `${known ? '' : `The read-only sandbox stopped it: ${doing.reason}. `}${shell.refusal}`,
  );
}

function isRefusal(shell: ShellDecision): shell is Extract<ShellDecision, { refusal: string }> {
  return 'refusal' in shell;
}

function withNote(outcome: TextOutcome, note: string): TextOutcome {
  return { ...outcome, content: `${outcome.content}\n${note}` };
}
