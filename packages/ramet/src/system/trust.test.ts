import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { isTrusted, revokeTrust, trust } from './trust.ts';

function place(): { home: string; root: string; base: string } {
  const base = temporaryDirectory();
  const root = join(base, 'repository');
  mkdirSync(join(root, 'below'), { recursive: true });
  return { base, home: join(base, 'home'), root };
}

describe('SEC-1: folder trust', () => {
  test('nothing is trusted until it is said, and no longer after it is taken back', () => {
    const here = place();
    expect(isTrusted(here)).toBe(false);
    trust(here);
    expect(isTrusted(here)).toBe(true);
    trust(here);
    expect(revokeTrust(here)).toBe(true);
    expect(isTrusted(here)).toBe(false);
    expect(revokeTrust(here)).toBe(false);
  });

  test('neither the directory above nor one below is trusted with a root', () => {
    const here = place();
    trust(here);
    expect(isTrusted({ ...here, root: here.base })).toBe(false);
    expect(isTrusted({ ...here, root: join(here.root, 'below') })).toBe(false);
  });

  test('a root is the same under a link that leads to it', () => {
    const here = place();
    symlinkSync(here.root, join(here.base, 'link'));
    trust({ ...here, root: join(here.base, 'link') });
    expect(isTrusted(here)).toBe(true);
  });

  test('entries are for their user alone, and a damaged or foreign one trusts nothing', () => {
    const here = place();
    trust(here);
    const [name = ''] = readdirSync(join(here.home, 'trusted'));
    const path = join(here.home, 'trusted', name);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const entry = readFileSync(path, 'utf8');
    for (const damaged of ['', '{', '[]', 'null', '{"root":1}', '{"root":"/elsewhere"}']) {
      writeFileSync(path, damaged);
      expect(isTrusted(here)).toBe(false);
    }
    writeFileSync(path, entry);
    expect(isTrusted(here)).toBe(true);
  });

  test('a home that cannot be written is one line that names it', () => {
    const here = place();
    writeFileSync(here.home, 'in the way');
    expect(() => trust(here)).toThrow(/is a file, not a directory; set RAMET_HOME/);
    expect(isTrusted(here)).toBe(false);
  });
});
