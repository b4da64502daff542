import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { ruleProblem, saveAllowRules } from './allow-rules.ts';
import { readSettingsInDetail } from './settings-report.ts';
import { changeTrust } from './trust.ts';

describe('RES-3: rules that a person chooses at a question', () => {
  test('hold in later sessions: of the user everywhere, of a project once it is trusted', async ({
    directory,
  }) => {
    const cwd = join(directory, 'work');
    mkdirSync(cwd);
    const options = { cwd, env: { HOME: directory, RAMET_HOME: join(directory, 'home') } };
    const allowed = async () => (await readSettingsInDetail(options)).settings.permissions?.allow;

    expect(await saveAllowRules('user', ['Edit(src/**)'], options)).toBe(
      join(directory, 'home/settings.json'),
    );
    expect(await saveAllowRules('project', ['Bash(npm test:*)'], options)).toBe(
      '.ramet/settings.local.json, which counts once you trust this folder: ramet trust',
    );
    expect(await allowed()).toEqual(['Edit(src/**)']);
    changeTrust('trust', options);
    expect(await saveAllowRules('project', ['Bash(npm test:*)'], options)).toBe('.ramet/settings.local.json');
    expect(await allowed()).toEqual(['Edit(src/**)', 'Bash(npm test:*)']);
  });

  test('are refused when they can never match', ({ directory }) => {
    const options = { cwd: directory, env: { HOME: directory } };
    expect(ruleProblem(['Edit', 'Bash(npm test:*)'], options)).toBeNull();
    expect(ruleProblem(['Edit', 'Edit(src/**)also rename it'], options)).toMatch(/cannot be read/);
    expect(ruleProblem(['Glob()'], options)).toMatch(/^Glob\(\) /);
  });
});
