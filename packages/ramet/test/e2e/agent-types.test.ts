import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, linesOf } from '../fixtures/command.ts';
import { malformedFiles } from '../fixtures/definition-files.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test } from '../fixtures/user.ts';

function definition(name: string, fields = ''): string {
  return `---\nname: ${name}\ndescription: About ${name}.\n${fields}---\nI am ${name}.\n`;
}

describe.concurrent('TYPE-4: ramet agents', () => {
  test('lists every type by source, what shadows what, and what is wrong with files', async ({ user }) => {
    writeFiles(user.root, {
      'ramet/agents/a.md': definition('reviewer'),
      'home/.claude/agents/a.md': definition('reviewer'),
      'work/.claude/agents/b.md': definition('theirs', 'tools: Read, LS\n'),
      'home/.claude/agents/bad.md': definition('a/b'),
      'managed/agents/m.yaml': 'name: house\ndescription: The house rules.\nprompt: p\n',
    });
    const env = { RAMET_MANAGED_DIR: join(user.root, 'managed') };
    const { code, stdout } = await user.ramet(['agents'], { env });
    expect(code).toBe(0);
    expect(linesOf(stdout).filter((line) => !line.startsWith(' '))).toEqual([
      'managed',
      'project',
      'user',
      'built-in',
      'problems',
    ]);
    expect(stdout).toMatch(/^ {2}theirs +inherit +Read, LS +not active, this repository is not trusted/m);
    expect(stdout).toMatch(/^ {2}teammate .* only in a session with --team: /m);
    expect(stdout).toContain(`shadowed by ${join(user.rametHome, 'agents/a.md')}`);
    expect(stdout).toContain(
      `error: ${join(user.root, 'home/.claude/agents/bad.md')}:2: name: it has a / in it`,
    );
    expect(stdout).toContain('b.md:4: tools: there is no tool LS here: left out');
    const json = JSON.parse((await user.ramet(['agents', '--json'], { env })).stdout);
    expect(json.agents).toContainEqual(
      expect.objectContaining({ name: 'house', source: 'managed', state: 'active', shadowed_by: null }),
    );
    expect(json.agents).toContainEqual(expect.objectContaining({ name: 'theirs', state: 'untrusted' }));
    expect(json.problems).toContainEqual(expect.objectContaining({ level: 'error', line: 2, field: 'name' }));
  });

  test('validate checks files anywhere: 1 when one cannot be used, 0 when all can', async ({ user }) => {
    const bad = malformedFiles(200);
    writeFiles(join(user.root, 'bad'), Object.fromEntries(bad.map(({ path, text }) => [path, text])));
    writeFiles(join(user.root, 'good'), { 'a/x.md': definition('x'), 'README.md': '# Agents\n' });
    const good = await user.here(['agents', 'validate', '../good']);
    expect([good.code, linesOf(good.stdout).at(-1)]).toEqual([
      0,
      'files: 2, definitions: 1, errors: 0, warnings: 0',
    ]);
    writeFiles(join(user.root, 'collection'), {
      'skills/pdf/SKILL.md': definition('pdf'),
      ...Object.fromEntries(
        Array.from({ length: 40 }, (_, index) => [
          `a/${index}.md`,
          definition(`a${index}`, 'tools: Read, LS\n'),
        ]),
      ),
    });
    const collection = await user.here(['agents', 'validate', '../collection']);
    expect([collection.code, ...linesOf(collection.stdout)]).toEqual([
      0,
      expect.stringMatching(
        /^warning: \S+a\/0\.md:4: tools: there is no tool LS here: left out \(and in 39 more files\)$/,
      ),
      'files: 40, definitions: 40, errors: 0, warnings: 40',
    ]);
    const both = await user.here(['agents', 'validate', '../good', '../bad', '--json']);
    const report = JSON.parse(both.stdout);
    expect([both.code, report.files, report.definitions]).toEqual([1, 202, 1]);
    expect(new Set(report.problems.map(({ path }: { path: string }) => path)).size).toBe(201);
    const readme = await user.here(['agents', 'validate', '../good/README.md', '../nowhere.md']);
    expect([readme.code, linesOf(readme.stdout).length]).toEqual([1, 3]);
    expect((await user.here(['agents', 'validate'])).code).toBe(0);
  });

  test('show says what a child will see, and the child sees just that', async ({ user }) => {
    const emulator = await user.emulate({
      respond: ({ task, turn }) =>
        task.startsWith('go') && turn === 0
          ? {
              tool_use: [
                { name: 'Agent', input: { prompt: 'look', description: 'look', subagent_type: 'reviewer' } },
              ],
            }
          : { text: 'ok' },
    });
    writeFiles(user.repository, { 'AGENTS.md': 'Use tabs.\n' });
    const text = definition(
      'reviewer',
      'tools: Read, Grep\nmodel: haiku\npermissionMode: bypassPermissions\n',
    );
    writeFiles(user.rametHome, { 'agents/r.md': text });
    const shown = JSON.parse((await user.here(['agents', 'show', 'Reviewer', '--json'])).stdout);
    await user.ramet(['-p', 'go']);
    const child = emulator.requests.find(({ body }) => body.includes('I am reviewer.'));
    const said = JSON.stringify(child?.request?.messages);
    expect(shown.tools).toEqual(child?.request?.tools?.map(({ name }) => name));
    expect(shown.model).toBe(child?.request?.model);
    expect(shown.permission_mode).toBe('default');
    expect(child?.request?.system).toEqual([expect.objectContaining({ text: shown.system })]);
    expect(said).toContain(JSON.stringify(shown.instructions).slice(1, -1));
    expect(said).toContain(JSON.stringify(shown.environment).slice(1, -1));
    const bytes = Buffer.byteLength(child?.body ?? '');
    expect(shown.estimated_tokens.total).toBeGreaterThan((bytes / 4) * 0.6);
    expect(shown.estimated_tokens.total).toBeLessThan(bytes / 4);
    const plain = await user.here(['agents', 'show', 'reviewer']);
    expect(plain.stdout).toMatch(/^project instructions +yes, about \d+ tokens$/m);
    const none = await user.here(['agents', 'show', 'nobody']);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('there is no agent type "nobody"')]);
    const slip = await user.here(['agents', 'show', 'reviwer']);
    expect([slip.code, slip.stderr]).toEqual([2, expect.stringContaining('did you mean reviewer?')]);
  });

  test('completion offers the types', async ({ user }) => {
    writeFiles(user.rametHome, { 'agents/r.md': definition('reviewer') });
    const { stdout } = await user.ramet(['complete', 'agents', 'show', 'rev']);
    expect(stdout).toBe('reviewer\tAbout reviewer.\n');
  });
});

describe.concurrent('TYPE-3: a running session', () => {
  test('uses a definition that was written after it began, and ends by itself', async ({ user }) => {
    writeFiles(user.rametHome, { 'agents/first.md': definition('first') });
    const path = join(user.rametHome, 'agents/second.md');
    const emulator = await user.emulate({
      respond: async ({ task, turn }) => {
        if (!task.startsWith('go')) return { text: 'Scope: seen.' };
        if (turn > 0) return { text: 'ok' };
        writeFileSync(path, definition('second'));
        await eventually(() => existsSync(path));
        return {
          tool_use: [
            { name: 'Agent', input: { prompt: 'look', description: 'look', subagent_type: 'second' } },
          ],
        };
      },
    });
    const { code, stdout } = await user.ramet(['-p', 'go']);
    expect([code, stdout]).toEqual([0, 'ok\n']);
    expect(emulator.requests.some(({ body }) => body.includes('I am second.'))).toBe(true);
  });
});
