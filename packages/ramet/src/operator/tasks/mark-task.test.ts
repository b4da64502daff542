import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import type { ListedStatus } from './listed-task.ts';
import { type MarkResult, markTasks } from './mark-task.ts';
import { readTaskList, type TaskListOptions } from './read-task-list.ts';

interface Marked {
  result: MarkResult;
  text: string;
  names: string[];
}

async function markTask(
  path: string,
  { id, status }: { id: string; status: ListedStatus },
  options: TaskListOptions,
): Promise<MarkResult> {
  const results = await markTasks(path, { ids: [id], status }, options);
  return results.get(id) ?? expect.fail('no result');
}

async function mark(text: string, id: string, status: ListedStatus, name = 'tasks.md'): Promise<Marked> {
  const cwd = temporaryDirectory();
  const path = join(cwd, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const result = await markTask(name, { id, status }, { cwd, root: cwd });
  return { result, text: readFileSync(path, 'utf8'), names: readdirSync(dirname(path)) };
}

const WRITTEN = { written: true, why: null };

describe('OP-1: writing a status back', () => {
  test.each<[string, string, string, ListedStatus, string]>([
    ['a box', '- [ ] T001 a\n- [ ] T002 b', 'T002', 'done', '- [ ] T001 a\n- [x] T002 b'],
    [
      'upper case, as the file has it',
      '- [X] T001 a\n- [ ] T002 b\n',
      'T002',
      'done',
      '- [X] T001 a\n- [X] T002 b\n',
    ],
    [
      'CRLF and a mark',
      '\ufeff# T\r\n\r\n- [ ] T001 a\r\n',
      'T001',
      'done',
      '\ufeff# T\r\n\r\n- [x] T001 a\r\n',
    ],
    [
      'mixed line ends',
      '- [ ] T001 a\r\n- [x] T002 b\nend',
      'T002',
      'open',
      '- [ ] T001 a\r\n- [ ] T002 b\nend',
    ],
    ['an optional task', '- [ ]* 1.1 a\n- [ ] 1.2 b\n', '1.1', 'in_progress', '- [-]* 1.1 a\n- [ ] 1.2 b\n'],
    ['a plain list', '- [ ] a\n- [ ] b\n', '2', 'cancelled', '- [ ] a\n- [-] b\n'],
    [
      'a parent, whose parts are done',
      '- [ ] 1. a\n  - [x] 1.1 b\n',
      '1',
      'done',
      '- [x] 1. a\n  - [x] 1.1 b\n',
    ],
    ['an empty box', '- [] a\n', '1', 'done', '- [x] a\n'],
    [
      'a status of a heading',
      '### TASK-01: a\n\n- Status: [ ] pending\n',
      'TASK-01',
      'done',
      '### TASK-01: a\n\n- Status: [x] pending\n',
    ],
  ])('changes only the mark: %s', async (_, before, id, status, after) => {
    const { result, text, names } = await mark(before, id, status);
    expect(result).toEqual(WRITTEN);
    expect(text).toBe(after);
    expect(names).toEqual(['tasks.md']);
  });

  test.each<[string, string, string, ListedStatus, string]>([
    [
      't.json',
      '{"tasks": [{"id": 1, "title": "a", "status": "pending"}]}',
      '1',
      'in_progress',
      '{"tasks": [{"id": 1, "title": "a", "status": "in-progress"}]}',
    ],
    [
      't.yaml',
      'tasks: # ours\n  - {title: a, status: "open"}\n',
      '1',
      'done',
      'tasks: # ours\n  - {title: a, status: "done"}\n',
    ],
    [
      'a.md',
      '---\nid: A-1\nstatus: To Do\n---\nbody\n',
      'A-1',
      'done',
      '---\nid: A-1\nstatus: Done\n---\nbody\n',
    ],
  ])('changes only the word in %s', async (name, before, id, status, after) => {
    const { result, text } = await mark(before, id, status, name);
    expect([result, text]).toEqual([WRITTEN, after]);
  });

  test.each<[string, string, string, string, string]>([
    [
      ...(['a block', 't.yaml', 'b'] as const),
      '# ours\ntasks:\n  - id: a # first\n    title: A\n  - title: |\n      B\n    id: b # second\n    files: [x]\n',
      '# ours\ntasks:\n  - id: a # first\n    title: A\n  - title: |\n      B\n    id: b # second\n    status: done\n    files: [x]\n',
    ],
    [
      ...(['braces', 't.yaml', 'a'] as const),
      '- { id: a, title: A }\n',
      '- { id: a, status: done, title: A }\n',
    ],
    [
      ...(['a text alone', 't.yaml', '2.1'] as const),
      'tasks:\n  - title: A\n  - title: B\n    subtasks:\n      - Parse "lines", all # note\n',
      'tasks:\n  - title: A\n  - title: B\n    subtasks:\n      - { title: "Parse \\"lines\\", all", status: done } # note\n',
    ],
    [...(['no line end', 't.yaml', '1'] as const), '- title: A', '- title: A\n  status: done'],
    [
      ...(['JSON', 't.json', 'b'] as const),
      '[\n  "A",\n  {\n    "id": "b",\n    "title": "B"\n  }\n]\n',
      '[\n  "A",\n  {\n    "status": "done",\n    "id": "b",\n    "title": "B"\n  }\n]\n',
    ],
    [
      ...(['a text alone in JSON', 't.json', '1'] as const),
      '["A \\"x\\"", "B"]',
      '[{ "title": "A \\"x\\"", "status": "done" }, "B"]',
    ],
  ])(
    'an entry without a status gets one, and nothing else changes: %s',
    async (_, name, id, before, after) => {
      const { result, text } = await mark(before, id, 'done', name);
      expect([result, text]).toEqual([WRITTEN, after]);
      expect((await mark(text, id, 'done', name)).result).toEqual({ written: false, why: null });
    },
  );

  test('a task whose text has changed since it was done is not marked', async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 't.md'), '- [ ] T1 a\n- [ ] T2 another text\n');
    const titles = new Map([
      ['T1', 'a'],
      ['T2', 'b'],
    ]);
    const results = await markTasks(
      't.md',
      { ids: ['T1', 'T2'], status: 'done', titles },
      { cwd, root: cwd },
    );
    expect(results.get('T2')).toEqual({
      ...{ written: false },
      why: 't.md:2: T2 is not marked, because its text has changed since: what was done is "b"',
    });
    expect(readFileSync(join(cwd, 't.md'), 'utf8')).toBe('- [x] T1 a\n- [ ] T2 another text\n');
  });

  test('says why nothing was written', async () => {
    expect((await mark('- [ ] T001 a\n', 'T002', 'done')).result).toEqual({
      written: false,
      why: 'T002 is no longer in tasks.md',
    });
    expect((await mark('- [ ] T1 a\n- [ ] T1 b\n', 'T1', 'done')).result).toEqual({
      written: false,
      why: 'tasks.md has T1 twice',
    });
    expect((await mark('- [x] T1 a\n', 'T1', 'done')).result).toEqual({ written: false, why: null });
    const block = 'tasks:\n  - title: |\n      a\n';
    expect(await mark(block, '1', 'done', 't.yaml')).toMatchObject({
      result: { written: false, why: 't.yaml:2 has no place for the status done of 1' },
      text: block,
    });
  });

  test('of many tasks reads and writes the file once, and each has its own result', async () => {
    const cwd = temporaryDirectory();
    const path = join(cwd, 'tasks.md');
    writeFileSync(path, '- [] T1 a\n- [x] T2 b\n- [ ] T3 c\n- [ ] T4 d\n- [ ] T4 e\n- [ ] T5 f\n');
    const ids = ['T5', 'T1', 'T2', 'T4', 'T9', 'T3'];
    const results = await markTasks('tasks.md', { ids, status: 'done' }, { cwd });
    expect([...results]).toEqual([
      ...[
        ['T5', WRITTEN],
        ['T1', WRITTEN],
        ['T2', { written: false, why: null }],
      ],
      ['T4', { written: false, why: 'tasks.md has T4 twice' }],
      ['T9', { written: false, why: 'T9 is no longer in tasks.md' }],
      ['T3', WRITTEN],
    ]);
    expect(readFileSync(path, 'utf8')).toBe(
      '- [x] T1 a\n- [x] T2 b\n- [x] T3 c\n- [ ] T4 d\n- [ ] T4 e\n- [x] T5 f\n',
    );
  });

  test('keeps the permissions of the file', async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'tasks.md'), '- [ ] T1 a\n');
    chmodSync(join(cwd, 'tasks.md'), 0o640);
    await markTask('tasks.md', { id: 'T1', status: 'done' }, { cwd });
    expect(statSync(join(cwd, 'tasks.md')).mode & 0o777).toBe(0o640);
  });

  test('of a folder changes the file of the task', async () => {
    const cwd = temporaryDirectory();
    const text = '---\nid: A-1\nstatus: "To Do"\n---\n';
    mkdirSync(join(cwd, 'tasks'));
    writeFileSync(join(cwd, 'tasks/a.md'), text);
    writeFileSync(join(cwd, 'tasks/b.md'), text.replace('A-1', 'A-2'));
    expect(await markTask('tasks', { id: 'A-2', status: 'in_progress' }, { cwd })).toEqual(WRITTEN);
    expect(readFileSync(join(cwd, 'tasks/b.md'), 'utf8')).toBe('---\nid: A-2\nstatus: "In Progress"\n---\n');
    expect(readFileSync(join(cwd, 'tasks/a.md'), 'utf8')).toBe(text);
  });

  test('many at once lose no mark and no edit of another program', async () => {
    const cwd = temporaryDirectory();
    const path = join(cwd, 'tasks.md');
    const ids = Array.from({ length: 12 }, (_, n) => `T${n + 1}`);
    writeFileSync(path, ids.map((id) => `- [ ] ${id} task\n`).join(''));
    const pending = ids.slice(0, 4).map((id) => markTask('tasks.md', { id, status: 'done' }, { cwd }));
    writeFileSync(path, `# Added meanwhile\n\n${readFileSync(path, 'utf8')}`);
    const results = await Promise.all(pending);
    const { tasks } = await readTaskList('tasks.md', { cwd });
    const done = tasks.filter(({ status }) => status === 'done').map(({ id }) => id);
    expect(readFileSync(path, 'utf8')).toMatch(/^# Added meanwhile\n/);
    expect(done).toEqual(ids.slice(0, 4).filter((_, n) => results[n]?.written));
    expect(tasks).toHaveLength(12);
  });
});
