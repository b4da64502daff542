/** The secret guard of memory on planted secrets and clean files: how many it finds, how many it names wrongly, how fast. */
import { secretsIn } from '../packages/ramet/src/memory/secrets/secret-guard.ts';
import { cleanFiles } from '../packages/ramet/test/fixtures/clean-files.ts';
import { plantedSecrets } from '../packages/ramet/test/fixtures/planted-secrets.ts';
import { cleanTexts } from '../packages/ramet/test/fixtures/secret-guard/clean-texts.ts';
import { composedSecrets } from '../packages/ramet/test/fixtures/secret-guard/composed-secrets.ts';

/** With names, forms and values that the rules were made with, and with such that were kept back. */
const PARTS = { worked: 1, keptBack: 90_210 } as const;
const OF_EACH_KIND = 20;
const CLEAN = 2_000;
const COMPOSED = 6_000;
const RECALL_GOAL = 0.97;
const FALSE_GOAL = 0.005;
const NOTE =
  'The build needs Node 24, and the parser of tokens is in src/parser.ts; npm run build makes it.\n'.repeat(
    21,
  );
const ROUNDS = 1_000;

interface Judged {
  readonly kind: string;
  readonly text: string;
  readonly line?: number;
}

export async function run(): Promise<void> {
  console.log('\nthe secret guard');
  for (const part of ['worked', 'keptBack'] as const) {
    const seed = PARTS[part];
    console.log(`  ${part === 'worked' ? 'worked on' : 'kept back'}`);
    recallOf('secrets with forms of their own', plantedSecrets(seed, OF_EACH_KIND));
    recallOf('secrets of names, forms and values', composedSecrets(seed, COMPOSED, part));
    falseOf('clean files', cleanFiles(seed, CLEAN));
    falseOf('clean texts about secrets', cleanTexts(seed, CLEAN, part));
  }
  const before = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) secretsIn(NOTE);
  const { user, system } = process.cpuUsage(before);
  console.log(`  one note of 2 KB: ${((user + system) / ROUNDS).toFixed(0)} µs of CPU`);
}

function recallOf(name: string, planted: readonly Judged[]): void {
  const missed = planted.filter(({ text, line }) => !secretsIn(text).some((found) => found.line === line));
  const recall = 1 - missed.length / planted.length;
  const verdict = recall >= RECALL_GOAL ? 'met' : 'MISSED';
  console.log(`    ${planted.length} ${name}: recall ${recall.toFixed(4)} (goal ${RECALL_GOAL}): ${verdict}`);
}

function falseOf(name: string, clean: readonly Judged[]): void {
  const named = clean.filter(({ text }) => secretsIn(text).length > 0);
  const share = named.length / clean.length;
  const verdict = share <= FALSE_GOAL ? 'met' : 'MISSED';
  console.log(
    `    ${clean.length} ${name}: false ${(100 * share).toFixed(2)}% (goal ${100 * FALSE_GOAL}%): ${verdict}`,
  );
  if (named.length > 0) console.log(`      named wrongly: ${named.map(({ kind }) => kind).join(', ')}`);
}
