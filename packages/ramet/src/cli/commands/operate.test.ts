import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandEnd } from '../../../test/fixtures/command.ts';
import { runHere } from '../../../test/fixtures/command-here.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { gitVariables } from '../../../test/fixtures/worktrees.ts';

async function operate(text: string, ...flags: string[]): Promise<CommandEnd> {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, '.git'));
  writeFileSync(join(cwd, 'tasks.md'), text);
  return runHere(['operate', ...flags, 'tasks.md'], { cwd, env: {} });
}

describe('OP-1: ramet operate --lint', () => {
  test('explains every line and counts the tasks', async () => {
    const { code, stdout } = await operate(
      '# Plan\n\n- [x] T001 [P] Add src/a.ts\n  - a detail\n- [ ] T002 Use it (depends on T001)\n\nBye.\n',
      '--lint',
    );
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'LINE  READ AS',
      '1     a heading',
      '3     task T001 (done, parallel): Add src/a.ts',
      '        files src/a.ts',
      '4     a detail of T001',
      '5     task T002 (open): Use it',
      '        after T001',
      '7     not read: text',
      '',
      '2 tasks: 1 open, 1 done',
      '',
    ]);
  });

  test('prints exactly the promised JSON', async () => {
    const { stdout } = await operate('- [ ]* 1. Add it in `src/a.ts`\n\nBye.\n', '--lint', '--json');
    expect(JSON.parse(stdout)).toEqual({
      tasks: [
        {
          ...{
            id: '1',
            title: 'Add it in `src/a.ts`',
            line: 1,
            status: 'open',
            optional: true,
            depends_on: [],
          },
          ...{ parallel: false, phase: null, files: ['src/a.ts'] },
        },
      ],
      ignored: [{ line: 3, why: 'text' }],
      problems: [],
    });
  });

  test('exits with 1 for errors, each with file, line and column', async () => {
    const { code, stdout } = await operate(
      '- [ ] T1 a (depends on T2)\n- [ ] T2 b (depends on T1)\n',
      '--lint',
    );
    expect(code).toBe(1);
    expect(stdout).toContain(
      'tasks.md:1:24: error: these tasks wait for each other: T1 (line 1) → T2 (line 2) → T1',
    );
    expect(stdout).toMatch(/2 tasks: 2 open; 1 error\n$/);
  });

  test('a file whose tasks are all done says so and exits with 0, with --lint and without', async () => {
    const text = '- [x] T1 a\n- [ ]* T2 b\n';
    for (const flags of [['--lint'], []])
      expect(await operate(text, ...flags)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/all tasks are done, nothing is left to do\n$/),
      });
  });

  test('a missing file is wrong use, and so are a file beside --resume and a width of 0', async () => {
    const cwd = temporaryDirectory();
    expect(await runHere(['operate', '--lint', 'none.md'], { cwd, env: {} })).toMatchObject({
      code: 2,
      stderr: 'ramet: none.md is not there: name a task file or a folder of tasks\n',
    });
    const { stdout } = await runHere(['operate', '--lint', '--json', 'none.md'], { cwd, env: {} });
    expect(JSON.parse(stdout)).toMatchObject({ tasks: [], problems: [{ file: 'none.md', level: 'error' }] });
    expect(await runHere(['operate'], { cwd, env: {} })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^ramet: name a task file, or resume a run: .*\n$/),
    });
    expect(await operate('- [ ] T1 a\n', '--resume', 'abcdefgh')).toMatchObject({
      code: 2,
      stderr: 'ramet: give a task file or --resume, not both\n',
    });
    expect(await operate('- [ ] T1 a\n', '--parallel', '0')).toMatchObject({ code: 2 });
    expect(await operate('- [ ] T1 a (depends on T2)\n')).toMatchObject({ code: 1 });
  });
});

test('OP-2: a run without a key says so before anything else, unless a model was chosen', async () => {
  const cwd = temporaryRepository({ 'tasks.md': '- [ ] T1 a\n' });
  const env = { ...gitVariables(), RAMET_HOME: join(temporaryDirectory(), 'home') };
  const run = async (...flags: string[]): Promise<string> =>
    (await runHere(['operate', 'tasks.md', '--into', 'none', ...flags], { cwd, env })).stderr;
  expect(await run()).toMatch(/^ramet: no key set: using the recipe model.*\n.*none/);
  expect(await run('--model', 'opus')).not.toContain('no key set');
  const { stdout } = await runHere(['operate', 'tasks.md', '--output-format', 'json'], { cwd, env });
  // What the recipe model cannot read is not tried again.
  expect(JSON.parse(stdout).tasks).toMatchObject([
    {
      status: 'frozen',
      cause: 'recipe',
      message: expect.stringContaining('no block'),
      attempts: [{ number: 1 }],
    },
  ]);
});

describe('OP-7: ramet plan', () => {
  async function plan(text: string, ...flags: string[]): Promise<CommandEnd> {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, '.git'));
    writeFileSync(join(cwd, 'tasks.md'), text);
    return runHere(['plan', ...flags, 'tasks.md'], { cwd, env: { RAMET_HOME: join(cwd, 'home') } });
  }

  test('prints order, critical path, a table of widths, and that there is no history', async () => {
    const { code, stdout } = await plan('- [ ] T1 a\n- [ ] T2 [P] b\n- [ ] T3 [P] c\n');
    expect(code).toBe(0);
    expect(stdout).toContain('2     T2, T3');
    expect(stdout).toContain('critical path: T1 → T2 (2 of 3 tasks)');
    expect(stdout).toMatch(/^2 \* +4 min to 30 min +\$\d/m);
    expect(stdout).toContain('There is no history yet');
  });

  test('prints JSON, says when nothing is left, and refuses a file with errors', async () => {
    const { stdout } = await plan('- [ ] T1 a\n', '--json', '--model', 'nobody-knows');
    expect(JSON.parse(stdout)).toMatchObject({
      ...{
        model: 'nobody-knows',
        tasks: 1,
        order: [['T1']],
        critical_path: ['T1'],
        recommended: 1,
        stuck: [],
        history: false,
      },
      widths: [{ width: 1, usd: { cache_planned: null, not_planned: null } }, {}, {}, {}, {}],
    });
    expect(await plan('- [x] T1 a\n')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing is left to do'),
    });
    expect(await plan('- [ ] T1 a (depends on T9)\n')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('tasks.md:1:'),
    });
  });
});

describe('UI-4: ramet operate --output-format json', () => {
  test.each(['json', 'stream-json'])('%s is one object also where nothing is run', async (format) => {
    const flags = ['--output-format', format];
    const done = await operate('- [x] T1 a\n', ...flags);
    expect(done.code).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ subtype: 'success', problems: [], tasks: [] });
    const cycle = await operate('- [ ] T1 a (depends on T1)\n', ...flags);
    expect(cycle.code).toBe(1);
    expect(JSON.parse(cycle.stdout)).toMatchObject({
      ...{ is_error: true, problems: [{ file: 'tasks.md', line: 1, level: 'error' }] },
    });
    const wrong = await operate('- [ ] T1 a\n', '--report', 'no/where.md', ...flags);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no directory') });
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      ...{ is_error: true, session_id: null },
      problems: [{ file: null, level: 'error', message: expect.stringContaining('there is no directory') }],
    });
  });
});
