/** Commands and plugins of a folder's settings: those that are not what was trusted are left out, with a line for each. */
import type { FolderPart } from '../../../extensions/trust/folder-part.ts';
import { isUsersFile, shownPath } from '../../../settings/other-tools/other-tools.ts';
import type { SettingsReport } from '../../../settings/read-settings.ts';
import type { Settings, SettingsPlace } from '../../../settings/settings.ts';

export async function withoutChangedCommands(
  settings: Settings,
  values: SettingsReport['values'],
  place: SettingsPlace,
  /** Files of another tool with a status line, the nearest first: they count where no own file has one. */
  statusLines: readonly string[] = [],
): Promise<{ settings: Settings; notices: string[] }> {
  const theirs = values.filter(
    ({ path, level, unused }) =>
      isCommand(path) && unused === null && (level === 'repository' || level === 'local'),
  );
  const others = settings.statusLine === undefined ? statusLines.slice(0, 1) : [];
  if (theirs.length === 0 && others.length === 0) return { settings, notices: [] };
  const { partsOfSettings, pluginPart } = await import('../../../extensions/trust/collect-parts.ts');
  const { commandsOf } = await import('../../../extensions/trust/commands-in.ts');
  const { folderTrust, partNotice } = await import('../../../extensions/trust/folder-trust.ts');
  const { runCheck } = await import('../../../extensions/trust/run-check.ts');
  const trust = folderTrust(place);
  const notices: string[] = [];
  const passes = (part: FolderPart): boolean => {
    const shown = shownPath(part.source, place.root, place.userHome);
    const notice = partNotice(part, shown, trust.verdictOn(part));
    if (notice !== null) notices.push(notice);
    return notice === null;
  };
  const refused = new Set<unknown>();
  for (const { path, value } of theirs)
    if (path[0] === 'plugins' && !passes(pluginPart(String(value), place))) refused.add(value);
  let kept: Settings = {
    ...settings,
    ...(refused.size > 0 && { plugins: settings.plugins?.filter((path) => !refused.has(path)) }),
  };
  const own = [...new Set(theirs.map(({ source }) => source ?? ''))].flatMap(partsOfSettings);
  const borrowed = others.flatMap(partsOfSettings).filter(({ kind }) => kind === 'status line');
  for (const part of [...own, ...borrowed]) {
    if (part.kind !== 'status line' && part.kind !== 'setup') continue;
    if (isUsersFile(part.source, place.userHome)) {
      kept = { ...kept, statusLine: lineOf(part) };
      continue;
    }
    const check = passes(part) ? runCheck(part, place, trust) : null;
    // In another directory its files can be others than here, and they can change.
    const whyNot = (cwd: string): string | null =>
      commandsOf(part).reduce((why: string | null, { texts }) => why ?? check?.(texts, cwd) ?? null, null);
    if (part.kind === 'status line')
      kept = {
        ...kept,
        statusLine: check === null ? undefined : { ...(kept.statusLine ?? lineOf(part)), whyNot },
      };
    else {
      const setup = check === null ? { setup: undefined } : { whyNoSetup: whyNot };
      kept = { ...kept, worktree: { ...kept.worktree, ...setup } };
    }
  }
  return { settings: kept, notices };
}

function isCommand([key, name]: readonly string[]): boolean {
  return key === 'statusLine' || key === 'plugins' || (key === 'worktree' && name === 'setup');
}

/** Of another tool's file, where nothing has checked it. */
function lineOf({ value }: FolderPart): Settings['statusLine'] {
  const { command, padding } = Object(value);
  return typeof command === 'string'
    ? { command, ...(typeof padding === 'number' && { padding }) }
    : undefined;
}
