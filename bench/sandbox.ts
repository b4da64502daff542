/**
 * What the wall costs: a command in the read-only sandbox beside the same command by itself, in turns, from its start
 * to its end as the Bash tool sees it. Then five Explore children with one Bash call each in `ramet -p`: resident memory
 * at its peak and CPU.
 */
import { closeSync, openSync } from 'node:fs';
import type { ShellDecision } from '../packages/ramet/src/sandbox/command-sandbox.ts';
import { createCommandSandbox, plainShell } from '../packages/ramet/src/sandbox/command-sandbox.ts';
import { startProcessGroup } from '../packages/ramet/src/system/processes/process-group.ts';
import { type BenchPlace, benchPlace, runPrint } from './command.ts';
import { type CacheServer, startCacheServer } from './start-cache-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const COMMANDS = 100;
const ROUNDS = 5;
const env = { PATH: process.env.PATH ?? '' };

export async function run(): Promise<void> {
  using place = benchPlace();
  await measureCommand(place);
  using server = await startCacheServer();
  await measureChildren(place, server);
}

async function measureCommand({ repository }: BenchPlace): Promise<void> {
  const sandbox = createCommandSandbox('required', env);
  const command = 'ls';
  if (!(await sandbox.wall())) return console.log('\nno sandbox works here: its cost is not measured');
  const [plain, walled]: number[][] = [[], []];
  for (let round = 0; round < COMMANDS; round++) {
    plain?.push(await timeOf(plainShell(command), repository));
    walled?.push(await timeOf(await sandbox.shell(command, repository), repository));
  }
  const [floor, cost] = [spreadOf(plain ?? []), spreadOf(walled ?? [])];
  console.log(`\none command, ${COMMANDS} times each, in turns`);
  console.log(`  by itself       ${showSpread(floor, 'ms')}`);
  console.log(`  in the sandbox  ${showSpread(cost, 'ms')}`);
  console.log(`  ${verdict('a sandboxed command above a plain one', cost.median - floor.median, 8, 'ms')}`);
}

async function timeOf(shell: ShellDecision, cwd: string): Promise<number> {
  if ('refusal' in shell) throw new Error(shell.refusal);
  const output = openSync('/dev/null', 'w');
  const since = performance.now();
  const { program, arguments: words, environment, handed, confined } = shell;
  const group = await startProcessGroup({
    ...{ program, arguments: words, cwd, env: { ...env, ...environment }, output, handed, confined },
    register: () => () => {},
  });
  await group.ended;
  const took = performance.now() - since;
  closeSync(output);
  return took;
}

/** Prints resident memory at its peak, in KB, and CPU in ms, when the process ends. */
const SPENT =
  "data:text/javascript,import{readFileSync}from'node:fs';process.on('exit',()=>{const{user,system}=process.cpuUsage();console.log('spent',/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status'))[1],(user+system)/1e3)})";

async function measureChildren(place: BenchPlace, server: CacheServer): Promise<void> {
  const memory: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await server.play({ children: 5, input: { subagent_type: 'Explore' }, firstTokenMs: 100 });
    const output = await runPrint(place, server.url, { prompt: 'Go.', node: ['--import', SPENT] });
    const [kb = Number.NaN, own = Number.NaN] = /spent (.*)/.exec(output)?.[1]?.split(' ').map(Number) ?? [];
    memory.push(kb / 1024);
    cpu.push(own / 1_000);
  }
  console.log(`five Explore children with one Bash call each, ${ROUNDS} runs`);
  console.log(`  resident memory ${showSpread(spreadOf(memory), 'MB')}`);
  console.log(`  CPU             ${showSpread(spreadOf(cpu), 's')}`);
  console.log(`  ${verdict('resident memory', spreadOf(memory).median, 120, 'MB')}`);
  console.log(`  ${verdict('CPU', spreadOf(cpu).median, 0.6, 's')}`);
}

if (import.meta.main) await run();
