/** `ramet settings`: every value and where it came from; what does not count, and why. */
import {
  type ReportedSetting,
  readSettingsInDetail,
  type SettingsInDetail,
  settingsSchema,
} from '../../sdk/calls/settings-report.ts';
import { excerpt, printable } from '../../views/text/format.ts';
import { fittedTable } from '../../views/text/narrow-table.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { paintTable, styleFor } from '../output/painted.ts';

const VALUE_LENGTH = 60;

/** Exits with 2 while a bad file keeps other commands from starting. */
export async function settings(
  options: { json?: boolean; schema?: boolean },
  io: CommandIo,
): Promise<number> {
  if (options.schema) {
    io.out(await settingsSchema());
    return EXIT.done;
  }
  const report = await readSettingsInDetail(callFrom(io));
  if (options.json) io.out(`${JSON.stringify(reportObject(report))}\n`);
  else
    io.out(
      paintTable(
        reportText(report, io.columns) +
          othersText(report.others, io.columns) +
          extensionsText(report, io.columns),
        styleFor(io),
      ),
    );
  for (const problem of report.problems) io.note(problem);
  return report.isBroken ? EXIT.wrongUse : EXIT.done;
}

function reportText({ values, files }: SettingsInDetail, columns: number | null): string {
  const used = values.filter(({ unused }) => unused === null);
  const unused = values.filter(({ unused, level }) => unused !== null && level !== 'default');
  const parts = [
    fittedTable(
      [['KEY', 'VALUE', 'FROM'], ...inOrder(used).map((value) => [...keyAndValue(value), value.from])],
      columns,
    ),
    unused.length === 0
      ? ''
      : fittedTable([['NOT IN USE', 'VALUE', 'FROM', 'WHY'], ...inOrder(unused).map(unusedRow)], columns),
    fittedTable([['FILE', 'STATE'], ...files.map(({ path, state }) => [path, state])], columns),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** What Claude Code reads here: rules and directories that count, what would after trust, and what has no effect. */
function othersText(
  { rules, directories, unused }: SettingsInDetail['others'],
  columns: number | null,
): string {
  const counted = [
    ...rules.flatMap(({ place, texts }) =>
      (['deny', 'ask', 'allow'] as const).flatMap((list) =>
        (texts[list] ?? []).map((rule) => [`permissions.${list}`, excerpt(rule, VALUE_LENGTH), place]),
      ),
    ),
    ...directories.map(({ path, source }) => ['permissions.additionalDirectories', path, source]),
  ];
  const waiting = unused.flatMap(({ what, source, needsTrust }) =>
    needsTrust ? [[what, source, needsTrust]] : [],
  );
  const idle = unused.filter(({ needsTrust }) => needsTrust === undefined);
  const parts = [
    counted.length === 0 ? '' : fittedTable([['ALSO IN FORCE', 'RULE', 'FROM'], ...counted], columns),
    waiting.length === 0 ? '' : fittedTable([['NOT IN USE', 'FROM', 'WHY'], ...waiting], columns),
    idle.length === 0
      ? ''
      : fittedTable(
          [['WITHOUT EFFECT IN RAMET', 'FROM'], ...idle.map(({ what, source }) => [what, source])],
          columns,
        ),
  ];
  return parts.map((part) => (part === '' ? '' : `\n${part}`)).join('');
}

function extensionsText(
  { unusedExtensions, flawedExtensions, inactiveFields }: SettingsInDetail,
  columns: number | null,
): string {
  const table = (head: readonly string[], list: SettingsInDetail['unusedExtensions']): string => {
    if (list.length === 0) return '';
    const rows = list.map(({ what, source, why }) => [what, source, why].map(printable));
    return `\n${fittedTable([[...head], ...rows], columns)}`;
  };
  return (
    table(['EXTENSION NOT IN USE', 'FROM', 'WHY'], unusedExtensions) +
    table(['IN USE, WITH A MISTAKE', 'FROM', 'MISTAKE'], flawedExtensions) +
    table(['FIELD WITHOUT EFFECT', 'FROM', 'WHY'], inactiveFields)
  );
}

function unusedRow(value: ReportedSetting): string[] {
  return [...keyAndValue(value), value.from, value.unused ?? ''];
}

function keyAndValue({ key, value }: ReportedSetting): [string, string] {
  return [key, excerpt(typeof value === 'string' ? value : JSON.stringify(value), VALUE_LENGTH)];
}

/** By key, so that what belongs together stands together. */
function inOrder(values: readonly ReportedSetting[]): ReportedSetting[] {
  return values.toSorted((a, b) => {
    const [first, second] = [a.key, b.key];
    return first < second ? -1 : first > second ? 1 : 0;
  });
}

function reportObject({
  settings,
  values,
  files,
  isTrusted,
  others,
  unusedExtensions,
  flawedExtensions,
  inactiveFields,
}: SettingsInDetail): Record<string, unknown> {
  return {
    settings,
    values: values.map(({ key, value, level, source, line, unused }) => {
      return { key, value, level, source, line, in_use: unused === null, why_not: unused };
    }),
    files: files.map(({ level, path, state, problems }) => ({ level, path, state, problems })),
    trusted: isTrusted,
    other_tools: othersObject(others),
    unused_extensions: unusedExtensions,
    flawed_extensions: flawedExtensions,
    inactive_fields: inactiveFields,
  };
}

/** Of variables only the names: a value may be a secret. */
function othersObject({ env, statusLines, isStopped, ...others }: SettingsInDetail['others']): object {
  return { ...others, env: Object.keys(env), status_lines: statusLines, all_hooks_off: isStopped };
}
