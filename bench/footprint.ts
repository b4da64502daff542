/** How much goes over the wire before the first word of a task, and how much memory a whole run takes at most. */
import { startEmulator } from 'ramet/emulator';
import { benchPlace, runPrint } from './command.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const ROUNDS = 5;
/**
 * Prints the peak resident set, in KB, when the process ends. Not `resourceUsage().maxRSS`: that is inherited from the
 * parent process, here a benchmark that has grown large itself.
 */
const PEAK =
  "data:text/javascript,import{readFileSync}from'node:fs';process.on('exit',()=>console.log('peak',/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status'))[1]))";

export async function run(): Promise<void> {
  using place = benchPlace();
  const call = { tool_use: [{ name: 'Read', input: { file_path: 'file.txt' } }] };
  await using emulator = await startEmulator({
    scenario: { rules: [{ match: { turn: 0 }, respond: call }, { respond: { text: 'done' } }] },
  });
  const peaks: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    peaks.push(peakIn(await runPrint(place, emulator.url, { node: ['--import', PEAK] })));
  }
  const request = emulator.requests[0]?.request;
  const [tools, system] = [wireBytes(request?.tools), wireBytes(request?.system)];
  console.log(`\non the wire, main agent: tools ${tools} bytes, system prompt ${system} bytes`);
  console.log(`  ${verdict('tools + system prompt', (tools + system) / 1024, 16, 'KB')}`);
  console.log(`peak resident memory of ramet -p, two turns, ${ROUNDS} runs`);
  console.log(`  ${showSpread(spreadOf(peaks), 'MB')}`);
  console.log(`  ${verdict('peak resident memory', spreadOf(peaks).max, 120, 'MB')}`);
}

function wireBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

function peakIn(output: string): number {
  const found = /peak (\d+)/.exec(output);
  return found === null ? Number.NaN : Number(found[1]) / 1024;
}

if (import.meta.main) await run();
