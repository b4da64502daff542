/**
 * The agents that open calls of an agent had started, found again (AGENT-5): one that runs is waited for, of one that
 * has ended the journal has the report.
 */
import type { JournalReader } from '../../journal/journal.ts';
import type { AgentId } from '../../schema/ids.ts';
import { failure, type ToolOutcome } from '../../tools/agent-desk.ts';
import { childInterrupted } from '../agent/notices.ts';
import type { CalledAgent, SessionRuntime } from '../agent/runtime.ts';
import { type RecordedChild, RecordedChildren } from '../resume/recorded-children.ts';
import { recordedReport, recordedWorktree } from '../resume/recorded-report.ts';
import type { AgentHandle } from './child-handle.ts';
import type { AgentFamily } from './family.ts';
import { foregroundResult, reportOfRunning, startedText, worktreeLine } from './report.ts';

export async function calledAgents(
  family: AgentFamily,
  runtime: CallRuntime,
  parent: AgentId,
  calls: readonly string[],
): Promise<Map<string, CalledAgent>> {
  const called = new Map<string, CalledAgent>();
  if (calls.length === 0) return called;
  await runtime.journal.commit('written');
  const reader = family.parts.openReader();
  try {
    const reports: Promise<ToolOutcome>[] = [];
    for (const child of RecordedChildren.read(reader).of(parent)) {
      const call = child.started.origin?.call;
      if (typeof call !== 'string' || !calls.includes(call)) continue;
      // One that has just ended is still giving its worktree back: its report waits for that.
      const handle = family.findHandle(child.id) ?? family.find(parent)?.children.find(child.id);
      if (handle === undefined) {
        const outcome = outcomeOf(family, runtime, child, reader);
        reports.push(outcome);
        const isOpen = isInterrupted(child);
        const report = async (signal: AbortSignal): Promise<ToolOutcome> =>
          isOpen && signal.aborted ? { ...(await outcome), isOpen } : outcome;
        called.set(call, { report, now: () => outcome });
      } else called.set(call, running(family, runtime, handle));
    }
    // The journal stays open until they are read.
    await Promise.all(reports);
    return called;
  } finally {
    reader.close();
  }
}

type CallRuntime = Pick<SessionRuntime, 'journal' | 'redact' | 'outputDirectory'>;

function running(family: AgentFamily, runtime: CallRuntime, handle: AgentHandle): CalledAgent {
  return {
    report: (signal) => reportOfRunning(family, runtime, handle, signal),
    now: async () => {
      handle.detach();
      return { content: `It was interrupted and has resumed. ${startedText(handle)}` };
    },
  };
}

async function outcomeOf(
  family: AgentFamily,
  { redact, outputDirectory }: CallRuntime,
  child: RecordedChild,
  reader: JournalReader,
): Promise<ToolOutcome> {
  if (child.background) return { content: toldLater(child.id) };
  if (isInterrupted(child)) {
    const worktree = recordedWorktree(reader, child.id);
    const where = worktree === null ? [] : [worktreeLine(worktree)];
    return failure([childInterrupted(child.id, child.ended?.cause), ...where].join('\n'));
  }
  const keep = { redact, outputDirectory, cap: family.parts.limits.reportBytes };
  return foregroundResult(recordedReport(reader, child), keep);
}

/** While its parent is interrupted too, the call stays open: a resume of the parent resumes the agent. */
function isInterrupted({ background, ended }: RecordedChild): boolean {
  return !background && (ended === null || ended.status === 'interrupted');
}

function toldLater(id: AgentId): string {
  return `Agent ${id} ran in the background. A <task-notification> tells you how it ended; do not wait for it.`;
}
