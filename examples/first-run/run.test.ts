import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

const RUN = join(import.meta.dirname, 'run.ts');
const temporary = mkdtempSync(join(tmpdir(), 'ramet-first-run-test-'));
afterAll(() => rmSync(temporary, { recursive: true }));

/** Its folders are made where TMPDIR says, so what it leaves behind is seen. */
function start(...args: string[]) {
  const env = { PATH: process.env.PATH, TMPDIR: temporary };
  const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, ...args], {
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('the first run', () => {
  test('shows the report, the change and the bill, and leaves nothing behind', () => {
    const { status, stdout, stderr } = start();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('All tests pass.');
    expect(stdout).toContain('\n+  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);\n');
    expect(stdout).toMatch(/^TOTAL .+\$0\.\d{4}$/m);
    expect(stdout).toContain('The test passes now.');
    expect(stdout.split('\n').length).toBeLessThanOrEqual(60);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test('keeps its folder when asked to, and says how to look around', () => {
    const { status, stdout } = start('--keep');
    expect(status).toBe(0);
    const repository = /^ {2}cd (.+)$/m.exec(stdout)?.[1] ?? '';
    expect(existsSync(join(repository, '.git'))).toBe(true);
    rmSync(dirname(repository), { recursive: true });
  });

  test('fails, with the reason, when the agent does not mend the test', () => {
    const script = readFileSync(join(import.meta.dirname, 'scenario.yaml'), 'utf8');
    const scenario = join(temporary, 'clumsy.yaml');
    writeFileSync(scenario, script.replaceAll('year % 400 === 0)', 'true)'));
    const { status, stderr } = start('--scenario', scenario);
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'first run: the test still fails\n' });
    expect(readdirSync(temporary)).toEqual(['clumsy.yaml']);
  });

  test('refuses what it does not know', () => {
    expect(start('--kept')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('--kept'),
    });
  });
});
