/**
 * Background agents whose end an earlier process did not report to their parent (AGENT-5): it was killed after they had
 * ended and before the report, or they cannot resume. Resuming the parent reports them, once: the report is recorded,
 * and found the next time.
 */
import type { JournalReader } from '../../journal/journal.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { SessionRuntime } from '../agent/runtime.ts';
import type { AgentFamily } from '../children/family.ts';
import { notificationText } from '../children/report.ts';
import type { RecordedChild, RecordedChildren } from './recorded-children.ts';
import { recordedReport } from './recorded-report.ts';

export interface LostNotification {
  readonly from: AgentId;
  readonly text: string;
}

interface LostSource {
  recorded: RecordedChildren;
  reader: JournalReader;
  /** Agents that were resumed after `recorded` was read: their runs report them, also when they have ended again. */
  goneOn?: ReadonlySet<AgentId>;
}

/** For the children of `parent` that are in the background, not told of and not running. */
export async function lostNotifications(
  family: AgentFamily,
  runtime: Pick<SessionRuntime, 'redact' | 'outputDirectory'>,
  parent: AgentId,
  { recorded, reader, goneOn }: LostSource,
): Promise<LostNotification[]> {
  const isAlive = (id: AgentId): boolean => goneOn?.has(id) === true || family.find(id) !== undefined;
  const lost = recorded.of(parent).filter(({ id, background, told }) => background && !told && !isAlive(id));
  return Promise.all(lost.map((child) => lostNotification(family, runtime, child, reader)));
}

async function lostNotification(
  family: AgentFamily,
  { redact, outputDirectory }: Pick<SessionRuntime, 'redact' | 'outputDirectory'>,
  child: RecordedChild,
  reader: JournalReader,
): Promise<LostNotification> {
  const keep = { redact, outputDirectory, cap: family.parts.limits.reportBytes };
  return { from: child.id, text: await notificationText(recordedReport(reader, child), keep) };
}
