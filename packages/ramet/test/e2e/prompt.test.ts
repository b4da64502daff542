import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { makeRepository, writeFiles } from '../fixtures/temporary.ts';
import { test } from '../fixtures/user.ts';

describe.concurrent('PROMPT-1: what the model is told', () => {
  test('project instructions, then the surroundings, then the prompt', async ({ user }) => {
    writeFiles(user.repository, {
      'AGENTS.md': 'Use tabs. @docs/more.md\n',
      'docs/more.md': 'And semicolons.\n',
      'CLAUDE.md': 'Be brief.\n',
    });
    const emulator = await user.model({ text: 'ok' });
    await user.ramet(['-p', 'Do it.']);
    const [instructions = '', surroundings = '', prompt, ...others] = firstMessage(emulator);
    expect(others).toEqual([]);
    for (const text of ['# AGENTS.md', 'Use tabs.', 'And semicolons.', '# CLAUDE.md', 'Be brief.']) {
      expect(instructions).toContain(text);
    }
    expect(surroundings).toContain(`Working directory: ${user.repository}`);
    expect(surroundings).toMatch(/Git branch: main at [0-9a-f]{12}\nGit status:\n\?\? AGENTS\.md/);
    expect(surroundings).toMatch(/^Date: \d{4}-\d\d-\d\d$/m);
    expect(prompt).toBe('Do it.');
  });

  test('the surroundings and the prompt alone where nobody wrote instructions', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    await user.ramet(['-p', 'Do it.']);
    const texts = firstMessage(emulator);
    expect(texts).toHaveLength(2);
    expect(texts[0]).toContain('Git status: clean');
  });

  test('tools and system prompt in at most 16 KB', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    await user.ramet(['-p', 'x']);
    const bytes = Buffer.byteLength(headOf(emulator.requests[0]?.body));
    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThanOrEqual(16 * 1024);
  });
});

describe.concurrent('FORK-9: what differs stands after what is shared', () => {
  test('tools and system are the same bytes in any directory and on any day', async ({ user }) => {
    const emulator = await user.emulate({ respond: () => ({ text: 'ok' }) });
    const other = join(user.root, 'elsewhere');
    mkdirSync(other);
    makeRepository(other, { 'AGENTS.md': 'Other rules.\n' });
    await user.ramet(['-p', 'x']);
    await user.ramet(['-p', 'x'], { cwd: other });
    await user.ramet(['-p', 'x'], { env: { NODE_OPTIONS: `--import=${onAnotherDay('2031-05-06')}` } });
    const [here, there, then] = emulator.requests.map(({ body }) => body);
    expect(then).toContain('Date: 2031-05-06');
    expect(here).not.toContain('Date: 2031-05-06');
    expect(headOf(there)).toBe(headOf(here));
    expect(headOf(then)).toBe(headOf(here));
    for (const word of [user.root, '2031']) expect(headOf(then)).not.toContain(word);
  });

  test('project instructions are the same bytes in every folder of a repository', async ({ user }) => {
    const rules = `${'Keep this rule. '.repeat(300)}\n`;
    writeFiles(user.repository, { 'AGENTS.md': rules, 'inner/file.txt': 'x' });
    const emulator = await user.emulate({ respond: () => ({ text: 'ok' }) });
    await user.ramet(['-p', 'One.']);
    await user.ramet(['-p', 'Two.'], { cwd: join(user.repository, 'inner') });
    const [outer, inner] = emulator.requests;
    const shared = (body = ''): string => body.slice(0, body.indexOf('<environment>'));
    expect(shared(inner?.body)).toBe(shared(outer?.body));
    expect(shared(inner?.body)).toContain('Keep this rule.');
    // Both marks are read: the system's and the one after the instructions.
    expect(inner?.usage?.cache_read_input_tokens).toBeGreaterThan(rules.length / 4 + 1_024);
  });
});

/** The texts of the blocks of the first message. */
function firstMessage(emulator: Emulator): string[] {
  const content = emulator.requests[0]?.request?.messages[0]?.content ?? [];
  return typeof content === 'string' ? [content] : content.map(({ text }) => String(text));
}

/** The verbatim bytes of tools and system. */
function headOf(body = ''): string {
  return body.slice(body.indexOf('"tools":['), body.indexOf(',"messages":['));
}

function onAnotherDay(date: string): string {
  const shift = Date.parse(`${date}T12:00:00Z`) - Date.now();
  return `data:text/javascript,const%20now=Date.now;Date.now=()=>now()+${shift}`;
}
