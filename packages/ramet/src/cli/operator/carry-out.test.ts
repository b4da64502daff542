import { expect, test } from 'vitest';
import { MIXED_RUN, madeRun } from '../../../test/fixtures/operator-run.ts';
import { withNextStep } from './carry-out.ts';

test('OP-2: a full disk is told with the place, what is saved, and the command that continues', () => {
  const live = { session: 's', state: madeRun(...MIXED_RUN) };
  const place = { cwd: '/repository', env: { RAMET_HOME: '/home/.ramet' } };
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const told = withNextStep(full, live, place);
  expect(told).toMatchObject({
    code: 'disk_full',
    message:
      'the disk is full: there is no room in /repository or /home/.ramet; what 1 of 4 tasks did is saved, and the others are continued; make room, then: ramet operate --resume s',
  });
  const named = Object.assign(full, { path: '/repository/.git/index.lock' });
  expect(String(withNextStep(named, live, place))).toContain('no room in /repository/.git/index.lock;');
  const sqlite = Object.assign(new Error('database or disk is full'), {
    code: 'ERR_SQLITE_ERROR',
    errcode: 13,
  });
  for (const error of [sqlite, Object.assign(new Error('full'), { code: 'journal_disk_full' })])
    expect(String(withNextStep(error, live, place))).toContain('make room, then: ramet operate --resume s');
  const other = new Error('other');
  expect(withNextStep(other, live, place)).toBe(other);
});
