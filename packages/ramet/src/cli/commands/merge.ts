/** `ramet merge`: what is asked for goes to the merge queue, a preview or `gh`. */
import {
  continueMerge,
  type MergeOptions,
  mergeBranches,
  mergeQueue,
  previewMerge,
  proposeBranches,
} from '../../sdk/merge/merge.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { showMatrix, showQueue, showReport } from '../../views/merge-text.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { paintFirst, paintTable, styleFor } from '../output/painted.ts';

interface MergeFlags extends MergeOptions {
  continue?: boolean;
  preview?: boolean;
  status?: boolean;
  pr?: boolean;
  json?: boolean;
}

export async function merge(branches: readonly string[], flags: MergeFlags, io: CommandIo): Promise<number> {
  const options = { ...flags, ...callFrom(io) };
  const show = (value: object, text: string): void =>
    io.out(flags.json ? jsonLine(value) : paintFirst(paintTable(text, styleFor(io)), styleFor(io)));
  if (flags.preview) {
    const matrix = await previewMerge(branches, options);
    show(matrix, showMatrix(matrix));
    return matrix.conflicts.length === 0 ? EXIT.done : EXIT.failed;
  }
  if (flags.pr) {
    const opened = await proposeBranches(branches, options);
    show(opened, opened.map(({ branch, url }) => `${branch}  ${url}\n`).join(''));
    return EXIT.done;
  }
  if (flags.status) {
    const queue = await mergeQueue(options);
    show(queue, showQueue(queue));
    return EXIT.done;
  }
  const report = flags.continue
    ? await continueMerge({ ...options, branches })
    : await mergeBranches(branches, options);
  show(report, showReport(report, io.cwd));
  // One that is ready and has a reason was kept from landing by its check.
  const isGood = report.entries.every(
    ({ state, reason }) =>
      ['landed', 'nothing'].includes(state) || (state === 'integrated' && reason === null),
  );
  return isGood ? EXIT.done : EXIT.failed;
}
