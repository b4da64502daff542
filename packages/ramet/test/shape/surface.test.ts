/**
 * The public surface by name: what users can import changes only together with this list. Types are not
 * listed; the compiler holds them.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ENTRIES, PACKAGE_ROOT } from '../../scripts/bundle.ts';
import { readText } from './repository.ts';

const PINNED: Readonly<Record<string, readonly string[]>> = {
  'emulator/index': ['loadScenario', 'parseScenario', 'runEmulate', 'startEmulator'],
  'sdk/index': [
    ...[
      'ModelError',
      'RametError',
      'UserMistake',
      'VERSION',
      'currentAgentId',
      'openSession',
      'status',
      'cost',
      'stop',
      'undo',
    ],
    ...['previewMerge', 'mergeBranches', 'continueMerge', 'mergeQueue', 'blame', 'diff'],
    ...['operatorStatus', 'askOperator', 'planTasks', 'runStatistics', 'tool'],
    ...['listSessions', 'renameSession', 'deleteSessions', 'collectGarbage'],
    ...['transcript', 'exportSession', 'readEvents', 'explainCache'],
    ...['checkHealth', 'repairSession', 'reviewTrust', 'trustFolder', 'revokeTrust', 'readSettings'],
    ...['listAgentTypes', 'checkAgentTypes', 'viewAgentType'],
    ...['showMemory', 'explainMemory', 'saveMemoryNote', 'editMemory', 'undoMemory'],
    ...['listTeams', 'showTeam', 'sendToTeam', 'answerPlan', 'stopTeam', 'reopenTeam'],
    ...['listServers', 'addServer', 'removeServer', 'tryServers', 'logInToServer'],
    ...['listWorktrees', 'showWorktree', 'commitWorktree', 'removeWorktrees', 'collectWorktrees'],
  ],
  'testing/index': ['scriptedModel', 'simulatedClock'],
};

const LIBRARIES = Object.keys(ENTRIES).filter((entry) => entry.endsWith('/index'));
const present = LIBRARIES.filter((entry) => existsSync(join(PACKAGE_ROOT, 'src', `${entry}.ts`)));

describe('the public surface', () => {
  test.each(present)('of %s is exactly what is pinned', async (entry) => {
    const module: object = await import(join(PACKAGE_ROOT, 'src', `${entry}.ts`));
    expect(Object.keys(module).sort()).toEqual([...(PINNED[entry] ?? [])].sort());
  });

  test.each(present)('of %s names everything and exports nothing by star', (entry) => {
    expect(readText(join('packages/ramet/src', `${entry}.ts`))).not.toMatch(/export \*/);
  });

  test('package.json exports the libraries that are built, with their types', () => {
    const manifest: { exports: Record<string, unknown> } = JSON.parse(
      readText('packages/ramet/package.json'),
    );
    const { './package.json': _, ...exported } = manifest.exports;
    const expected = LIBRARIES.map((entry) => {
      const name = entry === 'sdk/index' ? 'index' : dirname(entry);
      // Which Node is needed is said before the library loads.
      const file = readText(`packages/ramet/bin/${name}.js`);
      expect(file).toBe(`import './needs-node.js';\n\nexport * from '../dist/${entry}.js';\n`);
      return {
        types: `./dist/types/${entry}.d.ts`,
        require: `./bin/${name}.cjs`,
        default: `./bin/${name}.js`,
      };
    });
    expect(Object.values(exported)).toEqual(expected);
  });

  test('an installation from a checkout makes the types, so that a strict program can import them', () => {
    const scriptsOf = (path: string): Record<string, string> => JSON.parse(readText(path)).scripts;
    expect(scriptsOf('package.json').prepare).toContain('npm run --silent build -w packages/ramet');
    const { build, prepack } = scriptsOf('packages/ramet/package.json');
    expect(build).toBe('node scripts/build.ts && tsc -p tsconfig.types.json');
    expect(prepack).toMatch(/^npm run --silent build &&/);
    const { compilerOptions } = JSON.parse(readText('packages/ramet/tsconfig.types.json'));
    expect(compilerOptions).toMatchObject({
      emitDeclarationOnly: true,
      rootDir: 'src',
      outDir: 'dist/types',
    });
  });
});
