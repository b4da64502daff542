/**
 * The sync of team memory: what travels if one key of a thousand changed, and whether fifty folders that change one key at
 * the same time lose a line.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMemoryDatabase } from '../packages/ramet/src/memory/server/key-store.ts';
import { startMemoryServer } from '../packages/ramet/src/memory/server/memory-server.ts';
import { TeamTokens } from '../packages/ramet/src/memory/server/team-tokens.ts';
import { type SyncReport, syncFolder } from '../packages/ramet/src/memory/sync/sync-folder.ts';
import { verdict } from './statistics.ts';

const KEYS = 1_000;
const CLIENTS = 50;

type Sync = (folder: string) => Promise<SyncReport>;

export async function run(): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), 'ramet-bench-sync-'));
  try {
    const directory = join(base, 'server');
    await using server = await startMemoryServer({ directory, limits: { rate: 1e9, burst: 1e9 } });
    const token = (team: string): string => {
      using db = openMemoryDatabase(directory);
      return new TeamTokens(db).create({ team, note: '', now: 0 }).token;
    };
    const syncAs =
      (team: string): Sync =>
      (folder) =>
        syncFolder({ folder, url: server.url, token: tokens[team] ?? '' });
    const tokens: Record<string, string> = { one: token('one'), many: token('many') };
    await oneOfMany(join(base, 'one'), syncAs('one'));
    await manyAtOnce(join(base, 'many'), syncAs('many'));
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

async function oneOfMany(base: string, sync: Sync): Promise<void> {
  const [here, there] = [join(base, 'here'), join(base, 'there')];
  mkdirSync(here, { recursive: true });
  for (let n = 0; n < KEYS; n++) writeFileSync(join(here, `note-${n}.md`), `- fact ${n}\n`);
  await sync(here);
  await sync(there);
  writeFileSync(join(here, 'note-7.md'), '- fact 7, as it is now\n');
  const [sent, sentMs] = await timed(() => sync(here));
  const [pulled, pulledMs] = await timed(() => sync(there));
  const [idle, idleMs] = await timed(() => sync(there));
  console.log(`\nthe sync of ${KEYS} keys of which one changed`);
  for (const [name, report, ms] of [
    ['who changed it', sent, sentMs],
    ['the other folder', pulled, pulledMs],
    ['nothing changed', idle, idleMs],
  ] as const)
    console.log(`  ${name}: ${report.values.written} sent, ${report.values.read} read, ${ms.toFixed(0)} ms`);
  const travelled = sent.values.written + sent.values.read;
  console.log(`  ${verdict('values that travel for one change', travelled, 1, '')}`);
  console.log(
    `  ${verdict('values that another folder reads', pulled.values.written + pulled.values.read, 1, '')}`,
  );
  console.log(`  ${verdict('values that travel for none', idle.values.written + idle.values.read, 0, '')}`);
}

async function manyAtOnce(base: string, sync: Sync): Promise<void> {
  const folders = Array.from({ length: CLIENTS }, (_, n) => join(base, String(n)));
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'log.md'), '# Log\n');
    await sync(folder);
  }
  for (const [n, folder] of folders.entries()) writeFileSync(join(folder, 'log.md'), `# Log\nline ${n}\n`);
  const [, ms] = await timed(() => Promise.all(folders.map(sync)));
  for (const folder of folders) await sync(folder);
  const texts = folders.map((folder) => readFileSync(join(folder, 'log.md'), 'utf8'));
  const lines = new Set(texts[0]?.split('\n'));
  const lost = folders.filter((_, n) => !lines.has(`line ${n}`)).length;
  console.log(`\n${CLIENTS} folders that change one key at once: ${ms.toFixed(0)} ms`);
  console.log(`  ${verdict('lines that were lost', lost, 0, '')}`);
  console.log(`  ${verdict('different texts in the end', new Set(texts).size, 1, '')}`);
}

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const since = performance.now();
  const result = await work();
  return [result, performance.now() - since];
}
