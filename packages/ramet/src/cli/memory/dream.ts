/** `ramet memory dream`: tidies up the memory of a repository. */
import { localDay } from '../../schema/local-time.ts';
import { type DreamReport, type DreamSummary, dreamMemory } from '../../sdk/memory/dream-memory.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { printable } from '../../views/text/format.ts';
import { type CommandIo, callFrom } from '../io.ts';

export async function dream(
  { json, ...options }: { json?: boolean; now?: boolean; model?: string },
  io: CommandIo,
): Promise<void> {
  const report = await dreamMemory(options, callFrom(io));
  io.out(json ? jsonLine(report) : reportText(report));
}

function reportText({ standing, dreamt }: DreamReport): string {
  if (dreamt !== null) return dreamtText(dreamt);
  const last = standing.last === null ? 'never' : localDay(standing.last);
  return `it is not time yet: last tidied up ${last}, ${standing.sessions} sessions since (--now does it at once)\n`;
}

function dreamtText({ change, lines, removed, refused, unusable, unanswered }: DreamSummary): string {
  const rows = [
    ...removed.map(({ file, line, why }) => `removed  ${file}: ${line}\n         ${why}`),
    ...refused.map(({ asked, why }) => `kept     ${asked}\n         ${why}`),
    ...unusable.map(
      (file) =>
        `left     ${file}: it is read-only, has conflict markers, or is no text that can be read: it stays as it is`,
    ),
    ...(unanswered === 0
      ? []
      : [`tasks that were not answered, and are left to the next time: ${unanswered}`]),
    change === null
      ? `nothing changed in ${lines} lines`
      : `${removed.length} of ${lines} lines removed as ${change}: ramet memory undo ${change} takes it back`,
  ];
  return `${printable(rows.join('\n'))}\n`;
}
