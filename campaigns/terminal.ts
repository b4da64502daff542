/**
 * The terminal campaign: `npm run campaign:terminal`. A window of tmux changes its size at random while answers stream; then
 * the screen must equal a fresh redraw (Ctrl-L), at several sizes, and no live row may be left in the scrollback. Exit code
 * 1 when something did not hold. See docs/campaigns.md.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmulator } from '../packages/ramet/src/emulator/index.ts';

const { values } = parseArgs({ options: { resizes: { type: 'string', default: '200' } } });
const RESIZES = Number(values.resizes);
const SIZES = [
  [40, 10],
  [80, 24],
  [120, 40],
] as const;
const SPINNER = /[\u2800-\u28ff]/;
const ANSWER = [
  '# A heading',
  'A paragraph with **bold words** and `code`, long enough to be wrapped on every screen that this campaign uses. '.repeat(
    3,
  ),
  '- an item\n- another item with more words in it than a narrow window is wide\n  - an inner one',
  '| name | figure |\n|---|---:|\n| first row | 1 |\n| second row with a longer text | 22 |',
  '```ts\nexport const line = "a line of code that is wider than a narrow window";\n```',
  '日本語の文章も折り返されます。'.repeat(4),
  'END',
].join('\n\n');

const base = mkdtempSync(join(tmpdir(), 'ramet-terminal-'));
const server = `ramet-terminal-${process.pid}`;
const tmux = (...args: string[]): string =>
  execFileSync('tmux', ['-L', server, ...args], { encoding: 'utf8' });
const screen = (...more: string[]): string => tmux('capture-pane', '-p', '-t', 'main', ...more);

let failures = 0;
try {
  await using emulator = await startEmulator({
    scenario: { latency: { tokensPerSecond: 150 }, rules: [{ respond: { text: ANSWER } }] },
  });
  open(emulator.url);
  await until(() => /^>/m.test(screen()));
  for (const [columns, rows] of SIZES) await trial(columns, rows);
} finally {
  tmux('kill-server');
  rmSync(base, { recursive: true, force: true });
}
console.log(failures === 0 ? '  everything held' : `  ${failures} DID NOT HOLD`);
process.exitCode = failures === 0 ? 0 : 1;

function open(url: string): void {
  const repository = join(base, 'repository');
  mkdirSync(repository);
  execFileSync('git', ['init', '-q', repository]);
  const launcher = join(import.meta.dirname, '../packages/ramet/bin/ramet.js');
  const env = {
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    HOME: base,
    RAMET_HOME: join(base, 'home'),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'campaign',
  };
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const command = ['env', ...settings, process.execPath, launcher];
  tmux(
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-s',
    'main',
    '-x',
    '80',
    '-y',
    '24',
    '-c',
    repository,
    ...command,
  );
}

async function trial(columns: number, rows: number): Promise<void> {
  tmux('clear-history', '-t', 'main');
  for (let done = 0; done < RESIZES; ) {
    tmux('send-keys', '-t', 'main', 'go', 'Enter');
    for (let turn = 0; turn < 40 && done < RESIZES; turn += 1, done += 1) {
      resize(30 + Math.floor(Math.random() * 110), 8 + Math.floor(Math.random() * 36));
      await sleep(Math.random() * 60);
    }
  }
  resize(columns, rows);
  await until(() => /END\n+>/.test(screen()) && !SPINNER.test(screen()));
  await settled();
  const before = screen();
  tmux('send-keys', '-t', 'main', 'C-l');
  await settled();
  const isSame = before === screen();
  const isClean = !SPINNER.test(screen('-S', '-'));
  if (!isSame || !isClean) failures += 1;
  if (!isSame) console.log(`--- before the redraw\n${before}--- after it\n${screen()}`);
  const verdict = `${isSame ? 'equals' : 'DIFFERS FROM'} a redraw, scrollback ${isClean ? 'clean' : 'NOT CLEAN'}`;
  console.log(`${columns}x${rows} after ${RESIZES} sizes: the screen ${verdict}`);
}

function resize(columns: number, rows: number): void {
  tmux('resize-window', '-t', 'main', '-x', String(columns), '-y', String(rows));
}

/** The screen has not changed for a while. */
async function settled(): Promise<void> {
  for (let same = 0, last = ''; same < 5; last = screen()) {
    await sleep(200);
    same = last === screen() ? same + 1 : 0;
  }
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (holds()) return;
    await sleep(200);
  }
  throw new Error(`the terminal does not show what was waited for:\n${screen()}`);
}
