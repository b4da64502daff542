import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, isRunning } from '../../../../test/fixtures/command.ts';
import { test } from '../../../../test/fixtures/temporary-directory.ts';
import { type SimulatedClock, simulatedClock } from '../../../testing/simulated-clock.ts';
import { StatusLine } from './status-line.ts';

interface Tried {
  line: StatusLine;
  clock: SimulatedClock;
  warnings: string[];
}

function lineOf(command: string, directory: string, input: object = { cwd: directory }): Tried {
  const clock = simulatedClock();
  const warnings: string[] = [];
  const line = new StatusLine({
    setting: { command },
    env: { PATH: process.env.PATH, ANTHROPIC_API_KEY: 'secret' },
    cwd: () => directory,
    input: () => input,
    size: () => ({ columns: 80, rows: 24 }),
    changed: () => {},
    warn: (text) => warnings.push(text),
    clock,
  });
  return { line, clock, warnings };
}

const runsIn = (file: string): number => (existsSync(file) ? readFileSync(file, 'utf8').length : 0);

describe('UI-3: the command of the status line', () => {
  test('reads JSON, and its first three lines are taken', async ({ directory }) => {
    const { line } = lineOf('cat; echo; echo $COLUMNS; echo 3; echo 4', directory, { model: { id: 'm' } });
    line.touch();
    await eventually(() => line.lines !== null);
    expect(line.lines).toEqual(['{"model":{"id":"m"}}', '80', '3']);
  });

  test('gets no key that pays for a model', async ({ directory }) => {
    const { line } = lineOf('echo "key:$ANTHROPIC_API_KEY"', directory);
    line.touch();
    await eventually(() => line.lines !== null);
    expect(line.lines).toEqual(['key:']);
  });

  test('runs again after a change, at most every 300 ms and never twice at once', async ({ directory }) => {
    const runs = join(directory, 'runs');
    const { line, clock } = lineOf(`printf x >> '${runs}'; wc -c < '${runs}'`, directory);
    for (let change = 0; change < 50; change++) line.touch();
    await clock.whenSleeping();
    await eventually(() => line.lines !== null && clock.due().length === 1);
    expect(runsIn(runs)).toBe(1);
    line.touch();
    await clock.advance(299);
    expect(runsIn(runs)).toBe(1);
    await clock.advance(1);
    await eventually(() => line.lines?.[0]?.trim() === '2');
    await eventually(() => clock.due().length === 1);
    await clock.advance(1_000);
    expect(runsIn(runs)).toBe(2);
  });

  test('one that hangs is ended with all it started, and is said once', async ({ directory }) => {
    const started = join(directory, 'started');
    const { line, clock, warnings } = lineOf(
      `trap '' TERM HUP INT; sleep 1000 & echo $! > '${started}'; echo early; wait`,
      directory,
    );
    line.touch();
    await eventually(() => existsSync(started) && readFileSync(started, 'utf8').endsWith('\n'));
    const pid = Number(readFileSync(started, 'utf8'));
    await clock.advance(5_000);
    await eventually(() => warnings.length === 1 && !isRunning(pid));
    expect(warnings[0]).toMatch(/status line failed: it took longer than 5 s; the usual line is shown/);
    expect(line.lines).toBeNull();
    line.touch();
    await clock.advance(9_999);
    await clock.advance(6_000);
    expect(warnings).toHaveLength(1);
    line[Symbol.dispose]();
  });

  test('one that floods is cut and ended', async ({ directory }) => {
    const { line, warnings } = lineOf(`echo $$ > '${directory}/pid'; yes flood`, directory);
    line.touch();
    await eventually(() => line.lines !== null);
    expect(line.lines).toEqual(['flood', 'flood', 'flood']);
    expect(warnings).toEqual([]);
    const pid = Number(readFileSync(join(directory, 'pid'), 'utf8'));
    await eventually(() => !isRunning(pid));
  });

  test.for([
    ['echo shown; echo why >&2; exit 3', 'it ended with exit code 3: why'],
    ['kill -9 $$', 'it ended with SIGKILL'],
    ['no-such-program-here', /exit code 127: .*not found/],
    ['yes >&2', 'it writes too much to standard error'],
  ] as const)('one that fails gives the usual line back: %s', async ([command, problem], { directory }) => {
    const { line, warnings } = lineOf(command, directory);
    line.touch();
    await eventually(() => warnings.length === 1);
    expect(warnings[0]).toMatch(problem);
    expect(line.lines).toBeNull();
  });

  test('what it leaves in the background ends with it', async ({ directory }) => {
    const { line, clock } = lineOf('sleep 1000 & echo $!', directory);
    line.touch();
    await clock.whenSleeping(2);
    await eventually(() => clock.due().includes(50));
    await clock.advance(50);
    await eventually(() => line.lines !== null);
    await eventually(() => !isRunning(Number(line.lines?.[0])));
  });

  test('ends at once when nobody looks any more', async ({ directory }) => {
    writeFileSync(join(directory, 'pid'), '');
    const { line } = lineOf(`echo $$ > '${directory}/pid'; sleep 1000`, directory);
    line.touch();
    await eventually(() => readFileSync(join(directory, 'pid'), 'utf8').endsWith('\n'));
    line[Symbol.dispose]();
    const pid = Number(readFileSync(join(directory, 'pid'), 'utf8'));
    await eventually(() => !isRunning(pid));
  });
});
