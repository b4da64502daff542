import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import type { ListedTask, TaskList } from './listed-task.ts';
import { LARGEST_FILE, LARGEST_YAML, readTaskList, type TaskListOptions } from './read-task-list.ts';

async function read(
  text: string | Uint8Array,
  name = 'tasks.md',
  options: Partial<TaskListOptions> = {},
): Promise<TaskList> {
  const cwd = temporaryDirectory();
  mkdirSync(dirname(join(cwd, name)), { recursive: true });
  writeFileSync(join(cwd, name), text);
  return readTaskList(name, { cwd, root: cwd, ...options });
}

function taskOf({ tasks }: TaskList, id: string): ListedTask {
  const task = tasks.find((one) => one.id === id);
  if (task === undefined) throw new Error(`no task ${id} among ${tasks.map((one) => one.id)}`);
  return task;
}

function summary({ tasks }: TaskList): string[] {
  return tasks.map(({ id, status, title }) => `${id} ${status}: ${title}`);
}

const SPEC_KIT = `# Tasks: parcels

## Format: \`[ID] [P?] [Story] Description\`

- **[P]**: can run in parallel
- [P] tasks touch different files

## Phase 1: Setup

- [X] T001 Create the folders
- [x] T002 [P] Configure lint in \`biome.json\`

## Phase 2: Parcels (Blocking)

### Models (depends on T001-T002)

- [ ] T003 [P] [US1] Add the parcel model in src/parcel.ts
- [ ] T004 [US1] Add the service in \`src/service.ts\`
      that finds parcels by their sender, as \`src/sender.ts\`
      says (depends on T003)
- [/] T005b [US1] Wire it

\`\`\`bash
- [ ] T900 not a task
Task: "also none"
\`\`\`

## Dependencies & Execution Order

- T005b depends on T003 and T004
- Polish comes last

## Phase 3: Polish

- [ ] T006 Tidy
`;

describe('OP-1: a spec-kit file', () => {
  test('gives ids, titles, marks, phases, files and dependencies, also those of prose and headings', async () => {
    const list = await read(SPEC_KIT);
    expect(list.problems).toEqual([]);
    expect(summary(list)).toEqual([
      'T001 done: Create the folders',
      'T002 done: Configure lint in `biome.json`',
      'T003 open: Add the parcel model in src/parcel.ts',
      'T004 open: Add the service in `src/service.ts` that finds parcels by their sender, as `src/sender.ts` says',
      'T005b in_progress: Wire it',
      'T006 open: Tidy',
    ]);
    expect(list.tasks.map(({ parallel }) => parallel)).toEqual([false, true, true, false, false, false]);
    expect(taskOf(list, 'T002').files).toEqual(['biome.json']);
    expect(taskOf(list, 'T004')).toMatchObject({
      line: 18,
      phase: 'Phase 2: Parcels (Blocking)',
      barrier: 2,
      files: ['src/service.ts', 'src/sender.ts'],
      dependsOn: ['T001', 'T002', 'T003'],
    });
    expect(taskOf(list, 'T005b').dependsOn).toEqual(['T001', 'T002', 'T003', 'T004']);
    expect(taskOf(list, 'T006')).toMatchObject({ phase: 'Phase 3: Polish', barrier: 3, dependsOn: [] });
  });

  test('reports the legend, the prose and the fence, and reads every line as something', async () => {
    const list = await read(SPEC_KIT);
    const whyOf = (line: number): string | undefined => list.ignored.find((one) => one.line === line)?.why;
    expect(whyOf(5)).toBe('a legend');
    expect(whyOf(6)).toBe('[P] is no mark of a task');
    expect(whyOf(23)).toBe('a block of code, which its agent gets as it is');
    expect(whyOf(31)).toBe('a list item without a box');
    const covered = new Set(
      list.readings.flatMap(({ line, count }) => Array.from({ length: count }, (_, n) => line + n)),
    );
    const missing = SPEC_KIT.split('\n').flatMap((text, n) =>
      text.trim() !== '' && !covered.has(n + 1) ? [n + 1] : [],
    );
    expect(missing).toEqual([]);
  });

  test('has no dependency on what only looks like an id in prose', async () => {
    const list = await read(
      '- [ ] T001 Show `- A: (depends_on: AUTH-1)` and what depends on AUTH-2, after 3 retries\n- [ ] T002 x\n',
    );
    expect(list.problems).toEqual([]);
    expect(list.tasks.map(({ dependsOn }) => dependsOn)).toEqual([[], []]);
    expect(list.ignored).toEqual([
      { line: 1, why: 'AUTH-2 is no task of this file, so T001 does not wait for it' },
    ]);
  });
});

const KIRO = `# Implementation Plan

- [x] 1. Store
  - [x] 1.1 Add the table
    - Create \`db/parcels.sql\`
    - _Requirements: 1.1, 2.3_
  - [ ]* 1.2 Write property tests
    - **Property 1: round trip**
- [ ] 2. Service
- [-] 2.1 Build the worker (P)
  - _Boundary: src/worker.ts, WorkerPool_
  - _Depends: 1.1_
- [x] 2.3 Log
  - _Depends:_ none
- [ ] 3. Checkpoint
  - Ensure all tests pass, ask the user if questions arise.
`;

describe('OP-1: a Kiro or cc-sdd file', () => {
  test('knows parents at the same indentation, optional tasks and fields', async () => {
    const list = await read(KIRO);
    expect(list.problems).toEqual([]);
    expect(list.tasks.map(({ id, status, parent }) => [id, status, parent])).toEqual([
      ['1', 'done', null],
      ['1.1', 'done', '1'],
      ['1.2', 'open', '1'],
      ['2', 'open', null],
      ['2.1', 'in_progress', '2'],
      ['2.3', 'done', '2'],
      ['3', 'open', null],
    ]);
    expect(list.tasks.filter(({ optional }) => optional).map(({ id }) => id)).toEqual(['1.2']);
    expect(taskOf(list, '2.1')).toMatchObject({
      title: 'Build the worker',
      parallel: true,
      dependsOn: ['1.1'],
      files: ['src/worker.ts'],
    });
    expect(taskOf(list, '1.1').files).toEqual(['db/parcels.sql']);
    expect(taskOf(list, '2.3')).toMatchObject({ dependsOn: [], placed: true });
    expect(taskOf(list, '3').placed).toBe(false);
    expect(list.ignored).toEqual([]);
  });

  test('a parent is done when its parts are, whatever its own mark says', async () => {
    const list = await read(
      '- [ ] 1. A\n  - [x] 1.1 a\n  - [x] 1.2 b\n  - [ ]* 1.3 c\n- [x] 2. B\n  - [x] 2.1 d\n  - [ ] 2.2 e\n',
    );
    expect(list.tasks.map(({ id, status }) => `${id} ${status}`)).toEqual([
      ...['1 done', '1.1 done', '1.2 done', '1.3 open', '2 open', '2.1 done', '2.2 open'],
    ]);
  });

  test.each([
    ['{ "waves": [ { "id": 0, "tasks": ["1", "2"] }, { "id": 1, "tasks": ["3"] } ] }'],
    [
      '{ "waves": [ { "wave": 1, "tasks": [1, 2], "description": "first" },\n { "wave": 2, "name": "b", "tasks": [3] } ] }',
    ],
    ['{"waves": [["1", "2"], ["3"],]}'],
  ])('takes waves as %s, before or after the tasks', async (waves) => {
    const graph = `## Task Dependency Graph\n\n\`\`\`json\n${waves}\n\`\`\`\n\n`;
    const tasks = '## Tasks\n\n- [ ] 1. A\n- [ ] 2. B\n- [ ] 3. C\n\n';
    for (const text of [graph + tasks, tasks + graph]) {
      const list = await read(text);
      expect(list.problems).toEqual([]);
      expect(list.tasks.map(({ id, wave, dependsOn }) => [id, wave, dependsOn])).toEqual([
        ['1', 0, []],
        ['2', 0, []],
        ['3', 1, ['1', '2']],
      ]);
    }
  });

  test('takes arrows as an order', async () => {
    const list = await read(
      '- [ ] T1 a\n- [ ] T2 b\n- [ ] T3 c\n\n## Task Dependency Graph\n\n```mermaid\nT1 --> T2\nT2 (b) --> T3\n```\n',
    );
    expect(list.tasks.map(({ dependsOn }) => dependsOn)).toEqual([[], ['T1'], ['T2']]);
  });

  test('a part that depends on its own parent does not wait for it', async () => {
    const list = await read('- [ ] 1. A\n  - [ ] 1.1 a\n    - _Depends: 1_\n');
    expect(list.problems).toEqual([]);
    expect(taskOf(list, '1.1').dependsOn).toEqual([]);
    expect(list.ignored).toEqual([{ line: 3, why: '1.1 is a part of 1, so it cannot wait for it' }]);
  });
});

describe('OP-1: an OpenSpec file', () => {
  test('has sections, numbers with gaps, and boxes without an id that belong to a task', async () => {
    const list = await read(
      '## 1. Model\n\n- [x] 1.1 Add fields\n- [ ] 1.4 Migrate\n  - [ ] keeps old rows\n  - [ ] MUST NOT drop the table\n\n## 2. Verify\n\n- [ ] 2.1 Run tests\n  - Depends on: 1\n',
    );
    expect(list.problems).toEqual([]);
    expect(list.tasks.map(({ id, status, phase, barrier }) => [id, status, phase, barrier])).toEqual([
      ['1.1', 'done', '1. Model', null],
      ['1.4', 'open', '1. Model', null],
      ['2.1', 'open', '2. Verify', null],
    ]);
    expect(taskOf(list, '2.1').dependsOn).toEqual(['1.1', '1.4']);
    expect(list.ignored).toEqual([
      { line: 5, why: 'a part of 1.4: a box without an id' },
      { line: 6, why: 'a prohibition of 1.4' },
    ]);
  });
});

describe('OP-1: plain lists', () => {
  test('get ids by position, nested boxes are parts, criteria and prohibitions are none', async () => {
    const list = await read(
      '# Todo\n\n- [ ] Add login\n  - [x] Form\n  - [ ] Never log the password\n  - Acceptance criteria:\n    - [ ] wrong password gives 401\n- [-] Old idea\n- [>] Later\n\n## Acceptance Criteria\n\n- [ ] all green\n',
    );
    expect(list.tasks.map(({ id, status, title }) => `${id} ${status} ${title}`)).toEqual([
      '1 open Add login',
      '1.1 done Form',
      '2 cancelled Old idea',
      '3 deferred Later',
    ]);
    expect(list.ignored.map(({ line, why }) => `${line} ${why}`)).toEqual([
      '5 a prohibition of 1',
      '7 a criterion or prohibition of 1',
      '13 an acceptance criterion or prohibition',
    ]);
  });

  test('say so of lines that look like tasks and have no box, and know labels in bold', async () => {
    const list = await read(
      '- [ ] T001 a\n\n* T002 b\n\nT003: c\n\n> - [ ] T004 d\n\n| T005 | e |\n\n**Definition of Done**\n\n- [ ] green\n',
    );
    expect(list.tasks.map(({ id }) => id)).toEqual(['T001']);
    expect(list.ignored.map(({ line, why }) => `${line} ${why}`)).toEqual([
      '3 it begins like the task T002, but has no box',
      '5 it begins like the task T003, but has no box',
      '7 a box in a quotation',
      '9 a table',
      '11 text',
      '13 a criterion or prohibition',
    ]);
  });

  test('words that look like ids stay words unless the file has such ids', async () => {
    const list = await read(
      '- [ ] UTF-8 support\n- [ ] 3 retries on failure\n- [ ] Fix it\n- [ ] RFC7231 dates\n',
    );
    expect(list.tasks.map(({ id, title }) => `${id} ${title}`)).toEqual([
      ...['1 UTF-8 support', '2 3 retries on failure', '3 Fix it', '4 RFC7231 dates'],
    ]);
  });

  test('without any box are offered as tasks only when asked', async () => {
    const text = 'Plan:\n\n1. Add a parser\n2. Test it\n';
    const list = await read(text);
    expect(list.tasks).toEqual([]);
    expect(list.problems.map(({ message }) => message)).toEqual([expect.stringContaining('--bullets')]);
    expect(summary(await read(text, 'tasks.md', { bullets: true }))).toEqual([
      '1 open: Add a parser',
      '2 open: Test it',
    ]);
  });

  test('headings can be tasks, with fields and steps', async () => {
    const list = await read(
      '## Task list\n\n### TASK-01: Schema\n\n- **Status**: [x] complete\n- **Files**: `src/schema.ts`, `src/tables/`\n\n### TASK-02: Reader\n\n- **Depends on**: TASK-01\n- Check: `npm test`\n\n- [x] Step one\n- [ ] Step two\n',
    );
    expect(list.problems).toEqual([]);
    expect(summary(list)).toEqual(['TASK-01 done: Schema', 'TASK-02 in_progress: Reader']);
    expect(taskOf(list, 'TASK-01').files).toEqual(['src/schema.ts', 'src/tables/']);
    expect(taskOf(list, 'TASK-02')).toMatchObject({
      dependsOn: ['TASK-01'],
      settings: { check: 'npm test' },
    });
  });

  test('a heading that begins like an id is a task if a sign, its word or its series says so', async () => {
    const list = await read(
      '## Data\n\n### COVID-19 Chest X-ray\n\n### GPT-2 tokenizer\n\n### GPT-3 tokenizer\n\n### T5 tokenizer\n',
    );
    expect(list.tasks).toEqual([]);
    expect(list.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('a heading needs a colon after its id, as in "### COVID-19: title"'),
    ]);
    expect(list.readings.find(({ line }) => line === 3)?.what).toBe(
      'a heading: without a colon after COVID-19 it is no task',
    );
    const tasks = await read(
      '## A-1 x\n\n### WEB-01: a\n\n### WEB-02 b\n\n### TASK-7 c\n\n### API-1 — d\n\n### T1 f\n\n### T2 g\n\n### T013 h\n',
    );
    expect(summary(tasks).map((line) => line.split(' ')[0])).toEqual(
      'WEB-01 WEB-02 TASK-7 API-1 T1 T2 T013'.split(' '),
    );
  });

  test('a person’s approval is a gate for the tasks below it', async () => {
    const list = await read(
      '## Phase 1: Tests\n\nTests must be approved before implementation starts.\n\n- [ ] T001 Code\n',
    );
    expect(taskOf(list, 'T001').gate).toContain('must be approved');
    expect(list.ignored[0]?.why).toMatch(/^a gate for a person: /);
  });
});

describe('OP-1: the beginning of a task', () => {
  test.each([
    ['- [ ] **T001** [P] a', 'T001 open P: a'],
    ['- [ ] **T001: a**', 'T001 open: a'],
    ['- [ ] [T001] a', 'T001 open: a'],
    ['* [ ] `T001` **[P]** a', 'T001 open P: a'],
    ['1. [ ] T001 - a', 'T001 open: a'],
    ['- [ ] T001 [P][US2] a', 'T001 open P: a'],
    ['- [ ] [P] T001 a', 'T001 open P: a'],
    ['- [ ] ~~T001 a~~', 'T001 cancelled: a'],
    ['- [x] ~~T001 a~~', 'T001 done: a'],
    ['- [ ]T001 a', 'T001 open: a'],
    ['-[ ] T001 a', 'T001 open: a'],
    ['- [ ] 3.3* a', '3.3 open *: a'],
    ['- [ ]\\* 3.3 a', '3.3 open *: a'],
    ['- [ ] Task 1.2: a', '1.2 open: a'],
    ['- [ ] bd-a3f8.1: a', 'bd-a3f8.1 open: a'],
    ['- [ ] T014.5 a', 'T014.5 open: a'],
  ])('%s', async (text, expected) => {
    const [task] = (await read(text)).tasks;
    const flags = `${task?.parallel ? ' P' : ''}${task?.optional ? ' *' : ''}`;
    expect(`${task?.id} ${task?.status}${flags}: ${task?.title}`).toBe(expected);
  });

  test.each([
    ['(depends on T1, T2)'],
    ['[depends: T1, T2]'],
    ['(deps: T1 and T2)'],
    ['(Dependencies: T1-T2)'],
    ['@dependencies(T1,T2)'],
    ['— depends on T1/T2'],
    ['- [x] nested\n  - Depends on: Task T1, **T2**'],
    ['\n  _Depends:_ T1, T2'],
    ['\n  - **Blocked by**: T1 & T2'],
    ['\n  - Dependencies:\n    - T1\n    - T2'],
  ])('and its dependencies as %s', async (said) => {
    const list = await read(`- [ ] T1 a\n- [ ] T2 b\n- [ ] T3 c ${said}\n`);
    expect(list.problems).toEqual([]);
    expect(taskOf(list, 'T3').dependsOn).toEqual(['T1', 'T2']);
  });
});

describe('OP-1: a dependency block between issues', () => {
  const block = '## Dependencies\n\n- phase 1: #4301, #4302\n- phase 2: #4303\n- #4302 requires: #4301\n';

  test('makes tasks of the issues', async () => {
    const list = await read(block);
    expect(list.problems).toEqual([]);
    expect(list.tasks.map(({ id, phase, barrier, dependsOn }) => [id, phase, barrier, dependsOn])).toEqual([
      ['#4301', 'phase 1', 1, []],
      ['#4302', 'phase 1', 1, ['#4301']],
      ['#4303', 'phase 2', 2, []],
    ]);
  });

  test('names an issue that is in no phase: that is an error, and no task', async () => {
    const list = await read(`${block}- #4303 requires: #4301, #4399\n`);
    expect(list.tasks.map(({ id }) => id)).toEqual(['#4301', '#4302', '#4303']);
    expect(list.problems.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([
      expect.stringMatching(/^6:26 #4303 depends on #4399: there is no task #4399/),
    ]);
  });

  test('is checked against the phases and for cycles', async () => {
    const list = await read(`${block}- #4301 requires: #4303\n`);
    expect(list.problems.map(({ line, message }) => `${line} ${message}`)).toEqual([
      expect.stringMatching(/^6 #4301 \(phase 1\) depends on #4303 of a later phase/),
    ]);
  });
});

describe('OP-1: what is wrong with a file', () => {
  test.each([
    ['an empty file', '', '1:1 the file is empty'],
    ['no tasks', '# Notes\n\nhello\n', '1:1 there are no tasks in it'],
    [
      'an unknown dependency',
      '- [ ] T001 a (depends on T009)\n',
      '1:26 T001 depends on T009: there is no task T009',
    ],
    [
      'an unknown end of a range',
      '- [ ] T001 a\n- [ ] T002 b (depends on T001-T009)\n',
      '2:26 T002 depends on T001 to T009',
    ],
    [
      'a range that runs backwards',
      '- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 c\n  - Depends on: T002-T001\n',
      '4:17 the range T002-T001 runs backwards: write T001-T002, or T002, T001 for these two',
    ],
    [
      'such a range of tasks that wait',
      '- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 c\n\nT003-T002 depend on T001.\n',
      '5:1 the range T003-T002 runs backwards',
    ],
    ['a self dependency', '- [ ] 1. a\n  - _Depends: 1_\n', '2:15 1 depends on itself'],
    ['a duplicate id', '- [ ] T001 a\n- [ ] T001 b\n', '2:1 the id T001 is used twice (first on line 1)'],
    [
      'a cycle',
      '- [ ] T001 a (depends on T003)\n- [ ] T002 b (depends on T001)\n- [ ] T003 c (depends on T002)\n',
      '1:26 these tasks wait for each other: T001 (line 1) → T003 (line 3) → T002 (line 2) → T001',
    ],
    [
      'a wave against an edge',
      '- [ ] 1. a\n  - _Depends: 2_\n- [ ] 2. b\n\n```json\n{"waves": [["1"], ["2"]]}\n```\n',
      '2:15 1 (wave 0) depends on 2 (wave 1)',
    ],
    [
      'a wave with an unknown task',
      '- [ ] 1. a\n\n```json\n{"waves": [["1", "7"]]}\n```\n',
      '4:19 wave 0 has 7: there is no task 7',
    ],
    [
      'a later phase',
      '## Phase 1\n- [ ] T1 a (depends on T2)\n## Phase 2\n- [ ] T2 b\n',
      '2:24 T1 (Phase 1) depends on T2 of a later phase',
    ],
    [
      'a path outside',
      '- [ ] T001 a\n  - Files: ../../etc/passwd\n',
      '2:12 T001 names ../../etc/passwd, which is outside',
    ],
    [
      'a system path in prose',
      '- [ ] T001 Edit `/etc/hosts.conf`\n',
      '1:18 T001 names /etc/hosts.conf, which is outside',
    ],
    ['a mark that means nothing', '- [?] T001 a\n', '1:6 the mark [?] of T001 is not known'],
    ['an open fence', '- [ ] T001 a\n```\n- [ ] T002 b\n', '2:1 nothing closes this fence'],
  ])('%s is told with its place', async (_, text, expected) => {
    const { problems } = await read(text);
    expect(problems.map(({ line, column, message }) => `${line}:${column} ${message}`)[0]).toContain(
      expected,
    );
    expect(problems[0]?.file).toBe('tasks.md');
  });

  test('a range is not backwards where only the file, or only the ids, are in another order', async () => {
    const text = '- [ ] T002 b\n- [ ] T001 a\n- [ ] T003 c\n';
    for (const range of ['T001-T002', 'T002-T001']) {
      const { problems, tasks } = await read(`${text}  - Depends on: ${range}\n`);
      expect([problems, tasks.at(-1)?.dependsOn]).toEqual([[], ['T002', 'T001']]);
    }
  });

  test('a file of a folder that is no task is ignored by name', async () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'tasks'));
    writeFileSync(join(cwd, 'tasks/task-1.md'), '---\nid: task-1\ntitle: A\nstatus: To Do\n---\n');
    for (const name of ['notes.md', 'readme.md']) writeFileSync(join(cwd, 'tasks', name), '# Notes\n');
    const { tasks, ignored, problems } = await readTaskList('tasks', { cwd, root: cwd });
    expect(tasks.map(({ id }) => id)).toEqual(['task-1']);
    expect(ignored).toEqual(
      ['notes.md', 'readme.md'].map((name) => ({
        ...{ line: 1, why: `tasks/${name} begins without id and status, so it is no task` },
      })),
    );
    expect(problems.map(({ level, file }) => `${level} ${file}`)).toEqual(['warning tasks/notes.md']);
  });

  test.each([
    [
      '---\nid: task-2\ntitle: [unclosed\n---\n',
      /^tasks\/task-2.md:\d+:\d+ the front matter is no valid YAML/,
    ],
    [
      '---\ntitle: B\nid: task-2\nstatus: To Do\n\n# B\n',
      /^tasks\/task-2.md:1:1 nothing closes the front matter/,
    ],
  ])('a file of a folder whose front matter is broken is an error: %j', async (text, expected) => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'tasks'));
    writeFileSync(join(cwd, 'tasks/task-1.md'), '---\nid: task-1\ntitle: A\nstatus: To Do\n---\n');
    writeFileSync(join(cwd, 'tasks/task-2.md'), text);
    const { problems } = await readTaskList('tasks', { cwd, root: cwd });
    expect(problems.map(({ level }) => level)).toEqual(['error']);
    expect(problems.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`)).toEqual(
      [expect.stringMatching(expected)],
    );
  });

  test('short names that others wait for are told, since they are no ids', async () => {
    const text = '- [ ] B0 Make it\n- [ ] B1 Use it (depends on B0)\n  - Depends on: B0\n';
    const { problems } = await read(text);
    expect(problems).toEqual([
      {
        ...{ file: 'tasks.md', line: 2, column: 29, level: 'warning' },
        message: 'B0 is not read as an id, so nothing waits for it: write B-0 in both places',
      },
    ]);
    const other = await read('- [ ] Write it after 8 PM, with B2B in mind\n');
    expect(other.problems).toEqual([]);
  });

  test('a cycle between tasks that are done is only a warning', async () => {
    const { problems } = await read('- [x] T1 a (depends on T2)\n- [x] T2 b (depends on T1)\n');
    expect(problems.map(({ level }) => level)).toEqual(['warning']);
  });

  test('a cycle through a parent is found', async () => {
    const { problems } = await read(
      '- [ ] 1. a\n  - [ ] 1.1 b\n    - _Depends: 2_\n- [ ] 2. c\n  - _Depends: 1_\n',
    );
    expect(problems[0]?.message).toMatch(/wait for each other/);
  });

  test('a file that is missing, binary or too large is refused in one line', async () => {
    const cwd = temporaryDirectory();
    await expect(readTaskList('none.md', { cwd })).rejects.toThrow(/^none\.md is not there/);
    await expect(read(new Uint8Array([0, 1, 2]))).rejects.toThrow(/^tasks\.md is no text file/);
    await expect(read('x'.repeat(LARGEST_FILE + 1))).rejects.toThrow(/are the most for a task list/);
    await expect(read('x'.repeat(LARGEST_YAML + 1), 'tasks.yaml')).rejects.toThrow(
      /are the most for a task list/,
    );
  });
});

describe('OP-1: hostile files', () => {
  test('titles and ids have no control characters', async () => {
    const list = await read('- [ ] T001 a\u001b[31mred\u202e\u0007 b\n- [ ] T002 c\n');
    expect(list.tasks[0]?.title).toBe('a [31mred b');
    expect(JSON.stringify(list)).not.toMatch(/\\u001b|\\u0007|\u202e/);
  });

  test.each([
    ['blanks', `- [ ] T001 a${' '.repeat(200_000)}b`],
    ['brackets', `- [ ] T001 ${'('.repeat(100_000)}`],
    ['backticks', `- [ ] T001 ${'`a '.repeat(60_000)}`],
    ['verbs', `- [ ] T001 ${'depends on '.repeat(20_000)}`],
    ['ids', `- [ ] T001 depends on ${'T001, '.repeat(20_000)}`],
    ['paths', `- [ ] T001 ${'a/'.repeat(100_000)}`],
    ['stars', `- [ ] ${'*_'.repeat(100_000)}`],
    ['arrows', `## Dependencies\n\n${'T1 --> '.repeat(30_000)}`],
    ['comments', `- [ ] T001 ${'<!-- '.repeat(50_000)}`],
    ['waves', `\`\`\`\n"waves"${' '.repeat(100_000)}\n\`\`\`\n- [ ] T001 a`],
    ['fences', `${'```\n'.repeat(4_001)}- [ ] T001 a`],
    ['headings', `${'#'.repeat(100_000)}\n- [ ] T001 a`],
    ['nesting', Array.from({ length: 400 }, (_, n) => `${' '.repeat(n)}- [ ] T${n} a`).join('\n')],
  ])('a line or file of many %s is read and ends', async (_, text) => {
    const list = await read(text);
    expect(list.tasks.length + list.problems.length).toBeGreaterThan(0);
  });

  test('aliases and deep nesting in YAML are refused', async () => {
    const bomb = `a: &a [x, x]\nb: &b [*a, *a]\ntasks: *b\n`;
    expect((await read(bomb, 'tasks.yaml')).problems[0]?.message).toMatch(/aliases/);
    const deep = await read(`tasks: ${'['.repeat(20_000)}`, 'tasks.yml');
    expect(deep.problems[0]?.message).toMatch(/no valid YAML/);
  });

  test('a folder does not follow links out of it', async () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'tasks'));
    writeFileSync(join(cwd, 'secret.md'), '---\nid: X-1\nstatus: To Do\n---\n');
    symlinkSync(join(cwd, 'secret.md'), join(cwd, 'tasks/link.md'));
    expect((await readTaskList('tasks', { cwd })).tasks).toEqual([]);
  });

  test('two thousand tasks are read', async () => {
    const lines = Array.from(
      { length: 2_000 },
      (_, n) => `- [ ] T${n + 1} Task in src/f${n}.ts${n > 0 ? ` (depends on T${n})` : ''}`,
    );
    const list = await read(lines.join('\n'));
    expect([list.tasks.length, list.problems.length]).toEqual([2_000, 0]);
    const waves = {
      waves: [list.tasks.slice(0, 1_000).map(({ id }) => id), list.tasks.slice(1_000).map(({ id }) => id)],
    };
    const free = lines.map((line) => line.replace(/ \(.*/, ''));
    const waved = await read(`${free.join('\n')}\n\n\`\`\`json\n${JSON.stringify(waves)}\n\`\`\`\n`);
    expect([waved.tasks.at(-1)?.dependsOn.length, waved.problems]).toEqual([1_000, []]);
  });
});

describe('OP-1: what is written over two lines, or with a slip', () => {
  test('a list of ids goes on after a comma or "and" at the end of a line', async () => {
    const list = await read(
      [
        '- [ ] T001 a',
        '- [ ] T002 b',
        '- [ ] T003 [P] A title that is',
        '  wrapped (depends on T001,',
        '  T002)',
        '- [ ] T004 x (depends on T001 and',
        '  T002)',
        '- [ ] T005 y',
        '  - Depends on: T001,',
        '    T002',
        '- [ ] T006 z (depends on',
        '  T002)',
        '- [ ] T007 w (depends on T001),',
        '  T002 comes later',
        '- [ ] T008 v',
        '  - Files: src/a.ts,',
        '    src/b.ts',
        '',
        '## Dependencies',
        '',
        '- T008 depends on T001,',
        '  T002 and',
        '  T003',
      ].join('\n'),
    );
    expect(list.problems).toEqual([]);
    const waits = Object.fromEntries(list.tasks.map(({ id, dependsOn }) => [id, dependsOn]));
    expect(waits).toMatchObject({
      ...{ T003: ['T001', 'T002'], T004: ['T001', 'T002'], T005: ['T001', 'T002'], T006: ['T002'] },
      ...{ T007: ['T001'], T008: ['T001', 'T002', 'T003'] },
    });
    expect(taskOf(list, 'T008')).toMatchObject({ files: ['src/a.ts', 'src/b.ts'], declares: true });
  });

  test.each([
    ['(depends on T001 T002)', 'T001 T002', 'c'],
    ['(depends on t001)', 'T001', 'c'],
    ['(depends on T001 (the schema), T002)', 'T001 T002', null],
    ['(does not depend on T001)', '', null],
    ['(depends on the parser)', '', 'c (depends on the parser)'],
    ['(depends on T001 [or T002])', 'T001', null],
    ['(depends on: none)', '', 'c'],
  ])('what a title depends on: %s', async (said, ids, title) => {
    const list = await read(`- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 [P] c ${said}\n`);
    const task = taskOf(list, 'T003');
    expect(task.dependsOn.join(' ')).toBe(ids);
    if (title !== null) expect(task.title).toBe(title);
    const told = list.problems.map(({ message }) => message).join();
    if (said.includes('parser')) expect(told).toContain('(depends on the parser) names no task, so T003');
    else if (said.includes('[or')) expect(told).toContain('T002 stands apart from the other ids');
    else expect(told).toBe('');
  });

  test('words in brackets after an id do not end a list of dependencies', async () => {
    const list = await read(
      '- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 [P] c\n  * Depends on: T001 (schema), T002 (reader)\n',
    );
    expect(taskOf(list, 'T003').dependsOn).toEqual(['T001', 'T002']);
    expect(list.problems).toEqual([]);
  });

  test('an id of another file in a list of dependencies is told', async () => {
    const list = await read('- [ ] T-001 a\n- [ ] T-002 b | deps: T-001, other/T-009\n');
    expect(taskOf(list, 'T-002').dependsOn).toEqual(['T-001']);
    expect(list.problems).toEqual([
      expect.objectContaining({
        ...{ line: 2, level: 'warning' },
        message: 'other/T-009 is no task of this file, so T-002 does not wait for it',
      }),
    ]);
  });

  test.each([
    ['- [  ] T014 two blanks', 'open', '- [x] T014 two blanks'],
    ['- [ x ] T014 blanks around', 'done', null],
    ['- [] T014 nothing', 'open', '- [x] T014 nothing'],
  ])('blanks in a box change nothing: %s', async (line, status, marked) => {
    const text = `- [ ] T001 a\n${line}\n\n  text of T014\n`;
    const list = await read(text);
    expect(summary(list)).toEqual(['T001 open: a', expect.stringMatching(`^T014 ${status}: `)]);
    const mark = taskOf(list, 'T014').mark;
    if (marked !== null && mark !== null)
      expect(`${text.slice(0, mark.start)}x${text.slice(mark.end)}`).toContain(marked);
  });
});

describe('OP-1: a gate for a person', () => {
  const TASKS = '- [ ] T019 tests\n- [ ] T020 other\n- [ ] T021 impl\n';
  const gated = ({ tasks }: TaskList): string[] =>
    tasks.flatMap(({ id, gate }) => (gate === null ? [] : [id]));

  test.each([
    ['Tests (T019) must be approved before T021', ['T021'], ['T019']],
    ['T021 must not start before a person has approved T019', ['T021'], ['T019']],
    ['Tests (T019) must be written and approved before T020-T021', ['T020', 'T021'], ['T019']],
  ])('holds back the tasks that it names, wherever it is: %s', async (line, held, waits) => {
    const list = await read(`${TASKS}\n## Dependencies\n\n- ${line}\n`);
    expect(list.problems).toEqual([]);
    expect(gated(list)).toEqual(held);
    expect(taskOf(list, 'T021').dependsOn).toEqual(waits);
  });

  test('holds back the tasks below it, also above the first heading', async () => {
    const text = '**CRITICAL**: tests must be written and approved before ANY implementation';
    expect(gated(await read(`${TASKS}\n## Phase 2: Impl\n\n${text}\n\n- [ ] T022 more\n`))).toEqual(['T022']);
    expect(gated(await read(`${text}\n\n${TASKS}`))).toEqual(['T019', 'T020', 'T021']);
  });

  test('that no task waits for is told, and so is one that names no task of the file', async () => {
    const loose = await read(`${TASKS}\n## Notes\n\nTests must be approved before implementation\n`);
    expect(gated(loose)).toEqual([]);
    expect(loose.problems).toEqual([
      expect.objectContaining({
        line: 7,
        level: 'warning',
        message: expect.stringContaining('no task waits'),
      }),
    ]);
    const unknown = await read(`${TASKS}\nTests must be approved before T099\n`);
    expect(unknown.problems).toEqual([
      expect.objectContaining({ level: 'error', message: expect.stringContaining('no task T099') }),
    ]);
  });
});

describe('OP-1: what a task sets for itself', () => {
  test('each value that a run would refuse is an error with its place', async () => {
    const yaml = [
      'tasks:',
      '  - { id: a, title: A, budget: -1 }',
      '  - { id: b, title: B, isolation: cluster }',
      '  - { id: c, title: C, optional: maybe }',
      '  - { id: d, title: D, effort: huge }',
      '  - { id: e, title: E, effort: huge, status: done }',
    ].join('\n');
    const places = ({ problems }: TaskList): string[] =>
      problems.map(
        ({ line, column, level, message }) => `${line}:${column} ${level} ${message.split(':')[0]}`,
      );
    expect(places(await read(yaml, 'tasks.yaml'))).toEqual([
      '2:32 error the budget of a is "-1"',
      '3:35 error the isolation of b is "cluster"',
      '4:34 error "optional" of c is "maybe"',
      '5:32 error the effort of d is "huge"',
    ]);
    const markdown = '- [ ] T001 a\n  - Isolation: cluster\n  - Budget: lots\n  - Effort: huge\n';
    expect(places(await read(markdown))).toEqual([
      '2:16 error the isolation of T001 is "cluster"',
      '3:13 error the budget of T001 is "lots"',
      '4:13 error the effort of T001 is "huge"',
    ]);
  });
});
