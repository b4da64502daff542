import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { bundleOptions, PACKAGE_ROOT } from '../../scripts/bundle.ts';
import { COMPLETION_SCRIPTS, FILES_MARK } from '../../src/cli/completion/shell-scripts.ts';
import { SHIM_MARK, shimScript } from '../../src/git/shared-git/shim-script.ts';
import { filesMatching, readText, sourceFiles } from './repository.ts';

describe('shell programs', () => {
  test('lie in files of their own, not in template strings', () => {
    expect(filesMatching(['packages/ramet/src/**/*.{sh,bash,zsh,fish}'])).toHaveLength(4);
    const shebang = /`#!\/bin\/(?:ba)?sh/;
    expect(sourceFiles().filter((path) => shebang.test(readText(path)))).toEqual([]);
  });

  test('hold the marks that the program looks for', () => {
    expect(shimScript('node').split('\n')[1]).toBe(SHIM_MARK);
    for (const script of Object.values(COMPLETION_SCRIPTS)) expect(script).toContain(FILES_MARK);
  });

  test('are in a bundle as they are in the sources, with no file beside it', async () => {
    const program = `
      import { COMPLETION_SCRIPTS } from './src/cli/completion/shell-scripts.ts';
      import { shimScript } from './src/git/shared-git/shim-script.ts';
      console.log(JSON.stringify([shimScript("it's node"), COMPLETION_SCRIPTS]));`;
    const { outputFiles } = await build({
      ...bundleOptions({}),
      entryPoints: [],
      stdin: { contents: program, resolveDir: join(PACKAGE_ROOT) },
    });
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-'], {
      input: outputFiles?.[0]?.text ?? '',
      encoding: 'utf8',
      cwd: '/',
    });
    expect(JSON.parse(stdout)).toEqual([shimScript("it's node"), COMPLETION_SCRIPTS]);
  });
});
