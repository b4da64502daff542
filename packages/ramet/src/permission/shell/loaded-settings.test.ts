/** RES-3: a file that only becomes variables is read by a command, not edited. */
import { describe, expect, test } from 'vitest';
import { bashTool } from '../../tools/shell/bash.ts';
import { decide } from '../decide.ts';
import { parseRules, type RuleTexts } from '../policy.ts';

async function judged(texts: RuleTexts, command: string): Promise<string> {
  const { rules, problems } = parseRules(texts, { place: 'a test', base: '/srv', home: '/home/user' });
  expect(problems).toEqual([]);
  const input = { command };
  return (await decide({ mode: 'bypassPermissions', rules }, bashTool, { input, cwd: '/srv' })).kind;
}

describe('RES-3: a file that is only read', () => {
  test.for([
    'source .env && npm start',
    'set -a; . ./.env; set +a; npm start',
    'node --env-file=.env src/a.ts',
    'node --env-file-if-exists .env src/a.ts',
    'docker run --env-file .env x',
    'docker compose --env-file=.env up',
    'npx dotenv -e .env -- npm test',
    'dotenvx run -f .env -- npm test',
    'env-cmd -f .env npm test',
    'uv run --env-file .env pytest',
  ])('is no edit: %s', async (command) => {
    expect(await judged({ deny: ['Edit(.env)'] }, command)).toBe('allow');
    expect(await judged({ deny: ['Read(.env)'] }, command)).toBe('deny');
  });

  test.for([
    'source a.sh .env',
    'dotenvx set -f .env A b',
    'dotenvx encrypt -f .env',
    'dotenv -f .env set A b',
    'some-tool --env .env',
    'source x > .env',
    'npx dotenv -e a.env -- sed -i s/a/b/ .env',
  ])('may be one: %s', async (command) => {
    expect(await judged({ deny: ['Edit(.env)'] }, command)).toBe('deny');
  });
});
