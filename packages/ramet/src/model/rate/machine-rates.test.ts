import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { MachineRates, machineRatesPath, type SharedRate } from './machine-rates.ts';

const NOW = 1_700_000_000_000;
const rate: SharedRate = { size: 4, limitedAt: NOW, pausedUntil: NOW + 2_000, succeededAt: null };

function ratesOf(home = join(temporaryDirectory(), 'home')) {
  const warnings: string[] = [];
  const clock = simulatedClock(NOW);
  const rates = new MachineRates({ home, clock, warn: (message) => warnings.push(message) });
  onTestFinished(() => rates.close());
  return { rates, warnings, clock, home, file: machineRatesPath(home) };
}

describe('LAUNCH-2: what a machine knows of rate limits', () => {
  test('there is no file before there is something to tell', () => {
    const { rates, file, warnings } = ratesOf();
    expect(rates.read('b')).toBeNull();
    expect(existsSync(file)).toBe(false);
    expect(warnings).toEqual([]);
  });

  test('what one writes the other reads, and only its user can', () => {
    const { rates, home, file } = ratesOf();
    const { rates: other } = ratesOf(home);
    expect(other.read('b')).toBeNull();
    rates.write('b', rate);
    expect(other.read('b')).toEqual(rate);
    expect(other.read('c')).toBeNull();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  test('a pause only grows, and the latest refusal says the size, whichever process writes last', () => {
    const { rates } = ratesOf();
    rates.write('b', { ...rate, succeededAt: NOW - 5 });
    rates.write('b', { size: 9, limitedAt: NOW - 1, pausedUntil: NOW + 1_000, succeededAt: null });
    expect(rates.read('b')).toEqual({ ...rate, succeededAt: NOW - 5 });
    rates.write('b', { size: 2, limitedAt: NOW + 1, pausedUntil: NOW, succeededAt: NOW });
    expect(rates.read('b')).toEqual({
      size: 2,
      limitedAt: NOW + 1,
      pausedUntil: NOW + 2_000,
      succeededAt: NOW,
    });
  });

  test('what is a day old, or comes from a clock that was wrong, is forgotten', async () => {
    const { rates, clock } = ratesOf();
    rates.write('old', rate);
    rates.write('ahead', { ...rate, pausedUntil: NOW + 1e12 });
    await clock.advance(86_500_000);
    rates.write('new', { ...rate, limitedAt: clock.now() });
    expect(rates.read('old')).toBeNull();
    expect(rates.read('ahead')).toBeNull();
    expect(rates.read('new')).not.toBeNull();
  });

  test('a file that was removed or replaced meanwhile is made and found again', () => {
    const { rates, home, file, warnings } = ratesOf();
    rates.write('b', rate);
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
    expect(rates.read('b')).toBeNull();
    const { rates: other } = ratesOf(home);
    other.write('b', { ...rate, size: 7 });
    expect(rates.read('b')).toMatchObject({ size: 7 });
    expect(warnings).toEqual([]);
  });
});

describe('LAUNCH-2: a file that nobody has written for long', () => {
  const past = new Date(NOW - 3_700_000);

  test('is not opened, because nothing in it can still hold', () => {
    const { rates, home, file, warnings } = ratesOf();
    mkdirSync(home);
    writeFileSync(file, 'opening this would warn');
    utimesSync(file, past, past);
    expect(rates.read('b')).toBeNull();
    expect(warnings).toEqual([]);
  });

  test('is opened when its newest part, which a killed process has left, is young', () => {
    const { rates, home, file } = ratesOf();
    rates.write('b', rate);
    utimesSync(file, past, past);
    const { rates: other } = ratesOf(home);
    expect(other.read('b')).toEqual(rate);
  });

  test('is opened as long as a pause lasts that it holds', () => {
    const { rates, home, file } = ratesOf();
    const long = { ...rate, pausedUntil: NOW + 5 * 3_600_000 };
    rates.write('b', long);
    rates.write('c', { ...rate, pausedUntil: NOW + 2 * 3_600_000 });
    rates.close();
    utimesSync(file, past, past);
    const { rates: other } = ratesOf(home);
    expect(other.read('b')).toEqual(long);
  });
});

describe('LAUNCH-2: a file that cannot be used fails nothing', () => {
  const broken: [string, (file: string) => void][] = [
    [
      'is no database',
      (file) => writeFileSync(file, 'not a database, and long enough to be read'.repeat(40)),
    ],
    ['is a directory', (file) => mkdirSync(file)],
    [
      'comes from a newer version',
      (file) => {
        const db = new DatabaseSync(file);
        db.exec('PRAGMA user_version = 99');
        db.close();
      },
    ],
    [
      'lacks its table',
      (file) => {
        const db = new DatabaseSync(file);
        db.exec('PRAGMA user_version = 1');
        db.close();
      },
    ],
  ];

  test.each(broken)('one that %s is told once and left alone', (_, damage) => {
    const { rates, home, file, warnings } = ratesOf();
    mkdirSync(home);
    damage(file);
    const before = statSync(file).isFile() ? readFileSync(file) : null;
    expect(rates.read('b')).toBeNull();
    rates.write('b', rate);
    expect(rates.read('b')).toBeNull();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^rate limits are not shared with other processes: cannot use .*machine\.sqlite: .+/,
    );
    expect(warnings[0]).toContain('or remove it');
    if (before !== null) expect(readFileSync(file)).toEqual(before);
  });

  test('one that is locked is passed over, and used again later', async () => {
    const { rates, file, warnings, clock } = ratesOf();
    rates.write('b', rate);
    const holder = new DatabaseSync(file);
    holder.exec('BEGIN IMMEDIATE');
    rates.write('b', { ...rate, size: 1, limitedAt: NOW + 1 });
    expect(warnings).toEqual([expect.stringContaining('locked')]);
    holder.exec('ROLLBACK');
    holder.close();
    expect(rates.read('b')).toBeNull();
    await clock.advance(60_000);
    rates.write('b', { ...rate, size: 2, limitedAt: NOW + 2 });
    expect(rates.read('b')).toMatchObject({ size: 2 });
    expect(warnings).toHaveLength(1);
  });

  test('a home that is a file is told once', () => {
    const home = join(temporaryDirectory(), 'home');
    writeFileSync(home, '');
    const { rates, warnings } = ratesOf(home);
    rates.read('b');
    rates.write('b', rate);
    rates.write('b', rate);
    expect(warnings).toHaveLength(1);
  });
});

describe('LAUNCH-2: processes of one machine', () => {
  const sender = join(import.meta.dirname, '../../../test/fixtures/limited-sender.ts');
  const run = async (home: string, what: string): Promise<string[]> => {
    const { stdout } = await promisify(execFile)(process.execPath, [sender, home, what]);
    return stdout.trim().split('\n');
  };

  test('who comes after one that was refused waits', async () => {
    const home = temporaryDirectory();
    expect(await run(home, 'sends')).toEqual(['sends']);
    expect(await run(home, 'refused')).toEqual(['sends']);
    expect(await run(home, 'sends')).toEqual(['waits']);
    expect(await run(temporaryDirectory(), 'sends')).toEqual(['sends']);
  });

  test('many at once make one file, and one refusal is enough', async () => {
    const home = temporaryDirectory();
    const ends = await Promise.all(Array.from({ length: 6 }, () => run(home, 'refused')));
    for (const lines of ends) expect(['sends', 'waits']).toContain(lines.join());
    expect(await run(home, 'sends')).toEqual(['waits']);
  });
});
