import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, test as plain } from 'vitest';
import { runHere } from '../../test/fixtures/command-here.ts';
import { RecordedSession } from '../../test/fixtures/recorded-session.ts';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { findPlace } from '../sdk/place.ts';
import { addExamples, EXAMPLES } from './help-examples.ts';
import { COMMAND_GROUPS } from './program.ts';

const HIDDEN = ['complete'];

/** Names that are ours and not in snake case. Contents of messages have names of others. */
function camelNames(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(camelNames);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    key === 'messages' ? [] : [...(/[a-z][A-Z]/.test(key) ? [key] : []), ...camelNames(part)],
  );
}

describe('UI-1: what views print', () => {
  test('JSON has one spelling in every view of a session', async ({ directory }) => {
    const env = { RAMET_HOME: join(directory, 'home'), HOME: directory, PATH: process.env.PATH };
    const session = await RecordedSession.open(findPlace({ cwd: directory, env }).project, directory);
    const main = session.agent(1);
    session.say(main, ['go']);
    session.exchange(main);
    session.fork(2, main, 'help');
    await session.journal.close();
    for (const args of [
      ['ps'],
      ['show'],
      ['cost'],
      ['sessions'],
      ['cache', 'explain'],
      ['trust', '--show'],
      ['agents'],
      ['gc', '--dry-run'],
      ['doctor'],
    ]) {
      const { stdout } = await runHere([...args, '--json'], { cwd: directory, env });
      expect({ args, names: camelNames(JSON.parse(stdout)) }).toEqual({ args, names: [] });
    }
    const { stdout } = await runHere(['ps', '--json'], { cwd: directory, env });
    expect(JSON.parse(stdout)[0]).toMatchObject({
      started_at: expect.any(Number),
      total_cost_usd: expect.anything(),
    });
  });

  test('diff without a name is about the latest session; second words are refused as ever', async ({
    directory,
  }) => {
    const env = { RAMET_HOME: join(directory, 'home'), HOME: directory, PATH: process.env.PATH };
    runSync('git', ['init', '-q'], { cwd: directory, env });
    const none = await runHere(['diff'], { cwd: directory, env });
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no session') });
    const session = await RecordedSession.open(findPlace({ cwd: directory, env }).project, directory);
    session.agent(1);
    await session.journal.close();
    const { stdout } = await runHere(['diff', '--json'], { cwd: directory, env });
    expect(JSON.parse(stdout)).toEqual({ target: session.journal.session, diff: '' });
  });

  plain('every command has an example in its help, which begins with that command', async () => {
    const program = new Command('ramet');
    const io = { env: {}, out: () => {} };
    // Only the grammar is read: nothing is carried out.
    for (const { add } of COMMAND_GROUPS)
      (await add())(program, io as unknown as Parameters<Awaited<ReturnType<typeof add>>>[1], () => {});
    addExamples(program);
    for (const command of program.commands) {
      if (HIDDEN.includes(command.name())) continue;
      expect(EXAMPLES[command.name()], command.name()).toBeDefined();
      for (const example of EXAMPLES[command.name()] ?? [])
        expect(example).toContain(`ramet ${command.name()}`);
    }
    for (const words of Object.keys(EXAMPLES)) {
      let at: Command | undefined = program;
      for (const word of words === '' ? [] : words.split(' '))
        at = at?.commands.find((one) => one.name() === word);
      expect(at, words).toBeDefined();
    }
  });

  plain('no example has the shell fill in a variable: what is written down is its name', () => {
    expect(
      Object.values(EXAMPLES)
        .flat()
        .filter((example) => /"[^"]*\$\{/.test(example)),
    ).toEqual([]);
  });

  test('help shows the examples', async ({ directory }) => {
    const { stdout, code } = await runHere(['ps', '--help'], { cwd: directory, env: {} });
    expect(code).toBe(0);
    expect(stdout).toContain('Examples:\n  ramet ps\n');
  });
});
