import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { listSessions } from '../../journal/session-list.ts';
import { callerOf } from '../calls/caller.ts';
import { findPlace } from '../place.ts';
import { type AgentOrder, ServedRuns } from './served-runs.ts';

const never = new AbortController().signal;

interface ServedPlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

function place(): ServedPlace {
  const home = temporaryDirectory();
  const { PATH } = process.env;
  return { cwd: temporaryRepository(), env: { PATH, HOME: home, RAMET_HOME: join(home, '.ramet') } };
}

function projectOf(here: ServedPlace): string {
  return findPlace(callerOf(here)).project;
}

/** The recipe model says what it was told once it has no more to do. */
const WRITE = '```write out.txt\nhello\n```';

describe('ECO-1: runs for other programs', () => {
  test('the beginning of an id is enough, also while it runs', async () => {
    const here = place();
    await using runs = new ServedRuns(callerOf(here), 'acceptEdits');
    const { session } = await runs.startAgent({ prompt: '```bash\nsleep 1\n```' });
    const short = session.slice(0, 5);
    expect(runs.view(short)).toMatchObject({ session, running: true });
    const ended = await runs.wait(short, 60, never);
    expect(ended).toMatchObject({ session, running: false });
    expect(() => runs.view('')).toThrow('there is no session');
  });

  test('a session that is continued does not have the status of the prompt before', async () => {
    const here = place();
    await using runs = new ServedRuns(callerOf(here), 'acceptEdits');
    const { session } = await runs.startAgent({ prompt: WRITE });
    expect(await runs.wait(session, 60, never)).toMatchObject({ running: false, status: 'done' });
    const again = await runs.startAgent({ prompt: WRITE.replace('out', 'more'), session });
    expect(again).toMatchObject({ running: true, status: expect.stringMatching(/^(?:starting|running)$/) });
    expect(await runs.wait(session, 60, never)).toMatchObject({ running: false, status: 'done' });
  });

  test('an order that cannot be carried out is refused, and leaves no session', async () => {
    const here = place();
    await using runs = new ServedRuns(callerOf(here), 'acceptEdits');
    const refused = (order: AgentOrder): Promise<string> =>
      runs.startAgent(order).then(
        () => 'it started',
        ({ message }) => message,
      );
    expect(await refused({ prompt: 'Look.', type: 'explor' })).toBe(
      'there is no agent type "explor": did you mean Explore?',
    );
    expect(await refused({ prompt: 'Look.', type: 'fork' })).toMatch(
      /^there is no agent type "fork": the types are /,
    );
    for (const prompt of [undefined, '', ' \n'])
      expect(await refused({ prompt })).toBe('give a prompt: what the agent is to do');
    expect(runs.list()).toEqual([]);
    const { session } = await runs.startAgent({ prompt: WRITE });
    await runs.wait(session, 60, never);
    expect(await refused({ session, type: 'Explore' })).toBe('give a prompt: what the agent is to do');
    expect(await refused({ session, prompt: ' ' })).toBe('it started');
    expect(await runs.wait(session, 60, never)).toMatchObject({ running: false, turns: 2 });
  });

  test('an order that its program takes back while it starts is not carried out', async () => {
    const here = place();
    await using runs = new ServedRuns(callerOf(here), 'acceptEdits');
    const abort = new AbortController();
    const starting = runs.startAgent({ prompt: WRITE }, abort.signal);
    abort.abort();
    await expect(starting).rejects.toThrow('interrupted');
    expect(existsSync(join(here.cwd, 'out.txt'))).toBe(false);
    expect(runs.list().filter(({ running }) => running)).toEqual([]);
  });

  test('a file is no directory to work in', async () => {
    const here = place();
    writeFileSync(join(here.cwd, 'notes.txt'), '');
    await using runs = new ServedRuns(callerOf(here), 'acceptEdits');
    for (const cwd of ['notes.txt', '~', '..'])
      await expect(runs.startAgent({ prompt: 'Look.', cwd })).rejects.toThrow(
        `${cwd} is not a directory inside of`,
      );
  });

  test('a run of an earlier process has its answer', async () => {
    const here = place();
    const text = await (async () => {
      await using runs = new ServedRuns(callerOf(here), 'acceptEdits');
      const { session } = await runs.startAgent({ prompt: WRITE });
      const typed = await runs.startAgent({ prompt: 'say what you see', type: 'Explore' });
      await runs.wait(typed.session, 60, never);
      return [await runs.wait(session, 60, never), runs.view(typed.session)];
    })();
    for (const { text: said } of text) expect(said).toMatch(/\S/);
    await using later = new ServedRuns(callerOf(here), undefined);
    for (const run of text)
      expect(later.view(run.session)).toMatchObject({ text: run.text, running: false, status: run.status });
  });

  test('a list reads each session once', async () => {
    const here = place();
    const notes: string[] = [];
    await using runs = new ServedRuns(
      callerOf({ ...here, note: (line) => void notes.push(line) }),
      'acceptEdits',
    );
    const sessions: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const { session } = await runs.startAgent({ prompt: WRITE });
      await runs.wait(session, 60, never);
      sessions.push(session);
    }
    const [damaged = ''] = sessions;
    writeFileSync(join(projectOf(here), `${damaged}.sqlite`), 'no database');
    expect(
      runs
        .list()
        .map(({ session }) => session)
        .toSorted(),
    ).toEqual(sessions.slice(1).toSorted());
    expect(notes).toHaveLength(1);
  });

  test('a program that goes away while a run starts leaves nothing that runs', async () => {
    const here = place();
    const runs = new ServedRuns(callerOf(here), 'acceptEdits');
    const starting = runs.startAgent({ prompt: WRITE });
    starting.catch(() => {});
    const tasks = join(here.cwd, 'tasks.md');
    writeFileSync(tasks, '- [ ] write out.txt\n');
    const operating = runs.startTasks({ file: 'tasks.md' });
    operating.catch(() => {});
    await runs[Symbol.asyncDispose]();
    await Promise.allSettled([starting, operating]);
    expect(listSessions(projectOf(here)).filter(({ live }) => live)).toEqual([]);
    expect(existsSync(join(here.cwd, 'out.txt'))).toBe(false);
  });

  test('a run of tasks that is over before it begins answers', async () => {
    const here = place();
    writeFileSync(join(here.cwd, 'tasks.md'), '- [x] all done\n');
    await using runs = new ServedRuns(callerOf(here), 'acceptEdits');
    const outcome = await Promise.race([
      runs.startTasks({ file: 'tasks.md' }).catch((error: Error) => error.message),
      new Promise((resolve) => setTimeout(resolve, 60_000, 'hangs')),
    ]);
    expect(outcome).not.toBe('hangs');
  }, 90_000);
});
