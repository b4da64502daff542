import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { seededRandom } from '../../../test/fixtures/seeded-random.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { INDEX_BYTES, INDEX_LINES, NOTES_HEADING } from '../files/memory-index.ts';
import { MemoryStore } from '../files/memory-store.ts';
import { DEFAULT_DREAM_TERMS, DreamRecord } from './dream-record.ts';
import type { DreamRepository } from './judge-drops.ts';
import { DREAM, type Dreamt, runDream } from './run-dream.ts';

const EXTRACTION = { kind: 'extraction', session: null, agent: null, turn: null } as const;
const PERSON = { session: null, agent: null, turn: null };
const DAY = 86_400_000;
const NOTHING: DreamRepository = { has: () => true, contains: () => false };

function openStore(now = { at: Date.UTC(2026, 0, 1) }): MemoryStore {
  const store = new MemoryStore(join(temporaryDirectory(), 'memory'), () => now.at);
  onTestFinished(() => store[Symbol.dispose]());
  return store;
}

const put = (store: MemoryStore, files: Record<string, string>) =>
  store.change(EXTRACTION, () => new Map(Object.entries(files)), { words: (path) => files[path] ?? null });

const dream = (
  store: MemoryStore,
  answer: (task: string) => string | null,
  repository = NOTHING,
): Promise<Dreamt> => runDream({ store, repository, source: PERSON }, async (task) => answer(task));

/** The id of the line that has a text, as a task shows it. */
const idOf = (task: string, text: string): string =>
  /^(L\d+)/.exec(task.split('\n').find((line) => line.endsWith(`] ${text}`)) ?? '')?.[1] ?? 'L0';

const onDisk = (store: MemoryStore, file = 'MEMORY.md'): string =>
  readFileSync(join(store.root, file), 'utf8');

describe('BG-7: a dream', () => {
  test('removes equal lines by itself, dates what wins over an older line, and is undone to the byte', async () => {
    const now = { at: Date.UTC(2026, 0, 1) };
    const store = openStore(now);
    const first =
      '## build\n- Tests run with npm test.\n- The dev server listens on port 3000.\n- tests run with NPM test\n';
    await put(store, { 'MEMORY.md': first, 'agents/scribe/MEMORY.md': '- Tests run with npm test.\n' });
    now.at += 30 * DAY;
    const before = `${first}- The dev server listens on port 4000.\n`;
    await put(store, { 'MEMORY.md': before });
    const done = await dream(store, (task) => {
      const [old, newer] = ['The dev server listens on port 3000.', 'The dev server listens on port 4000.'];
      return `DROP ${idOf(task, old)} contradicted by ${idOf(task, newer)}`;
    });
    expect(done.refused).toEqual([]);
    expect(onDisk(store)).toBe(
      '## build\n- Tests run with npm test.\n- The dev server listens on port 4000. (2026-01-31)\n',
    );
    // Its readers do not see the other file.
    expect(onDisk(store, 'agents/scribe/MEMORY.md')).toBe('- Tests run with npm test.\n');
    await store.undo(PERSON, done.change?.id ?? null);
    expect(onDisk(store)).toBe(before);
  });

  test('keeps lines that differ by a sign only, also if the model calls them duplicates', async () => {
    const store = openStore();
    const text =
      '## a\n- The core is written in C.\n- The core is written in C++.\n- Uploads are < 5 MB.\n- Uploads are > 5 MB.\n';
    await put(store, { 'MEMORY.md': text });
    const [c, plus] = ['The core is written in C.', 'The core is written in C++.'];
    const done = await dream(store, (task) => `DROP ${idOf(task, plus)} duplicate of ${idOf(task, c)}`);
    expect(done.refused).toEqual([
      { asked: expect.stringContaining('DROP L'), why: 'L1 does not mention ++' },
    ]);
    expect(onDisk(store)).toBe(text);
  });

  test('refuses each removal whose reason does not hold, and says why', async () => {
    const now = { at: Date.UTC(2026, 0, 1) };
    const store = openStore(now);
    const text = `${NOTES_HEADING}\n- Never push to the main branch.\n\n## a\n- Push to the main branch is allowed.\n- The cache of builds is in the folder out/cache of the root.\n- The cache of builds is in the folder tmp/cache of the root.\n- The parser is in src/parser.ts for now.\n`;
    await put(store, { 'MEMORY.md': text });
    const repository: DreamRepository = {
      has: (path) => path === 'src/parser.ts',
      contains: (path, quote) => path === 'package.json' && quote === '"type": "module"',
    };
    const tasks: string[] = [];
    const done = await dream(
      store,
      (task) => {
        tasks.push(task);
        const out = idOf(task, 'The cache of builds is in the folder out/cache of the root.');
        const tmp = idOf(task, 'The cache of builds is in the folder tmp/cache of the root.');
        const [user, agent] = [
          idOf(task, 'Never push to the main branch.'),
          idOf(task, 'Push to the main branch is allowed.'),
        ];
        return [
          `DROP ${out}`,
          `DROP ${out} because I say so`,
          `DROP ${out} duplicate of ${tmp}`,
          `DROP ${out} contradicted by ${tmp}`,
          `DROP ${out} duplicate of ${out}`,
          `DROP ${out} disproved by package.json: "not in it at all"`,
          `DROP ${out} missing src/other.ts`,
          `DROP ${user} contradicted by ${agent}`,
          `DROP L999 duplicate of ${out}`,
          'Everything else may go too.',
        ].join('\n');
      },
      repository,
    );
    expect(tasks[0]?.startsWith(DREAM)).toBe(true);
    expect(done.drops).toEqual([]);
    expect(done.change).toBeNull();
    expect(onDisk(store)).toBe(text);
    expect(done.refused.map(({ why }) => why)).toEqual([
      'it names no line, or gives no reason in one of the known forms',
      'it names no line, or gives no reason in one of the known forms',
      expect.stringMatching(/^L\d+ does not mention out\/cache$/),
      expect.stringMatching(/^L\d+ is not newer$/),
      expect.stringMatching(/^there is no other line L\d+$/),
      'package.json does not contain those words',
      'the line does not name src/other.ts',
      'a person wrote it',
      'it names no line, or gives no reason in one of the known forms',
    ]);
  });

  test('moves no line to where it may pass for a note of the user, and says what it left', async () => {
    const store = openStore();
    const facts = Array.from({ length: 200 }, (_, n) => `- Part ${n} of the format has ${n * 7} fields.`);
    // The code does not end, so no heading below it counts.
    const text = `${NOTES_HEADING}\n- Ask first.\n\n## format\n${facts.join('\n')}\n`;
    await put(store, {
      'MEMORY.md': text,
      'format.md': '## Notes of the user\n- Mine.\n\n```\nOpen.\n',
    });
    const before = [onDisk(store), onDisk(store, 'format.md')];
    await dream(store, () => 'NOTHING');
    expect([onDisk(store), onDisk(store, 'format.md')]).toEqual(before);

    const other = openStore();
    const twice = `${NOTES_HEADING}\n- Mine.\n\n> ## Facts\n\n- The port is 80.\n- The port is 80.\n`;
    await put(other, { 'MEMORY.md': twice });
    const done = await dream(other, () => 'NOTHING');
    expect(onDisk(other)).toBe(twice);
    expect(done).toMatchObject({
      drops: [],
      refused: [{ why: 'it is not clear in MEMORY.md where "Notes of the user" ends' }],
    });
  });

  test('drops what the repository disproves, leaves what a person changes meanwhile, and what nobody answered', async () => {
    const store = openStore();
    await put(store, {
      'MEMORY.md':
        '- Dates are parsed in lib/dates.ts by hand.\n- Modules are CommonJS files here.\n- Modules are CommonJS files here too, says lib/x.ts.\n',
    });
    const repository: DreamRepository = {
      has: () => false,
      contains: (_, quote) => quote === '"type": "module"',
    };
    const answers = (task: string): string => {
      const file = join(store.root, 'MEMORY.md');
      const changed = readFileSync(file, 'utf8').replace(
        'CommonJS files here.',
        'CommonJS files here, mostly.',
      );
      if (task.includes('by hand')) writeFileSync(file, changed);
      return [
        `DROP ${idOf(task, 'Dates are parsed in lib/dates.ts by hand.')} missing lib/dates.ts`,
        `DROP ${idOf(task, 'Modules are CommonJS files here.')} disproved by package.json: ""type": "module""`,
        `DROP ${idOf(task, 'Modules are CommonJS files here too, says lib/x.ts.')} missing lib/x.ts`,
      ].join('\n');
    };
    const done = await dream(store, answers, repository);
    expect(onDisk(store)).toBe('- Modules are CommonJS files here, mostly.\n');
    expect(done.unanswered).toBe(0);
    expect((await dream(store, () => null, repository)).change).toBeNull();
  });

  test('leaves files that are read-only, binary, too long or in conflict, names them, and tidies up the rest', async () => {
    const store = openStore();
    await put(store, {
      'MEMORY.md': '- one fact\n- One fact.\n',
      'a.md': '- x y\n- x y\n',
      'b.md': '- x\n',
      'c.md': '- x\n',
      'd.md': '- x\n',
    });
    chmodSync(join(store.root, 'a.md'), 0o444);
    writeFileSync(join(store.root, 'b.md'), '<<<<<<< mine\n- a\n=======\n- a\n>>>>>>> theirs\n');
    writeFileSync(join(store.root, 'c.md'), '- a\0b\n');
    writeFileSync(join(store.root, 'd.md'), '- a line\n'.repeat(200_000));
    const done = await dream(store, () => 'NOTHING');
    expect(onDisk(store)).toBe('- one fact\n');
    expect(done.unusable).toEqual(['a.md', 'b.md', 'c.md', 'd.md']);
    expect(onDisk(store, 'a.md')).toBe('- x y\n- x y\n');
  });

  test('EXEC-4: over 5,000 lines with duplicates and contradictions loses no unique fact, keeps its limits and is undone to the byte', async () => {
    const now = { at: Date.UTC(2026, 0, 1) };
    const store = openStore(now);
    const world = plantedMemory(3_300, 1_500, 100);
    await put(store, world.older);
    now.at += 60 * DAY;
    await put(store, { ...world.older, ...world.newer });
    const before = new Map(store.files().map((file) => [file, onDisk(store, file)]));
    let asked = 0;
    const done = await dream(store, (task) => {
      asked += 1;
      return world.answer(task);
    });
    const after = store
      .files()
      .map((file) => onDisk(store, file))
      .join('\n');
    const words = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, ' ');
    const left = words(after);
    expect(world.facts.filter((fact) => !left.includes(words(fact).trim()))).toEqual([]);
    expect(world.outdated.filter((fact) => left.includes(words(fact).trim()))).toEqual([]);
    expect(done.drops.length).toBeGreaterThanOrEqual(1_500);
    expect(done.refused.length).toBeGreaterThanOrEqual(asked);
    expect(done.lines).toBeGreaterThanOrEqual(4_900);
    const index = onDisk(store);
    expect(index.split('\n').length).toBeLessThanOrEqual(INDEX_LINES);
    expect(Buffer.byteLength(index)).toBeLessThanOrEqual(INDEX_BYTES);
    expect(store.origins('topic-3.md')[2]?.change?.kind).toBe('extraction');
    await store.undo(PERSON, done.change?.id ?? null);
    expect(new Map(store.files().map((file) => [file, onDisk(store, file)]))).toEqual(before);
  });
});

/** Facts in topic files, some said twice in other words, some overtaken; and a model that also tries what it must not. */
function plantedMemory(unique: number, duplicates: number, contradictions: number) {
  const random = seededRandom(11);
  const word = (): string => random.text('abcdefghijklmnopqrstuvwxyz', 7);
  const facts = Array.from(
    { length: unique },
    (_, n) => `The module ${word()} reads ${word()} from ${word()} in step ${n}.`,
  );
  const outdated: string[] = [];
  const current: string[] = [];
  for (let n = 0; n < contradictions; n++) {
    const name = `${word()} ${word()}`;
    outdated.push(`The limit of ${name} in the configuration is ${100 + n} requests.`);
    current.push(`The limit of ${name} in the configuration is ${900 + n} requests.`);
  }
  const twice = Array.from({ length: duplicates }, (_, n) => {
    const fact = facts[n] ?? '';
    return n % 2 === 0
      ? fact.toUpperCase()
      : fact.replace(
          /^The module (\w+) reads (\w+) from (\w+) in (step \d+)\.$/,
          'In $4 the module $1 reads from $3: $2.',
        );
  });
  const files = (lines: readonly string[], name: string): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: 10 }, (_, file) => {
        const own = lines.filter((_, n) => n % 10 === file);
        return [`${name}-${file}.md`, `## ${name}-${file}\n${own.map((line) => `- ${line}\n`).join('')}`];
      }),
    );
  const index = `## general\n${facts
    .slice(0, 220)
    .map((fact) => `- ${fact}\n`)
    .join('')}`;
  const answer = (task: string): string => {
    const lines = Array.from(task.matchAll(/^(L\d+) \[[^\]]*\] (.*)$/gm), ([, id = '', text = '']) => ({
      id,
      text,
    }));
    const wanted = lines.flatMap(({ id, text }) => {
      const step = /step (\d+)/i.exec(text)?.[1];
      const limit = /limit of (\w+ \w+) /.exec(text)?.[1];
      if (text.startsWith('In step')) {
        const other = lines.find(
          (one) => one.id !== id && new RegExp(`in step ${step}\\.$`, 'i').test(one.text),
        );
        return other === undefined ? [] : [`DROP ${id} duplicate of ${other.id}`];
      }
      const newer = lines.find(
        (one) => one.id !== id && limit !== undefined && one.text.includes(`${limit} `),
      );
      return newer !== undefined && outdated.includes(text) ? [`DROP ${id} contradicted by ${newer.id}`] : [];
    });
    const [one, two] = [lines[0], lines.at(-1)];
    return [...wanted, `DROP ${one?.id} duplicate of ${two?.id}`, `DROP ${two?.id} it is old`].join('\n');
  };
  return {
    ...{ facts: [...facts, ...current], outdated, answer },
    older: { 'MEMORY.md': index, ...files([...facts.slice(220), ...outdated], 'topic') },
    newer: files([...twice, ...current], 'later'),
  };
}

describe('BG-7: the record of dreams', () => {
  test('has one due 24 hours and five sessions after the last, whatever the clock does', () => {
    using record = new DreamRecord(join(temporaryDirectory(), 'memory'));
    const look = (now: number, session: string | null = null) =>
      record.look(now, DEFAULT_DREAM_TERMS, session);
    for (const session of ['a', 'b', 'c', 'd', 'a', 'd']) expect(look(10 * DAY, session).isDue).toBe(false);
    expect(look(12 * DAY)).toMatchObject({ sessions: 4, isDue: false });
    expect(look(12 * DAY, 'e')).toMatchObject({ sessions: 5, isDue: true, last: null });
    record.done(12 * DAY);
    for (const session of ['f', 'g', 'h', 'i', 'j']) look(12 * DAY, session);
    expect(look(12.9 * DAY).isDue).toBe(false);
    // The clock was wrong, and is set right: it is not waited for the wrong time.
    expect(look(2 * DAY).isDue).toBe(false);
    expect(look(3.1 * DAY)).toMatchObject({ sessions: 5, isDue: true });
  });

  test('has a lock for one dream at a time, which ends with its holder', () => {
    using record = new DreamRecord(join(temporaryDirectory(), 'memory'));
    using other = new DreamRecord(join(record.store));
    const lock = record.lock();
    expect(lock).not.toBeNull();
    expect(other.lock()).toBeNull();
    lock?.[Symbol.dispose]();
    other.lock()?.[Symbol.dispose]();
    expect(record.lock()).not.toBeNull();
  });
});

test('BG-7: the lock of a process that was killed is free', async () => {
  using record = new DreamRecord(join(temporaryDirectory(), 'memory'));
  const program = `
    import { DreamRecord } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'dream-record.ts')).href)};
    globalThis.held = new DreamRecord(process.argv[1]).lock();
    console.log('held');
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, record.store], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  expect(record.lock()).toBeNull();
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(record.lock()).not.toBeNull();
});
