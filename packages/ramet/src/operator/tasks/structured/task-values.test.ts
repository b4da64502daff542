import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import type { TaskList } from '../listed-task.ts';
import { readTaskList } from '../read-task-list.ts';

async function read(name: string, files: Record<string, string>, tag?: string): Promise<TaskList> {
  const cwd = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  return readTaskList(name, { cwd, root: cwd, tag });
}

const MASTER = {
  master: {
    tasks: [
      { id: 1, title: 'Store', status: 'done', dependencies: [], details: 'x'.repeat(200_000), subtasks: [] },
      {
        ...{ id: 5, title: 'Api', status: 'in-progress', dependencies: ['1'], priority: 'high' },
        subtasks: [
          { id: 1, title: 'Routes', status: 'review', dependencies: [] },
          { id: 2, title: 'Tests', status: 'deferred', dependencies: [1, '1', '5.1'] },
        ],
      },
    ],
  },
  other: { tasks: [{ id: 1, title: 'Elsewhere', status: 'pending', dependencies: [] }] },
};

describe('OP-1: Task Master’s JSON', () => {
  test('has tags, subtasks with ids of their own, dependencies as numbers or text, and no details', async () => {
    const list = await read('tasks.json', { 'tasks.json': JSON.stringify(MASTER, null, 2) });
    expect(list.problems).toEqual([]);
    expect(list.tasks.map(({ id, status, dependsOn, parent }) => [id, status, dependsOn, parent])).toEqual([
      ['1', 'done', [], null],
      ['5', 'in_progress', ['1'], null],
      ['5.1', 'in_progress', [], '5'],
      ['5.2', 'deferred', ['5.1'], '5'],
    ]);
    expect(list.ignored.map(({ why }) => why)).toEqual([
      'the list "other" (1 tasks): read it with --tag other',
    ]);
    expect(JSON.stringify(list).length).toBeLessThan(10_000);
    const other = await read('tasks.json', { 'tasks.json': JSON.stringify(MASTER) }, 'other');
    expect(other.tasks.map(({ title }) => title)).toEqual(['Elsewhere']);
  });

  test('without a tag to choose, or with mistakes, says where', async () => {
    const { master, other } = MASTER;
    const tags = await read('t.json', { 't.json': JSON.stringify({ a: master, b: other }) });
    expect(tags.problems[0]?.message).toBe('this file has the lists a, b: choose one with --tag');
    const broken = await read('t.json', {
      't.json': '{\n  "tasks": [\n    {"id": 1 "title": "x"}\n  ]\n}\n',
    });
    expect(broken.problems[0]).toMatchObject({
      line: 3,
      column: 14,
      message: expect.stringContaining('comma'),
    });
    const status = await read('t.json', {
      't.json': '{"tasks": [\n {"id": 1, "title": "x", "status": "maybe"}]}',
    });
    expect(status.problems[0]).toMatchObject({ line: 2, message: expect.stringContaining('"maybe"') });
  });
});

const YAML = `tasks:
  - id: schema
    title: Write the schema
    files: [src/schema.ts]
    check: npm test
    model: haiku
    type: implementer
    budget: 0.50
    phase: build
  - id: reader
    title: Write the reader
    depends_on: [schema]
    parallel: true
    optional: true
    status: in_progress
    phase: use
    subtasks:
      - Parse lines
      - id: b
        title: Report
        after: '1'
`;

describe('OP-1: our own YAML', () => {
  test('has everything a task can say', async () => {
    const list = await read('t.yaml', { 't.yaml': YAML });
    expect(list.problems).toEqual([]);
    expect(list.tasks).toMatchObject([
      {
        ...{ id: 'schema', line: 2, status: 'open', files: ['src/schema.ts'], phase: 'build', barrier: 1 },
        settings: { check: 'npm test', model: 'haiku', type: 'implementer', budget: '0.5' },
      },
      {
        id: 'reader',
        dependsOn: ['schema'],
        parallel: true,
        optional: true,
        status: 'in_progress',
        barrier: 2,
      },
      { id: 'reader.1', title: 'Parse lines', parent: 'reader' },
      { id: 'reader.b', title: 'Report', dependsOn: ['reader.1'], parent: 'reader' },
    ]);
  });

  test.each([
    ['an unknown key', 'tasks:\n  - title: a\n    depnds_on: [b]\n', '3:16 the key "depnds_on" is not known'],
    ['no title', 'tasks:\n  - id: a\n', '2:5 the task a has no title'],
    ['an unknown id', 'tasks:\n  - id: a\n    title: a\n    depends_on:\n      - b\n', '5:9 a depends on b'],
    ['a path outside', 'tasks:\n  - title: a\n    files: [/etc/passwd]\n', '3:13 1 names /etc/passwd'],
    ['a bad status', 'tasks:\n  - title: a\n    status: maybe\n', '3:13 the status "maybe" of 1'],
    ['no list', 'jobs: 3\n', '1:1 no list "tasks"'],
    ['broken YAML', 'tasks:\n  - title: "a\n', '3:1 this is no valid YAML'],
  ])('%s is told with its place', async (_, text, expected) => {
    const { problems } = await read('t.yaml', { 't.yaml': text });
    expect(problems.map(({ line, column, message }) => `${line}:${column} ${message}`)[0]).toContain(
      expected,
    );
  });
});

describe('OP-1: a folder of Backlog.md', () => {
  const file = (id: string, status: string, more = ''): string =>
    `---\nid: ${id}\ntitle: 'Task ${id}: it'\nstatus: ${status}\n${more}---\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 works\n<!-- AC:END -->\n`;

  test('has a task for each file; criteria are none, and completed tasks are known', async () => {
    const list = await read('backlog', {
      'backlog/tasks/back-2 - Two.md': file(
        'BACK-2',
        'In Progress',
        'dependencies:\n  - back-10\n  - task-1\n',
      ),
      'backlog/tasks/back-10 - Ten.md': file('BACK-10', 'To Do', 'dependencies: [back-99]\n'),
      'backlog/tasks/back-10.1 - Part.md': file('BACK-10.1', 'Done', 'parent_task_id: BACK-10\n'),
      'backlog/tasks/readme.md': '# Tasks\n',
      'backlog/completed/back-1 - One.md': file('BACK-1', 'Done'),
    });
    expect(
      list.tasks.map(({ id, status, dependsOn, parent, title }) => [id, status, dependsOn, parent, title]),
    ).toEqual([
      ['BACK-2', 'in_progress', ['BACK-10'], null, 'Task BACK-2: it'],
      ['BACK-10', 'done', [], null, 'Task BACK-10: it'],
      ['BACK-10.1', 'done', [], 'BACK-10', 'Task BACK-10.1: it'],
    ]);
    expect(list.problems.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warning a file begins without id and status between --- lines and is no task',
      'warning BACK-10 depends on back-99, which is not in this folder: it is not waited for',
    ]);
  });

  test('takes a dependency of another prefix only where the prefix was changed: drafts have numbers of their own', async () => {
    const list = await read('backlog/drafts', {
      'backlog/drafts/draft-8 - Eight.md': file('DRAFT-8', 'Draft', 'dependencies: [task-8]\n'),
      'backlog/drafts/draft-6 - Six.md': file('DRAFT-6', 'Draft', 'dependencies: [draft-8, task-8]\n'),
    });
    const mixed = await read('tasks', {
      'tasks/api-1.md': file('API-1', 'To Do', 'dependencies: [web-2, task-2, old-3]\n'),
      'tasks/web-1.md': file('WEB-1', 'To Do', 'dependencies: [draft-3, task-4]\n'),
      'tasks/api-2.md': file('API-2', 'To Do'),
      'tasks/api-3.md': file('API-3', 'To Do'),
      'tasks/web-4.md': file('WEB-4', 'To Do'),
      'tasks/api-4.md': file('API-4', 'To Do'),
    });
    const waits = ({ tasks }: TaskList): string[] =>
      tasks.map(({ id, dependsOn }) => [id, ...dependsOn].join(' '));
    expect(waits(list)).toEqual(['DRAFT-6 DRAFT-8', 'DRAFT-8']);
    expect(waits(mixed).filter((line) => line.endsWith('-1') || line.includes(' '))).toEqual([
      'API-1 API-2 API-3',
      'WEB-1',
    ]);
    expect([list, mixed].map(({ problems }) => problems.map(({ message }) => message.slice(0, 30)))).toEqual([
      ['DRAFT-6 depends on task-8, whi', 'DRAFT-8 depends on task-8, whi'],
      ['API-1 depends on web-2, which ', 'WEB-1 depends on draft-3, whic', 'WEB-1 depends on task-4, which'],
    ]);
  });

  test('tells duplicates and parents in a circle with the file', async () => {
    const list = await read('tasks', {
      'tasks/a.md': file('A-1', 'To Do', 'parent_task_id: A-2\n'),
      'tasks/b.md': file('A-2', 'To Do', 'parent_task_id: A-1\n'),
      'tasks/c.md': file('A-2', 'Nope'),
    });
    expect(list.problems.map(({ file, message }) => `${file} ${message}`)).toEqual([
      expect.stringMatching(/^tasks\/(?:a|b|c)\.md /),
      expect.stringMatching(/^tasks\/(?:a|b|c)\.md /),
      expect.stringMatching(/^tasks\/(?:a|b|c)\.md /),
    ]);
  });

  test('ends for parents in a circle through an id that is used twice', async () => {
    const list = await read('tasks', {
      'tasks/a.md': file('A-1', 'To Do'),
      'tasks/b.md': file('A-2', 'To Do', 'parent_task_id: A-1\n'),
      'tasks/c.md': file('A-1', 'To Do', 'parent_task_id: A-2\n'),
    });
    expect(list.problems.map(({ message }) => message)).toContainEqual(expect.stringContaining('used twice'));
  });

  test('one of its files is a task by itself', async () => {
    expect((await read('a.md', { 'a.md': file('A-1', 'To Do') })).tasks).toMatchObject([
      { id: 'A-1', line: 2 },
    ]);
  });
});
