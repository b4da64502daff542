/** The secret guard of memory on planted secrets and clean files: how many it finds, how many it names wrongly, how fast. */
import { secretsIn } from '../packages/ramet/src/memory/secrets/secret-guard.ts';
import { cleanFiles } from '../packages/ramet/test/fixtures/clean-files.ts';
import { plantedSecrets } from '../packages/ramet/test/fixtures/planted-secrets.ts';

const SEEDS = { 'tuned on': 1, 'kept back': 90_210 } as const;
const OF_EACH_KIND = 20;
const CLEAN = 2_000;
const RECALL_GOAL = 0.97;
const FALSE_GOAL = 0.005;
const NOTE =
  'The build needs Node 24, and the parser of tokens is in src/parser.ts; npm run build makes it.\n'.repeat(
    21,
  );
const ROUNDS = 1_000;

export async function run(): Promise<void> {
  console.log('\nthe secret guard');
  for (const [name, seed] of Object.entries(SEEDS)) {
    const planted = plantedSecrets(seed, OF_EACH_KIND);
    const found = planted.filter(({ text, line }) =>
      secretsIn(text).some((finding) => finding.line === line),
    );
    const clean = cleanFiles(seed, CLEAN);
    const named = clean.filter(({ text }) => secretsIn(text).length > 0);
    const kinds = new Set(planted.map(({ kind }) => kind)).size;
    const recall = found.length / planted.length;
    const share = named.length / clean.length;
    console.log(`  ${name}: ${planted.length} secrets of ${kinds} kinds, ${clean.length} clean files`);
    console.log(
      `    recall ${recall.toFixed(4)} (goal ${RECALL_GOAL}): ${recall >= RECALL_GOAL ? 'met' : 'MISSED'}`,
    );
    console.log(
      `    false ${(100 * share).toFixed(2)}% (goal ${100 * FALSE_GOAL}%): ${share <= FALSE_GOAL ? 'met' : 'MISSED'}`,
    );
    const missed = planted.filter((one) => !found.includes(one)).map(({ kind }) => kind);
    if (missed.length > 0) console.log(`    missed: ${missed.join(', ')}`);
    if (named.length > 0) console.log(`    named wrongly: ${named.map(({ kind }) => kind).join(', ')}`);
  }
  const before = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) secretsIn(NOTE);
  const { user, system } = process.cpuUsage(before);
  console.log(`  one note of 2 KB: ${((user + system) / ROUNDS).toFixed(0)} µs of CPU`);
}
