/** Waiting for a child as the call that started it does: its report, or the word that it went to the background. */

import { onAbort } from '../../system/on-abort.ts';
import type { ToolOutcome } from '../../tools/agent-desk.ts';
import type { AgentHandle } from '../agent/agent-event.ts';
import { childInterrupted } from '../agent/notices.ts';
import type { AgentFamily } from './family.ts';
import { foregroundResult, type ReportKeeper } from './report.ts';

export async function reportOfRunning(
  family: AgentFamily,
  { redact, outputDirectory }: Omit<ReportKeeper, 'cap'>,
  handle: AgentHandle,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  if (handle.inBackground) return { content: startedText(handle) };
  // One that was found again was started before this call was there to end it.
  const unlink = onAbort(signal, () => {
    if (!handle.inBackground) handle.stop(String(signal.reason));
  });
  const waiting = (): Promise<unknown> => Promise.race([handle.result, handle.detached]);
  const place = family.find(handle.parent)?.place;
  await (place?.whileWaiting(signal, waiting) ?? waiting());
  unlink();
  if (handle.inBackground) return { content: `It was sent to the background. ${startedText(handle)}` };
  const result = await handle.result;
  const { id, type, name, description } = handle;
  // Whoever goes on with the parent goes on with the child: the call is not answered with an interruption of both.
  if (result.status === 'interrupted' && signal.aborted) {
    return { content: childInterrupted(id, result.cause), isError: true, isOpen: true };
  }
  return foregroundResult(
    { ...result, agent: id, type, name, description },
    { redact, outputDirectory, cap: family.parts.limits.reportBytes },
  );
}

export function startedText({ id, name }: AgentHandle): string {
  const called = name === null ? '' : ` "${name}"`;
  return `Agent ${id}${called} runs in the background. A <task-notification> will tell you when it ends; do not wait for it.`;
}
