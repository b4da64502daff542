/**
 * Makes docs/demo.svg, the film in the README: `npm run picture`. It runs `ramet demo` on a pseudo-terminal and draws what a
 * terminal shows of it, nothing else. Ids of commits and times differ from run to run.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOnTerminal } from '../test/fixtures/terminal.ts';
import { VirtualTerminal } from '../test/fixtures/virtual-terminal.ts';
import { PACKAGE_ROOT } from './bundle.ts';
import { type Screenshot, terminalPicture } from './terminal-picture.ts';

const FILE = join(PACKAGE_ROOT, '../../docs/demo.svg');
const SIZE = { columns: 80, rows: 24 };
const COMMAND = '$ ramet demo';
const LOOK_MS = 60;
/** A busy machine makes pauses that say nothing. */
const LONGEST_SECONDS = 1.5;
const LAST_SECONDS = 12;
/** The end of a frame, or of a line: never in the middle of a drawing. */
const WHOLE = ['\u001b[?2026l', '\n'];

interface Moment {
  /** How much had been written. */
  length: number;
  at: number;
}

const root = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-picture-')));
try {
  const { bytes, moments } = await recorded();
  const shots = screenshots(bytes, moments);
  const picture = terminalPicture(shots, {
    ...SIZE,
    title: 'ramet demo',
    description: 'One prompt becomes five agents; they are killed, resumed and merged; the bill is shown.',
  });
  writeFileSync(FILE, picture);
  console.log(`${FILE}: ${shots.length} screens, ${Math.round(picture.length / 1000)} kB`);
} finally {
  rmSync(root, { recursive: true, force: true });
}

async function recorded(): Promise<{ bytes: string; moments: Moment[] }> {
  const [programs, repository] = [join(root, 'bin'), join(root, 'here')];
  for (const folder of [programs, repository]) mkdirSync(folder);
  // As it is installed: the demo then names the command and not the file.
  symlinkSync(join(PACKAGE_ROOT, 'bin/ramet'), join(programs, 'ramet'));
  const env = { PATH: `${programs}${delimiter}${process.env.PATH}`, HOME: root, TMPDIR: root };
  await using run = startOnTerminal({ root, repository, env }, ['demo'], SIZE);
  const moments: Moment[] = [];
  let isOver = false;
  const ended = run.ended.then((code) => {
    isOver = true;
    return code;
  });
  while (!isOver) {
    const { length } = run.bytes;
    if (length > (moments.at(-1)?.length ?? 0) && WHOLE.some((end) => run.bytes.endsWith(end)))
      moments.push({ length, at: performance.now() });
    await sleep(LOOK_MS);
  }
  if ((await ended) !== 0) throw new Error(`the demo failed:\n${run.screen}`);
  moments.push({ length: run.bytes.length, at: performance.now() });
  return { bytes: run.bytes, moments };
}

function screenshots(bytes: string, moments: readonly Moment[]): Screenshot[] {
  const terminal = new VirtualTerminal(SIZE.columns, SIZE.rows);
  terminal.write(`${COMMAND}\r\n`);
  const shots: Screenshot[] = [{ rows: terminal.styledRows, seconds: 1 }];
  let written = 0;
  for (const [index, { length, at }] of moments.entries()) {
    terminal.write(bytes.slice(written, length));
    written = length;
    const next = moments[index + 1];
    const seconds = next === undefined ? LAST_SECONDS : Math.min(LONGEST_SECONDS, (next.at - at) / 1000);
    const rows = terminal.styledRows;
    const last = shots.at(-1);
    if (last !== undefined && JSON.stringify(last.rows) === JSON.stringify(rows)) last.seconds += seconds;
    else shots.push({ rows, seconds });
  }
  return shots;
}
