import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { callerOf } from '../calls/caller.ts';
import { checkSessions } from '../doctor/session-check.ts';
import { findPlace } from '../place.ts';
import { missingHoldings } from './missing-holdings.ts';
import { DAY_MS } from './session-holdings.ts';

const SESSION = 'k3v9x2ab';

const rule = { now: Date.now() + 2 * DAY_MS, days: 1, work: false };

function leave(project: string, files: Readonly<Record<string, number>>): void {
  mkdirSync(join(project, SESSION), { recursive: true });
  for (const [name, size] of Object.entries(files)) writeFileSync(join(project, name), 'x'.repeat(size));
}

describe('LOG-1: what is left of a session whose file was deleted', () => {
  test('is named by doctor with the command that repairs it', ({ directory }) => {
    const caller = callerOf({
      cwd: directory,
      env: { HOME: directory, RAMET_HOME: join(directory, 'ramet') },
    });
    const place = findPlace(caller);
    leave(place.project, { [`${SESSION}.sqlite-wal`]: 100 });
    expect(checkSessions({ caller, place })).toEqual({
      name: 'sessions',
      state: 'limited',
      found: `session ${SESSION}: its file is missing, its WAL is left`,
      remedy: `run ramet doctor --repair ${SESSION}`,
    });
  });

  test('is listed with its size, and a WAL goes only with --work', async ({ directory }) => {
    leave(directory, { [`${SESSION}.sqlite-wal`]: 100, [`${SESSION}/output.txt`]: 20, 'other.txt': 1 });
    const [kept] = missingHoldings(directory, rule);
    expect(kept).toMatchObject({ kind: 'leftovers', bytes: 120, young: false });
    expect(kept?.keep).toContain(`ramet doctor --repair ${SESSION} saves what it holds`);
    expect(missingHoldings(directory, { ...rule, work: true, now: Date.now() })[0]?.keep).toBe(
      'it is recent',
    );
    const [going] = missingHoldings(directory, { ...rule, work: true });
    expect(going?.keep).toBeNull();
    expect(await going?.remove()).toBeNull();
    expect(readdirSync(directory)).toEqual(['other.txt']);
  });

  test('goes without --work where it is only a witness, unless the file is back', async ({ directory }) => {
    leave(directory, {});
    writeFileSync(join(directory, `${SESSION}.witness`), `${'7'.padStart(12)} ${'5'.padStart(15)}\n`);
    const [going] = missingHoldings(directory, rule);
    expect(going).toMatchObject({ keep: null });
    writeFileSync(join(directory, `${SESSION}.sqlite`), 'back');
    expect(await going?.remove()).toBe('it is in use, or its file is back');
    expect(readdirSync(directory)).toContain(`${SESSION}.witness`);
  });
});
