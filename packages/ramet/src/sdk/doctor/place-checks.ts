/** The directory Ramet keeps its records in, and the folder it would work in. */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { NOT_FOLLOWED } from '../../extensions/trust/folder-trust.ts';
import { createSession, openReader } from '../../journal/sessions.ts';
import { describeError, UserMistake } from '../../schema/errors.ts';
import { readOtherTools } from '../../settings/other-tools/read-other-tools.ts';
import { isTrustedPlace } from '../../settings/read-settings.ts';
import { isBinding } from '../../settings/setting-value.ts';
import { problemText, settingsNotices } from '../../settings/settings-notices.ts';
import { makePrivateDirectory, unusable } from '../../system/home.ts';
import { trustOf } from '../calls/trust.ts';
import { endOrphans, endOrphansElsewhere, finishAdoptions } from '../leftovers.ts';
import { formerNotice } from '../session/setup/former-guards.ts';
import { describeSettings, settingsPlace, unusedOthers } from '../session/setup/session-settings.ts';
import { type DoctorContext, type HealthCheck, limited, missing, ok } from './health-check.ts';

/** A session of many agents writes some hundred megabytes. */
const LITTLE_SPACE_BYTES = 1 << 30;

const REMEDY = 'set RAMET_HOME to a directory you can write to';

export function checkHome({ place: { home } }: DoctorContext): HealthCheck {
  try {
    makePrivateDirectory(home);
    rmSync(mkdtempSync(join(home, '.doctor-')), { recursive: true });
    const { bavail, bsize } = statfsSync(home);
    const free = bavail * bsize;
    const found = `${home}, ${(free / 2 ** 30).toFixed(1)} GB free`;
    if (free >= LITTLE_SPACE_BYTES) return ok('home', found);
    return limited('home', found, 'make room, or set RAMET_HOME to a directory on another disk');
  } catch (error) {
    const reason = error instanceof UserMistake ? error : unusable(home, error);
    return missing('home', reason.message.replace(`; ${REMEDY}`, ''), REMEDY);
  }
}

/** Writes and reads a journal of its own in a temporary folder of the same disk. */
export async function checkJournal({ place: { home, cwd } }: DoctorContext): Promise<HealthCheck> {
  let project: string | undefined;
  try {
    project = mkdtempSync(join(home, '.doctor-'));
    const journal = await createSession({ project, cwd });
    await journal.close();
    openReader({ project, session: journal.session }).close();
    return ok('journal', 'can be written and read');
  } catch (error) {
    return missing('journal', describeError(error), 'set RAMET_HOME to a directory on a local disk');
  } finally {
    if (project !== undefined) rmSync(project, { recursive: true, force: true });
  }
}

/** The check also ends them: a user who asks what is wrong wants it gone. */
export async function checkProcesses({ place }: DoctorContext): Promise<HealthCheck> {
  const ended = [...(await endOrphans(place)), ...(await endOrphansElsewhere(place))];
  const groups = ended.map(({ leader, agent }) => `${leader.pid} of agent ${agent}`).join(', ');
  const left = ended.length === 0 ? 'none left by a killed session' : `ended what was left: ${groups}`;
  return ok('processes', [left, ...(await finishAdoptions(place))].join('; '));
}

export async function checkSettings({ place, caller }: DoctorContext): Promise<HealthCheck> {
  const report = await describeSettings(place, caller.env);
  const [problem] = report.files.filter(isBinding).flatMap(({ problems }) => problems);
  if (problem !== undefined)
    return missing('settings', problemText(problem), 'correct the file; ramet settings lists every setting');
  const [notice] = settingsNotices(report);
  if (notice !== undefined) return limited('settings', notice, 'see ramet settings');
  const [astray] = await (await import('../mcp/rule-notices.ts')).ruleNoticesHere(caller);
  if (astray !== undefined) return limited('settings', astray, 'correct the rule, or the name of the server');
  const read = report.files.filter(({ state }) => state === 'read').map(({ path }) => path);
  return ok('settings', read.length === 0 ? 'no files, so the defaults hold' : read.join(', '));
}

/** What was set up for Claude Code: which of it counts here. */
export async function checkOthers({ place, caller }: DoctorContext): Promise<HealthCheck> {
  const here = settingsPlace(place, caller.env);
  const found = await readOtherTools(here);
  const report = await describeSettings(place, caller.env);
  const others = { ...found, unused: await unusedOthers(report, found, here) };
  const rules = others.rules.flatMap(({ texts }) => [...(texts.deny ?? []), ...(texts.ask ?? [])]);
  const places = some(others.rules.map((one) => one.place));
  const waiting = some(others.unused.flatMap(({ what, needsTrust }) => (needsTrust ? [what] : [])));
  const unused = some(others.unused.flatMap(({ what, needsTrust }) => (needsTrust ? [] : [what])));
  const told = [
    ...(rules.length === 0 ? [] : [`deny and ask rules of ${places} are in force`]),
    ...(others.problems.length === 0 ? [] : [some(others.problems, 1)]),
    ...(waiting === '' ? [] : [`not in use as long as it is not trusted as it is: ${waiting}`]),
    ...(unused === '' ? [] : [`without effect in Ramet: ${unused}`]),
  ].join('; ');
  if (others.problems.length > 0)
    return limited('others', told, 'correct the file, or write the rules to .ramet/settings.json');
  if (others.unused.length > 0) return limited('others', told, 'ramet settings lists all of it');
  return ok('others', told === '' ? 'no settings of other tools' : told);
}

/** The first of them, and how many there are besides: a check is one line. */
function some(all: readonly string[], most = 4): string {
  const names = [...new Set(all)];
  const rest = names.length - most;
  return names.slice(0, most).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

export function checkTrust({ place, caller }: DoctorContext): HealthCheck {
  const here = settingsPlace(place, caller.env);
  const { root } = here;
  if (isTrustedPlace(here)) {
    const changed = trustOf({ cwd: place.cwd, env: caller.env }).parts.filter(
      ({ state }) => state !== 'trusted',
    );
    if (changed.length === 0) return ok('trust', `${root} is trusted`);
    const what = some(
      changed.map(
        ({ kind, source, followsMore }) => `${kind} of ${source}${followsMore ? ` (${NOT_FOLLOWED})` : ''}`,
      ),
    );
    return limited(
      'trust',
      `${root} is trusted, but not as it is now: ${what}`,
      'look: ramet trust --show; accept: ramet trust',
    );
  }
  const [former] = here.former ?? [];
  if (former !== undefined)
    return limited('trust', formerNotice(former), 'look: ramet trust --show; accept: ramet trust');
  return ok('trust', `${root} is not trusted: its settings may narrow rights, not widen them (ramet trust)`);
}
