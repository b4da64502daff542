/** The guide of the library: its programs run as they stand there, and print what it says. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test as plain } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import type { RequestView } from '../../src/emulator/index.ts';
import { declaredPackage, guidePrograms, guideProject, runProgram } from '../fixtures/guide-programs.ts';
import { temporaryDirectory } from '../fixtures/temporary.ts';
import { test } from '../fixtures/user.ts';

const PROGRAMS = guidePrograms('library.md');
const TESTING = guidePrograms('testing.md');
const PAGES = [...PROGRAMS, ...TESTING];

function use(name: string, input: Record<string, unknown>): Answer {
  return { tool_use: [{ name, input }] };
}

const READ = use('Read', { file_path: 'README.md' });

/** What the model says in each program, by the number of its answers so far. */
const CAST: Readonly<Record<string, (view: RequestView) => Answer | undefined>> = {
  'ask.ts': ({ turn }) => [READ, { text: 'It is for trying things out.' }][turn],
  'own-tool.ts': ({ turn }) => [use('weather', { city: 'Rome' }), { text: 'Yes, 21 degrees.' }][turn],
  'structured.ts': ({ turn }) =>
    [
      { text: 'I find it bad.' },
      {
        text: JSON.stringify({
          verdict: 'bad',
          findings: [{ file: 'README.md', problem: 'it does not say how to install' }],
        }),
      },
    ][turn],
  'fan-out.ts': ({ isFork, task, turn }) => {
    if (!isFork) return [READ, { text: 'Read.' }][turn];
    const word = /clear|correct|complete/.exec(task)?.[0];
    return { text: `Scope: ${word}. ${word === 'complete' ? 'No' : 'Yes'}.` };
  },
  'typed.ts': ({ turn }) => [READ, { text: 'Scope: README. It has no example.' }][turn],
  'permission.ts': ({ turn }) =>
    [
      {
        tool_use: [
          { name: 'Write', input: { file_path: 'notes/a.md', content: 'x' } },
          { name: 'Write', input: { file_path: 'other.md', content: 'x' } },
          { name: 'Bash', input: { command: 'touch cleaned' } },
          { name: 'Bash', input: { command: 'rm -r notes' } },
        ],
      },
      { text: 'Done.' },
    ][turn],
  'mcp.ts': ({ turn }) =>
    [
      use('McpCall', { tool: 'mcp__notes__find', arguments: { about: 'tea' } }),
      { text: 'Green, two minutes.' },
    ][turn],
  'resume.ts': ({ turn }) =>
    [...[1, 2, 3].map((number) => use('step', { number })), { text: 'Three steps are done.' }][turn],
};

describe.concurrent('LIB-1: the guide of the library', () => {
  plain('has a program for each of the eight things that builders do first', () => {
    expect(PROGRAMS.filter(({ prints }) => prints !== null).map(({ name }) => name)).toEqual(
      Object.keys(CAST),
    );
    for (const { source } of PROGRAMS) expect(source.split('\n').length).toBeLessThan(32);
  });

  plain('has programs without a mistake of types', () => {
    const directory = temporaryDirectory();
    guideProject(directory, PAGES, declaredPackage(directory));
    const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const target = ['--module', 'nodenext', '--target', 'esnext', '--lib', 'esnext', '--types', 'node'];
    const files = PAGES.map(({ name }) => name).filter((name) => name.endsWith('.ts'));
    const { stdout } = spawnSync('tsc', [...flags, ...target, ...files], {
      cwd: directory,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  });

  for (const [name, respond] of Object.entries(CAST))
    test(`${name} prints what the guide says`, async ({ user }) => {
      const emulator = await user.emulate({
        respond: (view) => respond(view) ?? { text: 'The script has no more to say.' },
      });
      guideProject(user.repository, PROGRAMS);
      const place = { cwd: user.repository, env: user.env };
      const first = await runProgram([name], place);
      const again = name === 'resume.ts' ? await runProgram([name, 'again'], place) : null;
      const last = again ?? first;
      expect(last).toMatchObject({ code: 0, stderr: '' });
      if (again !== null) expect(first).toMatchObject({ signal: 'SIGKILL', stderr: '' });
      const { prints } = PROGRAMS.find((program) => program.name === name) ?? {};
      expect(first.stdout + (again?.stdout ?? '')).toBe(prints);
      expect(emulator.requests.length).toBeGreaterThan(0);
      expect(existsSync(join(user.repository, 'cleaned'))).toBe(false);
    });

  for (const { name, prints } of TESTING)
    test(`LIB-1: ${name} of the page about tests prints what that says, without a key`, async ({ user }) => {
      guideProject(user.repository, TESTING);
      const { ANTHROPIC_BASE_URL: _, ANTHROPIC_API_KEY: __, ...env } = user.env;
      const end = await runProgram([name], { cwd: user.repository, env: { ...env, TMPDIR: user.root } });
      expect(end).toEqual({ code: 0, signal: null, stdout: prints, stderr: '' });
    });
});
