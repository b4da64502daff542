/** Work ahead of the user on a scripted model, in real repositories and worktrees. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  call,
  eventsOf,
  type FamilyOptions,
  type FamilySession,
  lastTexts,
  promptBytes,
  startFamily,
} from '../../../test/fixtures/family.ts';
import type { Answer } from '../../emulator/answer.ts';
import { ledgerText } from '../../views/ledger/cost-table.ts';
import { ledgerOf } from '../../views/ledger/ledger.ts';
import { fileChanges } from '../../views/provenance/file-changes.ts';
import { findPlace } from '../place.ts';
import { guessIn, isSame, WORK_AHEAD } from './speculation.ts';
import { SUGGEST } from './suggest-prompts.ts';

const LONG = 'A line that every session of this project begins with, so that its prefix is long.\n'.repeat(
  700,
);
const FILES = { 'AGENTS.md': LONG, 'a.ts': 'one\n', 'b.ts': 'two\n' };
const NEXT = 'Add a test for the parser';

/** Reads a file with uncommitted work, changes it, makes another one. */
const AHEAD: readonly Answer[] = [
  call('Read', { file_path: 'a.ts' }),
  call('Edit', { file_path: 'a.ts', old_string: 'mine', new_string: 'theirs' }),
  call('Write', { file_path: 'test/new.test.ts', content: 'test\n' }),
  { text: `Scope: ahead\nNEXT: ${NEXT}.\nThe test is in test/new.test.ts. I have not run it.` },
];

interface World extends FamilySession {
  text(file: string): string | null;
  turn(prompt: string): Promise<void>;
  /** Closes the session first. */
  warnings(): Promise<string[]>;
  worktrees(): string[];
}

async function newWorld({ cast, settings, ...options }: Partial<FamilyOptions> = {}): Promise<World> {
  const family = await startFamily({
    attended: true,
    settings: settings ?? { background: { speculation: { enabled: true } }, memory: { enabled: false } },
    files: FILES,
    ...options,
    cast: { Work: [{ text: 'Done.' }], [NEXT]: [{ text: 'Asked the model.' }], [WORK_AHEAD]: AHEAD, ...cast },
  });
  writeFileSync(join(family.cwd, 'a.ts'), 'mine\n');
  return worldOf(family);
}

function worldOf(family: FamilySession): World {
  const { cwd, home } = family;
  return Object.assign(family, {
    text: (file: string) => (existsSync(join(cwd, file)) ? readFileSync(join(cwd, file), 'utf8') : null),
    async turn(prompt: string) {
      expect((await family.run(prompt)).result.status).toBe('done');
      await family.session.background?.idle();
    },
    async warnings() {
      await family.session[Symbol.asyncDispose]();
      const events = family.recorded().map(({ event }) => event);
      return eventsOf(events, 'warning.raised').map(({ message }) => message);
    },
    worktrees: () =>
      execFileSync('git', ['worktree', 'list', '--porcelain'], { cwd, encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.startsWith('worktree ') && !line.includes('.pool') && line.includes(home)),
  });
}

describe('BG-2: what was done in advance', () => {
  test('is the answer when the user asks for it: files move in, nothing is asked again, and undo takes it back', async () => {
    const world = await newWorld();
    await world.turn('Work.');
    expect(world.text('a.ts')).toBe('mine\n');
    expect(world.text('test/new.test.ts')).toBeNull();
    const before = world.emulator.requests.length;
    const { result, events } = await world.run(` ${NEXT} `);
    expect(result).toMatchObject({ status: 'done', turns: 0, costUsd: 0 });
    const agent = `${world.session.id}.2`;
    expect(result.text).toBe(
      `The test is in test/new.test.ts. I have not run it.\n\n(Prepared in advance by ${agent}. Changed: a.ts, test/new.test.ts.)`,
    );
    expect(events.filter(({ type }) => type === 'assistant')).toHaveLength(1);
    expect(world.text('a.ts')).toBe('theirs\n');
    expect(world.text('test/new.test.ts')).toBe('test\n');
    expect(world.requestsOf(NEXT)).toEqual([]);
    // Only the next try has asked anything.
    await world.session.background?.idle();
    expect(world.emulator.requests.slice(before).every(({ body }) => body.includes(WORK_AHEAD))).toBe(true);

    const changes = fileChanges(findPlace({ cwd: world.cwd, env: { RAMET_HOME: world.home } }).project, {});
    expect(changes).toMatchObject(
      ['a.ts', 'test/new.test.ts'].map((name) => ({
        ...{ path: join(world.cwd, name), agent, purpose: 'speculation: work ahead' },
      })),
    );

    const undone = await world.session.undo();
    expect(undone).toMatchObject({ refused: null, failed: [] });
    expect([world.text('a.ts'), world.text('test/new.test.ts')]).toEqual(['mine\n', null]);
    await world.session.undo({ redo: true });
    expect([world.text('a.ts'), world.text('test/new.test.ts')]).toEqual(['theirs\n', 'test\n']);
  });

  test('inherits the prefix byte for byte, reads it from the cache, and the conversation continues after it', async () => {
    const world = await newWorld({ cast: { Look: [{ text: 'Seen.' }] } });
    await world.turn('Work.');
    await world.turn(NEXT);
    await world.turn('Look.');
    const [fork] = world.requestsOf(WORK_AHEAD);
    const [next] = world.requestsOf('Look');
    const [ahead = '', after = ''] = [fork, next].map((one) => one && promptBytes(one));
    // What comes before the fork's own part is what the main agent sends, before and after.
    const shared = ahead.slice(0, ahead.indexOf('{"type":"text","text":"You are now a fork'));
    expect(shared.length).toBeGreaterThan(LONG.length);
    expect(after.startsWith(shared)).toBe(true);
    const { cache_read_input_tokens: read = 0, input_tokens: input = 0 } = fork?.usage ?? {};
    expect(read / (read + input)).toBeGreaterThan(0.9);
    const said = JSON.stringify(next?.request?.messages);
    expect(said).toContain(`"text":"${NEXT}"`);
    expect(said).toContain('Prepared in advance by');
    expect(said).not.toContain('You are now a fork');
  });

  test('is thrown away when another prompt comes, and its worktree with it; the bill keeps it', async () => {
    const world = await newWorld({ cast: { Other: [{ text: 'Other.' }] } });
    await world.turn('Work.');
    expect((await world.run('Other thing.')).result.text).toBe('Other.');
    expect((await world.run(NEXT)).result.text).toBe('Asked the model.');
    expect(world.text('a.ts')).toBe('mine\n');
    await world.session[Symbol.asyncDispose]();
    expect(world.worktrees()).toEqual([]);
    const ledger = ledgerOf(world.recorded());
    expect(ledger.speculation.hits).toBe(0);
    expect(ledger.sources.get('speculation')?.costUsd).toBeGreaterThan(0);
    expect(ledgerText(ledger)).toMatch(/worked ahead of you .*: 0 used, \$/);
  });

  test.each<[string, (cwd: string) => void, RegExp]>([
    ['that it changes', (cwd) => writeFileSync(join(cwd, 'a.ts'), 'by hand\n'), /a\.ts has changed since/],
    [
      'in the place of one that it makes',
      (cwd) => {
        mkdirSync(join(cwd, 'test'));
        writeFileSync(join(cwd, 'test/new.test.ts'), 'mine too\n');
      },
      /new\.test\.ts exists already/,
    ],
  ])(
    'is not used after a person wrote a file %s: one line says so, and the prompt runs',
    async (_, change, why) => {
      const world = await newWorld();
      await world.turn('Work.');
      change(world.cwd);
      const [a, made] = [world.text('a.ts'), world.text('test/new.test.ts')];
      expect((await world.run(NEXT)).result.text).toBe('Asked the model.');
      expect(await world.warnings()).toEqual([expect.stringMatching(why)]);
      expect([world.text('a.ts'), world.text('test/new.test.ts')]).toEqual([a, made]);
      expect(readdirSync(world.cwd).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    },
  );

  test.each<[string, Answer]>([
    ['a command', call('Bash', { command: 'cat b.ts', description: 'look' })],
    ['a search', call('Grep', { pattern: 'two', output_mode: 'content' })],
    ['a look at what is not there', call('Read', { file_path: 'c.ts' })],
  ])(
    'that has seen more than single files, by %s, is used only while the whole checkout is as it was',
    async (_, look) => {
      const cast = {
        [WORK_AHEAD]: [
          look,
          call('Write', { file_path: 'out.txt', content: 'two\n' }),
          { text: `NEXT: ${NEXT}\nIt says two.` },
        ],
      };
      const world = await newWorld({ cast });
      await world.turn('Work.');
      writeFileSync(join(world.cwd, 'b.ts'), 'three\n');
      expect((await world.run(NEXT)).result.text).toBe('Asked the model.');
      expect(world.text('out.txt')).toBeNull();
      await world.turn('Work.');
      expect((await world.run(NEXT)).result.text).toContain('It says two.');
      expect(await world.warnings()).toEqual([expect.stringMatching(/the checkout has changed since/)]);
    },
  );

  test('that has seen single files only is used beside changes of others, not after one of these changed', async () => {
    const reads = [call('Read', { file_path: 'a.ts' }), call('Read', { file_path: 'a.ts', offset: 1 })];
    const cast = {
      // The fork knows a.ts from its parent, so it reads nothing new.
      Work: [call('Read', { file_path: 'a.ts' }), { text: 'Done.' }],
      [WORK_AHEAD]: [...reads, { text: `NEXT: ${NEXT}\nIt says mine.` }],
    };
    const world = await newWorld({ cast });
    await world.turn('Work.');
    writeFileSync(join(world.cwd, 'b.ts'), 'three\n');
    expect((await world.run(NEXT)).result.text).toContain('Prepared in advance');
    await world.turn('Work.');
    writeFileSync(join(world.cwd, 'a.ts'), 'by hand\n');
    expect((await world.run(NEXT)).result.text).toBe('Asked the model.');
    expect(await world.warnings()).toEqual([expect.stringMatching(/a\.ts has changed since/)]);
  });

  test('is used once where two sessions have prepared the same: the second asks the model', async () => {
    const one = await newWorld();
    const other = await newWorld({ cwd: one.cwd });
    await one.turn('Work.');
    await other.turn('Work.');
    const texts = [(await one.run(NEXT)).result.text, (await other.run(NEXT)).result.text];
    expect(texts).toEqual([expect.stringContaining('Prepared in advance'), 'Asked the model.']);
    expect(await other.warnings()).toEqual([expect.stringMatching(/a\.ts has changed since/)]);
    expect(one.text('a.ts')).toBe('theirs\n');
  });

  test('has no effect outside of its worktree, whatever it calls', async () => {
    let asked = 0;
    const tries = (cwd: string, home: string): Answer => ({
      tool_use: [
        { name: 'Bash', input: { command: 'echo x > stolen', description: 'x' } },
        { name: 'Bash', input: { command: `touch ${cwd}/stolen`, description: 'x' } },
        { name: 'Bash', input: { command: 'git commit -qam x', description: 'x' } },
        { name: 'Bash', input: { command: 'curl -s http://127.0.0.1:9/', description: 'x' } },
        { name: 'Agent', input: { prompt: 'Do it.', description: 'x' } },
        { name: 'SendMessage', input: { to: 'main', message: 'x' } },
        { name: 'Bash', input: { command: 'cat b.ts', description: 'x' } },
        { name: 'Read', input: { file_path: join(home, 'none') } },
      ],
    });
    const world: World = await newWorld({
      cast: {
        [WORK_AHEAD]: () => {
          asked += 1;
          return asked === 1 ? tries(world.cwd, world.home) : { text: `NEXT: ${NEXT}\nSeen.` };
        },
      },
    });
    await world.turn('Work.');
    const results = lastTexts(world.requestsOf(WORK_AHEAD)[1]);
    for (const result of results.slice(0, 6)) expect(result).toMatch(/is not permitted|refused/);
    expect(results[6]).toContain('two');
    expect(existsSync(join(world.cwd, 'stolen'))).toBe(false);
    expect(
      eventsOf(
        world.recorded().map(({ event }) => event),
        'agent.started',
      ),
    ).toHaveLength(2);
    expect(
      execFileSync('git', ['log', '--all', '--oneline'], { cwd: world.cwd, encoding: 'utf8' })
        .trim()
        .split('\n'),
    ).toHaveLength(1);
  });

  test('ends at an edit that the user would be asked about', async () => {
    const world = await newWorld({ permissionMode: 'default' });
    await world.turn('Work.');
    expect(world.requestsOf(WORK_AHEAD)).toHaveLength(2);
    expect((await world.run(NEXT)).result.text).toBe('Asked the model.');
    expect(eventsOf(world.recordedOf(2), 'agent.ended')).toMatchObject([{ status: 'cancelled' }]);
    expect(await world.warnings()).toEqual([]);
  });
});

describe('BG-2: when it works ahead', () => {
  test.each<[string, Partial<FamilyOptions>]>([
    ['settings do not ask for it', { settings: {} }],
    ['no person is there', { attended: false }],
  ])('never where %s', async (_, options) => {
    const world = await newWorld(options);
    await world.turn('Work.');
    expect(world.requestsOf(WORK_AHEAD)).toEqual([]);
  });

  test('not with more uncommitted work than can be carried, nor with submodules: said once', async () => {
    const world = await newWorld();
    mkdirSync(join(world.cwd, 'many'));
    for (let n = 0; n < 501; n += 1) writeFileSync(join(world.cwd, 'many', `${n}`), '');
    await world.turn('Work.');
    await world.turn('Work.');
    expect(world.requestsOf(WORK_AHEAD)).toEqual([]);
    expect(await world.warnings()).toEqual([expect.stringMatching(/more than 500 files are uncommitted/)]);

    const modules = await newWorld({ files: { ...FILES, '.gitmodules': '' } });
    await modules.turn('Work.');
    expect(modules.requestsOf(WORK_AHEAD)).toEqual([]);
    expect(await modules.warnings()).toEqual([expect.stringMatching(/has submodules/)]);
  });

  test('ends for the session when too few tries were of use, and says so once, also after a restart', async () => {
    const settings = {
      background: { speculation: { enabled: true, tries: 2, leastHits: 0.6 } },
      memory: { enabled: false },
    };
    const world = await newWorld({
      settings,
      cast: { [WORK_AHEAD]: () => ({ text: 'NEXT: Nothing like it' }) },
    });
    await world.turn('Work.');
    const again = worldOf(await world.reopen());
    await again.turn('Work.');
    await again.turn('Work.');
    await again.turn('Work.');
    expect(again.requestsOf(WORK_AHEAD)).toHaveLength(2);
    expect(await again.warnings()).toEqual([
      'working ahead has ended for this session: only 0 of 2 tries were of use',
    ]);
  });

  test('never gives a try more than is left of the budget of the session', async () => {
    const read = call('Read', { file_path: 'b.ts' });
    const settings = {
      background: { speculation: { enabled: true, tryUsd: 10, sessionUsd: 0.02 } },
      memory: { enabled: false },
    };
    const world = await newWorld({
      settings,
      // Each answer costs a third of it.
      cast: { [WORK_AHEAD]: () => ({ ...read, usage: { output_tokens: 500 } }) },
    });
    await world.turn('Work.');
    const { costUsd } = ledgerOf(world.recorded()).sources.get('speculation') ?? { costUsd: 0 };
    expect(costUsd).toBeGreaterThan(0.01);
    expect(costUsd).toBeLessThan(0.04);
  });

  test('ends for the session when its budget is spent', async () => {
    const settings = {
      background: { speculation: { enabled: true, sessionUsd: 0.000_001 } },
      memory: { enabled: false },
    };
    const world = await newWorld({ settings });
    await world.turn('Work.');
    await world.turn('Work.');
    expect(await world.warnings()).toEqual(['working ahead has ended for this session: its budget is spent']);
  });

  test('with suggestions the first of them is carried out, once they are there', async () => {
    const world = await newWorld({
      onSuggestions: () => {},
      settings: {
        background: { costShare: 1, speculation: { enabled: true } },
        memory: { enabled: false },
      },
      cast: {
        [SUGGEST]: () => ({ text: `NEXT: ${NEXT}\nNEXT: Stop here` }),
        [WORK_AHEAD]: () => ({ text: 'Scope: ahead\nIt is there.' }),
      },
    });
    await world.turn('Work.');
    expect(lastTexts(world.requestsOf(WORK_AHEAD)[0]).join()).toContain(`most likely this:\n${NEXT}\n`);
    expect((await world.run(NEXT)).result.text).toMatch(
      /^It is there\.\n\n\(Prepared in advance by .*No file was changed/,
    );
    expect(world.session.background?.speculation).toMatchObject({ tries: 1, hits: 1 });
    await world.session.background?.idle();

    const none = await newWorld({
      onSuggestions: () => {},
      settings: { background: { costShare: 1, speculation: { enabled: true } }, memory: { enabled: false } },
      cast: { [SUGGEST]: () => ({ text: 'NOTHING' }) },
    });
    await none.turn('Work.');
    expect(none.requestsOf(WORK_AHEAD)).toEqual([]);
  });

  test('a prompt ends it at once, and does not wait for it', async () => {
    const asked = Promise.withResolvers<void>();
    const hang = (): Promise<Answer> => {
      asked.resolve();
      return new Promise(() => {});
    };
    const world = await newWorld({ cast: { [WORK_AHEAD]: hang } });
    await world.run('Work.');
    await asked.promise;
    expect((await world.run(NEXT)).result.text).toBe('Asked the model.');
    await world.session[Symbol.asyncDispose]();
    expect(world.worktrees()).toEqual([]);
  });
});

describe('BG-2: which prompt it is', () => {
  test.each([
    ['Add a test', ' Add  a\ntest. ', true],
    ['Add a test', 'add a test', false],
    ['Add a test', 'Add a test for x', false],
    ['?', '...', false],
  ])('%j and %j: %j', (one, other, same) => expect(isSame(one, other)).toBe(same));

  test.each([
    ['NEXT: Add a test\nDone.', { prompt: 'Add a test', rest: 'Done.' }],
    ['Scope: x\nNEXT: Fix it', { prompt: 'Fix it', rest: 'Scope: x' }],
    ['NEXT: NOTHING', null],
    ['NEXT: /clear', null],
    ['NEXT: !rm -rf .', null],
    [`NEXT: ${'x'.repeat(501)}`, null],
    ['Done.', null],
  ])('the guess in %j', (answer, guess) => expect(guessIn(answer)).toEqual(guess));
});
