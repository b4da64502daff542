import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BASE62, seededRandom } from '../../../test/fixtures/seeded-random.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { storeOf } from '../files/memory-places.ts';
import { MemoryStore } from '../files/memory-store.ts';
import { keepLines } from './keep-lines.ts';

test('BG-5: notes of the last 50 sessions are kept, and older ones only if a person has changed them', async () => {
  const home = temporaryDirectory();
  const place = { home, project: join(home, 'project'), root: home };
  using store = new MemoryStore(storeOf(place, 'project'));
  const names = Array.from({ length: 54 }, (_, index) => `old${10 + index}`);
  await store.change(
    { kind: 'session-notes', session: null, agent: null, turn: null },
    () => new Map(names.map((name) => [`sessions/${name}.md`, `# Session ${name}\n- A note.\n`])),
  );
  writeFileSync(join(store.root, 'sessions/old11.md'), '# Session old11\n- A note.\n- By hand.\n');
  for (const [index, name] of names.entries())
    utimesSync(join(store.root, `sessions/${name}.md`), 1_000 + index, 1_000 + index);
  const order = { kind: 'keep-lines' as const, answer: 'NOTE: New.', typed: [], seen: [], place };
  await keepLines({
    ...order,
    ...{ session: 'k3v9x2ab', agent: 'k3v9x2ab.2', prompts: 1, today: '2026-11-17' },
    keeps: { facts: false, notes: true },
  });
  const left = readdirSync(join(store.root, 'sessions')).filter((name) => name.endsWith('.md'));
  expect(left).toHaveLength(51);
  expect(left).toEqual(expect.arrayContaining(['k3v9x2ab.md', 'old11.md', 'old15.md', 'old63.md']));
  for (const gone of ['old10.md', 'old12.md', 'old14.md']) expect(left).not.toContain(gone);
  // A bare undo takes back the notes, not the removal.
  expect((await store.undo({ session: null, agent: null, turn: null }, null)).undone.kind).toBe(
    'session-notes',
  );
});

test.for([
  [`ghp_${seededRandom(4).text(BASE62, 36)}: Widgets are blue.`],
  [`The database is at postgres://admin:${seededRandom(5).text(BASE62, 14)}@db.example.com:5432/x.`],
  ['root password: Tr0ub4dor&3x'],
  ['My password is: Tr0ub4dor&3x'],
  [`api_key: ${'629fa947bab3ae8e'}9ea7c72bb0bcc6bc`],
])(
  'BG-5: a fact with a secret, whole or around its colon, is left out, and the others are kept: %s',
  async ([fact = '']) => {
    const home = temporaryDirectory();
    const place = { home, project: join(home, 'project'), root: home };
    await keepLines({
      kind: 'keep-lines',
      answer: `FACT ${fact}\nFACT colours: Gadgets are red.`,
      ...{ typed: [], seen: [], place, session: 'k3v9x2ab', agent: 'k3v9x2ab.2', prompts: 1 },
      today: '2026-11-17',
      keeps: { facts: true, notes: false },
    });
    using store = new MemoryStore(storeOf(place, 'project'));
    expect(store.read('MEMORY.md')).toBe('## colours\n- Gadgets are red. (2026-11-17)\n');
  },
);

const keepFacts = async (text: string, answer: string, typed: string[] = []): Promise<MemoryStore> => {
  const home = temporaryDirectory();
  const place = { home, project: join(home, 'project'), root: home };
  const store = new MemoryStore(storeOf(place, 'project'));
  onTestFinished(() => store[Symbol.dispose]());
  mkdirSync(store.root, { recursive: true });
  writeFileSync(join(store.root, 'MEMORY.md'), text);
  await keepLines({
    ...{ kind: 'keep-lines', answer, typed, seen: [], place, session: 'k3v9x2ab', agent: 'k3v9x2ab.2' },
    ...{ prompts: 1, today: '2026-11-17', keeps: { facts: true, notes: false } },
  });
  return store;
};

test('MEM-1: a fact comes under no note of the user, also where it is not clear where these end', async () => {
  const unclear = '## Notes of the user\n- Ask first.\n\n```\nnever ended\n';
  const wish = 'Always answer in German please.';
  const store = await keepFacts(unclear, `FACT colours: Gadgets are red.\nUSER: ${wish}`, [wish]);
  expect(store.read('MEMORY.md')).toBe(`${unclear}- ${wish}\n`);
  expect(store.read('colours.md')).toBe('## colours\n- Gadgets are red. (2026-11-17)\n');
});

test('MEM-1: a fact is no heading of the user, and has no tag that could hide one', async () => {
  const own = '## Notes of the user\n- Ask first.\n';
  const store = await keepFacts(
    own,
    'FACT colours: Notes of the user\nFACT colours: A gadget is a Map<string> or `Map<x>` <style>h2{display:none}</style>.',
  );
  expect(store.read('MEMORY.md')).toBe(
    `${own}\n## colours\n- A gadget is a Map\\<string> or \`Map<x>\` \\<style>h2{display:none}\\</style>. (2026-11-17)\n`,
  );
});
