import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { sessionSettings } from '../session/setup/session-settings.ts';
import { readSettingsInDetail } from './settings-report.ts';
import { changeTrust, notForTrust, trustOf } from './trust.ts';

const SETTINGS = '.claude/settings.json';
const rules = (count: number): string =>
  JSON.stringify({ permissions: { deny: Array.from({ length: count }, (_, at) => `Bash(x${at}:*)`) } });

function repository(files: Record<string, string>) {
  const base = temporaryDirectory();
  const cwd = join(base, 'work');
  writeFiles(cwd, { '.git/HEAD': '', ...files });
  return { cwd, env: { HOME: join(base, 'user'), RAMET_HOME: join(base, 'home') } };
}

describe('SEC-1: a settings file of a repository that is too large for settings', () => {
  test('is in force nowhere, which the same line says everywhere, before trust and after it', async () => {
    const here = repository({ [SETTINGS]: rules(80_000), '.ramet/settings.json': '{"maxTurns": 7}' });
    const lines = async () => [
      await notForTrust(here),
      (await sessionSettings(here)).notices.filter((line) => line.includes(SETTINGS)),
      (await readSettingsInDetail(here)).problems,
    ];
    const before = await lines();
    const [[said]] = before as [string[]];
    expect(said).toMatch(
      /^\.claude\/settings\.json has \d+ bytes, too many for settings: deny and ask rules in it are NOT in force$/,
    );
    expect(before).toEqual([[said], [said], [said]]);
    expect(trustOf(here).parts.map(({ source }) => source)).toEqual(['.ramet/settings.json']);
    changeTrust('trust', here);
    expect(await lines()).toEqual(before);
    expect(trustOf(here).parts.map(({ state }) => state)).toEqual(['trusted']);
  });

  test('takes nothing away that was trusted while it was small', async () => {
    const here = repository({ [SETTINGS]: rules(2) });
    changeTrust('trust', here);
    writeFiles(here.cwd, { [SETTINGS]: rules(80_000) });
    const { others, notices } = await sessionSettings(here);
    expect(others?.flatMap(({ texts }) => texts.deny)).toEqual(['Bash(x0:*)', 'Bash(x1:*)']);
    expect(notices).toEqual([
      expect.stringContaining('too many for settings'),
      expect.stringContaining('what you trusted it with stays in force until ramet trust'),
    ]);
    expect(trustOf(here).parts).toMatchObject([
      { kind: 'limits', state: 'removed', difference: ['- deny: "Bash(x0:*)"', '- deny: "Bash(x1:*)"'] },
    ]);
  });
});
