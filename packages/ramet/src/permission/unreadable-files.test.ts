import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { writeFiles } from '../../test/fixtures/temporary.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { testAgent } from '../../test/fixtures/tool-context.ts';
import { globTool } from '../tools/search/glob.ts';
import { grepTool } from '../tools/search/grep.ts';
import type { Tool } from '../tools/tool.ts';
import { leavesOut, unreadableFiles } from './decide.ts';
import { parseRules, type RuleTexts } from './policy.ts';

async function search(
  directory: string,
  [tool, input]: [Tool, Record<string, unknown>],
  texts: RuleTexts,
): Promise<string> {
  writeFiles(directory, {
    '.env': 'TOPSECRET=1\n',
    'sub/.env': 'TOPSECRET=2\n',
    'a.ts': 'TOPSECRET\n',
    'keys/k': 'TOPSECRET\n',
  });
  const { rules } = parseRules(texts, { base: directory, home: null, place: 'a test' });
  const unreadable = unreadableFiles({ rules }, tool.access?.(input) ?? {});
  // As it comes to an agent in a process of its own.
  const sent = unreadable && structuredClone(unreadable);
  const context = sent === undefined ? {} : { leavesOut: leavesOut(sent, directory) };
  return testAgent(directory, context).text(tool, input);
}

describe('RES-3: what must not be read is not found by a search either', () => {
  const content = { pattern: 'TOPSECRET', output_mode: 'content' };

  test.for<[string, [Tool, Record<string, unknown>], string]>([
    ['Grep, lines', [grepTool, content], 'a.ts:1:TOPSECRET'],
    ['Grep, lines with those around', [grepTool, { ...content, '-C': 1 }], 'a.ts:1:TOPSECRET'],
    ['Grep, paths', [grepTool, { pattern: 'TOPSECRET' }], 'a.ts'],
    ['Grep, counts', [grepTool, { pattern: 'TOPSECRET', output_mode: 'count' }], 'a.ts:1'],
    ['Grep, nothing else', [grepTool, { pattern: 'TOPSECRET=' }], 'No match for TOPSECRET=.'],
    ['Glob', [globTool, { pattern: '**/*' }], 'a.ts'],
  ])('%s', async ([, call, shown], { directory }) => {
    expect(await search(directory, call, { deny: ['Read(.env)', 'Read(keys/**)'] })).toBe(shown);
  });

  test('a search around a link to such a file shows nothing of it', async ({ directory }) => {
    symlinkSync('.env', join(directory, 'plain.txt'));
    const rules = { deny: ['Read(.env)', 'Read(keys/**)'] };
    expect(await search(directory, [grepTool, content], rules)).toBe('a.ts:1:TOPSECRET');
  });

  test('what a rule asks about is left out as well, unless it was named and so asked about', async ({
    directory,
  }) => {
    const rules = { ask: ['Read(.env)'], deny: ['Read(keys/**)'] };
    expect(await search(directory, [grepTool, content], rules)).toBe('a.ts:1:TOPSECRET');
    expect(await search(directory, [grepTool, { ...content, path: '.env' }], rules)).toBe(
      '.env:1:TOPSECRET=1',
    );
  });
});
