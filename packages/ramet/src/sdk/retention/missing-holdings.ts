/** What is left of sessions whose file is gone. A WAL may be the only copy of what they did: only `--work` removes it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type MissingFile, missingFiles, missingText } from '../../journal/missing-files.ts';
import { GONE_ALREADY, type Holding, type HoldingOptions } from './holding.ts';
import { WORK_STAYS } from './kept-folders.ts';
import { isOfSession, removeLeftovers } from './remove-session.ts';
import { DAY_MS, filesAt } from './session-holdings.ts';

type Rule = Pick<HoldingOptions, 'now' | 'days' | 'work'>;

export function missingHoldings(project: string, rule: Rule): Holding[] {
  return missingFiles(project).map((missing) => holdingOf(project, missing, rule));
}

function holdingOf(project: string, missing: MissingFile, { now, days, work }: Rule): Holding {
  const { session, left } = missing;
  const own = readdirSync(project).filter((name) => isOfSession(name, session));
  const files = own.flatMap((name) => filesAt(join(project, name)));
  const usedAt = Math.max(...files.map(({ mtimeMs }) => mtimeMs), 0);
  const mayHoldWork = left === 'WAL' && !work;
  const saves = `ramet doctor --repair ${session} saves what it holds ${WORK_STAYS}`;
  return {
    kind: 'leftovers',
    name: missingText(missing),
    usedAt,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    parts: null,
    keep: mayHoldWork ? saves : now - usedAt < days * DAY_MS ? 'it is recent' : null,
    // Listed whatever its age: nothing else shows that it is there.
    young: false,
    async remove() {
      const removal = removeLeftovers(project, session);
      if (removal === 'in use') return 'it is in use, or its file is back';
      return removal === 'removed' ? null : GONE_ALREADY;
    },
  };
}
