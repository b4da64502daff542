/** `ramet stats`: what earlier runs of the operator say about working in parallel. */
import { runStatistics } from '../../sdk/operator/planning/run-statistics.ts';
import { statisticsObject, statisticsText } from '../../views/run-statistics.ts';
import { type CommandIo, callFrom } from '../io.ts';
import { paintGroups, paintTable, styleFor } from '../output/painted.ts';

export function stats({ json }: { json?: boolean }, io: CommandIo): void {
  const statistics = runStatistics(callFrom(io));
  io.out(
    json
      ? `${JSON.stringify(statisticsObject(statistics))}\n`
      : paintGroups(paintTable(statisticsText(statistics), styleFor(io)), styleFor(io)),
  );
}
