/** The parser and bash must agree on what a script does, also on scripts that nobody would write. */

import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { bashTool } from '../../tools/shell/bash.ts';
import { decide } from '../decide.ts';
import { NO_RULES } from '../policy.ts';

/** Pieces of shell, and something that shows when it is carried out. */
const PIECES = [
  ...[
    'touch new',
    'touch new',
    'echo ',
    'echo a',
    'cat ',
    'ls',
    'x',
    '1',
    ' ',
    ' ',
    '\t',
    '\n',
    '\\',
    '\\\n',
  ],
  ...['"', '"', "'", "'", "$'", '$"', '`', '`', '$(', ')', '${x', '${x:-', '}', '$((', '))', '((', '$[', ']'],
  ...[
    ';',
    '; ',
    ' & ',
    ' | ',
    ' && ',
    ' || ',
    '!',
    '#',
    ' #',
    '(',
    ')',
    '{ ',
    '; }',
    '[[ ',
    ' ]]',
    '[ ',
    ' ]',
  ],
  ...[
    '<<E\n',
    '\nE\n',
    "<<'E'\n",
    '<<-E\n',
    '<<< ',
    '<(',
    '>(',
    '>&2',
    '>/dev/null',
    '< README.md',
    '<',
    '&',
  ],
  ...['x=', 'a[0]=', '$x', '$IFS', '{a,b}', '@(', '!(', '*', '~', '-eq', '=~', 'case x in x) ', ';; esac'],
  ...['if true; then ', '; fi', 'for i in 1; do ', '; done', 'while false; do ', 'time ', 'coproc ', 'f() '],
  ...[
    'export ',
    'declare ',
    'read x',
    'eval ',
    "bash -c '",
    'printf %s ',
    'test ',
    'sort ',
    "sed -n '",
    'xargs ',
  ],
];

test('TYPE-2: no random script that passes for reading changes anything', { timeout: 60_000 }, async () => {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'README.md'), 'touch new\n');
  const details = (command: string) => ({ input: { command }, cwd });
  const policy = { mode: 'bypassPermissions', rules: NO_RULES, readOnly: true } as const;
  const script = fc.array(fc.constantFrom(...PIECES), { minLength: 3, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(script, async (pieces) => {
      const command = pieces.join('');
      const { kind } = await decide(policy, bashTool, details(command));
      if (kind !== 'allow') return;
      const env = { PATH: process.env.PATH, HOME: cwd };
      spawnSync('bash', ['-c', command], { cwd, env, stdio: 'ignore', timeout: 2_000 });
      expect(readdirSync(cwd)).toEqual(['README.md']);
    }),
    // Many more run in `npm run campaign:shell`.
    { numRuns: 1_000 },
  );
});
