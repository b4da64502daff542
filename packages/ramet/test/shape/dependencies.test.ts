import { describe, expect, test } from 'vitest';
import { filesMatching, readText } from './repository.ts';

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

interface LockFile {
  packages: Record<string, { integrity?: string; resolved?: string; link?: boolean }>;
}

const declared = filesMatching(['package.json', 'packages/*/package.json']).flatMap((path) => {
  const manifest: Manifest = JSON.parse(readText(path));
  return [manifest.dependencies, manifest.devDependencies, manifest.optionalDependencies].flatMap((group) =>
    Object.keys(group ?? {}),
  );
});

describe('dependencies', () => {
  test('each has a line in docs/dependencies.md that says why, and no line is left over', () => {
    const rows = [...readText('docs/dependencies.md').matchAll(/^\| `([^`]+)` \| \S.+ \|$/gm)];
    expect(rows.map(([, name]) => name).sort()).toEqual([...new Set(declared)].sort());
  });
});

describe('the lock file', () => {
  const lock: LockFile = JSON.parse(readText('package-lock.json'));
  const outside = Object.entries(lock.packages).filter(
    ([path, entry]) => path.startsWith('node_modules/') && !entry.link,
  );

  test('records no download host', () => {
    expect(outside.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    expect(readText('package-lock.json')).not.toContain('"resolved": "http');
  });

  test('records what every package must contain', () => {
    expect(outside.length).toBeGreaterThan(50);
    expect(outside.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
  });
});
