/** `ramet settings`: every value and where it came from; what does not count, and why. */
import type { OtherTools } from '../../extensions/other-tools/other-tools.ts';
import { readOtherTools } from '../../extensions/other-tools/read-other-tools.ts';
import { isTrustedPlace, type SettingsReport } from '../../extensions/settings/read-settings.ts';
import { isBinding, keyText, placeOf, type SettingValue } from '../../extensions/settings/setting-value.ts';
import { problemText } from '../../extensions/settings/settings-problems.ts';
import { findPlace } from '../../sdk/place.ts';
import { describeSettings, settingsPlace } from '../../sdk/session-settings.ts';
import { excerpt, table } from '../../views/text/format.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandIo } from '../io.ts';

const VALUE_LENGTH = 60;

/** Exits with 2 while a bad file keeps other commands from starting. */
export async function settings(
  options: { json?: boolean; schema?: boolean },
  io: CommandIo,
): Promise<number> {
  if (options.schema) {
    const { settingsJsonSchema } = await import('../../extensions/settings/settings-schema.ts');
    io.out(settingsJsonSchema());
    return EXIT.done;
  }
  const place = findPlace(io);
  const report = await describeSettings(place, io.env);
  const here = settingsPlace(place, io.env);
  const trusted = isTrustedPlace(here);
  const others = await readOtherTools(here);
  if (options.json) {
    io.out(`${JSON.stringify({ ...reportObject(report, trusted), other_tools: others })}\n`);
  } else io.out(reportText(report) + othersText(others));
  for (const problem of others.problems) io.note(problem);
  for (const { problems } of report.files) for (const problem of problems) io.note(problemText(problem));
  return report.files.some((file) => file.state === 'bad' && isBinding(file)) ? EXIT.wrongUse : EXIT.done;
}

function reportText({ values, files }: SettingsReport): string {
  const used = values.filter(({ unused }) => unused === null);
  const unused = values.filter(({ unused, level }) => unused !== null && level !== 'default');
  const parts = [
    table([
      ['KEY', 'VALUE', 'FROM'],
      ...inOrder(used).map((value) => [...keyAndValue(value), placeOf(value)]),
    ]),
    unused.length === 0
      ? ''
      : table([['NOT IN USE', 'VALUE', 'FROM', 'WHY'], ...inOrder(unused).map(unusedRow)]),
    table([['FILE', 'STATE'], ...files.map(({ path, state }) => [path, state])]),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** What Claude Code reads here: rules that count, and what has no effect. */
function othersText({ rules, unused }: OtherTools): string {
  const counted = rules.flatMap(({ place, texts }) =>
    (['deny', 'ask'] as const).flatMap((list) =>
      (texts[list] ?? []).map((rule) => [`permissions.${list}`, excerpt(rule, VALUE_LENGTH), place]),
    ),
  );
  const parts = [
    counted.length === 0 ? '' : table([['ALSO IN FORCE', 'RULE', 'FROM'], ...counted]),
    unused.length === 0
      ? ''
      : table([['WITHOUT EFFECT IN RAMET', 'FROM'], ...unused.map(({ what, source }) => [what, source])]),
  ];
  return parts.map((part) => (part === '' ? '' : `\n${part}`)).join('');
}

function unusedRow(value: SettingValue): string[] {
  return [...keyAndValue(value), placeOf(value), value.unused ?? ''];
}

function keyAndValue({ path, value }: SettingValue): [string, string] {
  return [keyText(path), excerpt(typeof value === 'string' ? value : JSON.stringify(value), VALUE_LENGTH)];
}

/** By key, so that what belongs together stands together. */
function inOrder(values: readonly SettingValue[]): SettingValue[] {
  return values.toSorted((a, b) => {
    const [first, second] = [keyText(a.path), keyText(b.path)];
    return first < second ? -1 : first > second ? 1 : 0;
  });
}

function reportObject(
  { settings, values, files }: SettingsReport,
  trusted: boolean,
): Record<string, unknown> {
  return {
    settings,
    values: values.map(({ path, value, level, source, line, unused }) => {
      return { key: keyText(path), value, level, source, line, in_use: unused === null, why_not: unused };
    }),
    files: files.map(({ level, path, state, problems }) => ({ level, path, state, problems })),
    trusted,
  };
}
