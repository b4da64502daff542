import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { versionOf } from '../system/regular-file.ts';
import { createOriginalFiles, LARGEST_ORIGINAL } from './original-files.ts';

const bytes = Buffer.from('secret content');
const version = versionOf(bytes);

describe('WORK-1: originals for undo', () => {
  test('are kept once, for their owner alone, and come back as they were', ({ directory }) => {
    const originals = createOriginalFiles(join(directory, 'session'));
    expect([originals.has(version), originals.read(version)]).toEqual([false, null]);
    originals.keep(version, bytes);
    originals.keep(version, bytes);
    const place = join(directory, 'session/originals');
    expect(readdirSync(place)).toEqual([version]);
    expect([statSync(place).mode & 0o777, statSync(join(place, version)).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
    expect(Buffer.from(originals.read(version) ?? []).equals(bytes)).toBe(true);
  });

  test('are not kept when they are large, unless their keeper insists', ({ directory }) => {
    const originals = createOriginalFiles(directory);
    const large = Buffer.alloc(LARGEST_ORIGINAL + 1);
    originals.keep('large', large);
    expect(originals.has('large')).toBe(false);
    originals.keep('large', large, Number.POSITIVE_INFINITY);
    expect(originals.has('large')).toBe(true);
  });

  test('that were damaged are not given out', ({ directory }) => {
    const originals = createOriginalFiles(directory);
    originals.keep(version, bytes);
    const file = join(directory, 'originals', version);
    chmodSync(file, 0o600);
    writeFileSync(file, 'something else');
    expect(originals.read(version)).toBeNull();
  });

  test('that cannot be written say why and leave nothing behind', ({ directory }) => {
    writeFileSync(join(directory, 'originals'), 'a file in the way');
    expect(() => createOriginalFiles(directory).keep(version, bytes)).toThrow(/EEXIST|ENOTDIR/);
  });
});
