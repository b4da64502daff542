/**
 * The terminal campaign: `npm run campaign:terminal`. A window of tmux changes its size at random while answers stream; then
 * the screen must equal a fresh redraw (Ctrl-L), at several sizes, and no live row may be left in the scrollback. The same
 * with the conversation of an agent open, which is then left and must give the old screen back. Exit code 1 when
 * something did not hold. See docs/campaigns.md.
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

const CHILD = { description: 'a busy child', prompt: 'work on and on', subagent_type: 'general-purpose' };

const base = mkdtempSync(join(tmpdir(), 'ramet-terminal-'));
const server = `ramet-terminal-${process.pid}`;
const tmux = (...args: string[]): string =>
  execFileSync('tmux', ['-L', server, ...args], { encoding: 'utf8' });
const screen = (...more: string[]): string => tmux('capture-pane', '-p', '-t', 'main', ...more);

let failures = 0;
try {
  await using emulator = await startEmulator({
    scenario: {
      latency: { tokensPerSecond: 150 },
      rules: [
        {
          match: { task: 'start a child' },
          times: 1,
          respond: { tool_use: [{ name: 'Agent', input: { ...CHILD, run_in_background: true } }] },
        },
        { match: { task: 'start a child' }, respond: { text: 'It is at work.\n\nEND' } },
        // It writes and runs a command again and again.
        {
          match: { task: CHILD.prompt },
          respond: { text: ANSWER, tool_use: [{ name: 'Bash', input: { command: 'sleep 4; echo one' } }] },
        },
        { respond: { text: ANSWER } },
      ],
    },
  });
  open(emulator.url);
  await until(() => /^>/m.test(screen()));
  for (const [columns, rows] of SIZES) await trial(columns, rows);
  tmux('send-keys', '-t', 'main', 'start a child', 'Enter');
  await until(() => /END\n/.test(screen()) && screen().includes('a busy child'));
  for (const [columns, rows] of SIZES) await trialInside(columns, rows);
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
  const command = ['env', ...settings, process.execPath, launcher, '--permission-mode', 'bypassPermissions'];
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

/** The conversation of an agent has the whole screen, and goes on. */
async function trialInside(columns: number, rows: number): Promise<void> {
  resize(columns, rows);
  await sleep(300);
  tmux('send-keys', '-t', 'main', 'C-t');
  await until(() => screen().includes('a busy child') && screen().includes('Esc'));
  // Work in the background is in the list too, below the child.
  if (screen().includes('show which agent?')) tmux('send-keys', '-t', 'main', 'Enter');
  await until(() => screen().includes('Esc: back'));
  for (let done = 0; done < RESIZES; done += 1) {
    resize(30 + Math.floor(Math.random() * 110), 8 + Math.floor(Math.random() * 36));
    await sleep(Math.random() * 60);
  }
  resize(columns, rows);
  await sleep(500);
  // While its command runs, only the row with the clock changes.
  await until(() => !isInCommand());
  await until(isInCommand);
  await sleep(400);
  const before = withoutClock(screen());
  tmux('send-keys', '-t', 'main', 'C-l');
  await sleep(600);
  const isSame = before === withoutClock(screen());
  tmux('send-keys', '-t', 'main', 'Escape');
  await until(() => !screen().includes('Esc: back'));
  await sleep(500);
  tmux('send-keys', '-t', 'main', 'C-l');
  await sleep(500);
  const isBack = hasOneInput(screen().split('\n')) && screen('-S', '-').includes('It is at work.');
  const isClean =
    screen('-S', '-')
      .split('\n')
      .filter((line) => SPINNER.test(line)).length <= 1;
  if (!isSame || !isBack || !isClean) {
    failures += 1;
    console.log(`--- inside\n${before}\n--- afterwards\n${screen('-S', '-').slice(-3_000)}`);
  }
  const verdict = `${isSame ? 'equals' : 'DIFFERS FROM'} a redraw, left again ${isBack && isClean ? 'as it was' : 'NOT AS IT WAS'}`;
  console.log(`${columns}x${rows} after ${RESIZES} sizes in the conversation of an agent: ${verdict}`);
}

function isInCommand(): boolean {
  return screen()
    .split('\n')
    .some((line) => SPINNER.test(line) && line.includes('sleep 4'));
}

function withoutClock(text: string): string {
  return text
    .split('\n')
    .filter((line) => !SPINNER.test(line))
    .join('\n');
}

function hasOneInput(lines: readonly string[]): boolean {
  return (
    lines.filter((line) => /^>(?: |$)/.test(line) && !/^> (?:go|start a child|\/open \S+)$/.test(line))
      .length === 1
  );
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
