import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runHere } from '../../../test/fixtures/command-here.ts';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { limited } from '../../sdk/doctor/health-check.ts';
import { textStyle } from '../interactive/screen/text-style.ts';
import { linesOf } from './doctor.ts';

const CHECK = limited('extensions', 'five words that are found here', 'do this and then that, in this order');

test('UI-1: on a screen what was found is wrapped between words, below itself; elsewhere it is one line', () => {
  expect(linesOf(CHECK, textStyle(false), null)).toBe(
    '--  extensions five words that are found here\n' +
      '               -> do this and then that, in this order\n',
  );
  expect(linesOf(CHECK, textStyle(false), 40)).toBe(
    [
      '--  extensions five words that are',
      '               found here',
      '               -> do this and then',
      '                  that, in this order',
      '',
    ].join('\n'),
  );
});

test('EXT-1: mcp ls does not advise to add a server where managed policy allows only its own', async () => {
  const cwd = temporaryDirectory();
  const env = { HOME: cwd, RAMET_HOME: join(cwd, 'ramet'), RAMET_MANAGED_DIR: join(cwd, 'managed') };
  expect((await runHere(['mcp', 'ls'], { cwd, env })).stdout).toContain('ramet mcp add');
  writeFiles(cwd, { 'managed/settings.json': '{"policy":{"mcpServers":"managed"}}' });
  expect((await runHere(['mcp', 'ls'], { cwd, env })).stdout).toBe(
    'no MCP server is set up here: managed policy allows only its own\n',
  );
});
