/** A process of its own as a place for an agent: its program, its environment, its group, its end. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describeError } from '../../schema/errors.ts';
import { signalGroup } from '../../system/processes/process-group.ts';
import { AGENT_VARIABLE } from '../../system/processes/process-register.ts';
import type { AgentPlace, PlaceOrder, StartedPlace } from './agent-place.ts';

/** Where frames lie that are too large for the pipe. */
export const SPOOL_VARIABLE = 'RAMET_SPOOL';

const LAST_WORDS = 2_000;

/** `entry` is a program instead of our own. */
export function processPlace(entry: string = ENTRY): AgentPlace {
  return { start: (order) => startedProcess(startProgram(order, entry)) };
}

function startedProcess(child: ChildProcess): StartedPlace {
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS);
  });
  return {
    port: {
      // The end of the line is seen in `ended`.
      send: (frame) => void child.send(frame, () => {}),
      onFrame: (take) => void child.on('message', take),
    },
    group: child.pid,
    get isConnected() {
      return child.connected;
    },
    ended: endOf(child),
    get lastWords() {
      return lastWords;
    },
    disconnect() {
      if (child.connected) child.disconnect();
    },
    kill() {
      const { pid, exitCode, signalCode } = child;
      if (pid !== undefined && exitCode === null && signalCode === null) signalGroup(pid, 'SIGKILL');
    },
  };
}

async function endOf(child: ChildProcess): Promise<string> {
  const ended = Promise.withResolvers<string>();
  child.once('error', (error) => ended.resolve(`it could not be started: ${describeError(error)}`));
  child.once('exit', (code, by) =>
    ended.resolve(by === null ? `it exited with ${code}` : `it ended by ${by}`),
  );
  // What it has said is heard to the end.
  const unheard = new Promise<void>((resolve) => void child.once('disconnect', resolve));
  const how = await ended.promise;
  if (child.pid !== undefined) await unheard;
  return how;
}

function startProgram({ agent, cwd, environment, spool }: PlaceOrder, entry: string): ChildProcess {
  const { NODE_OPTIONS: _, NODE_COMPILE_CACHE: __, ...own } = environment;
  return fork(entry, [], {
    cwd,
    env: {
      ...own,
      [AGENT_VARIABLE]: agent,
      [SPOOL_VARIABLE]: spool,
      ...(COMPILE_CACHE !== null && { NODE_COMPILE_CACHE: COMPILE_CACHE }),
    },
    // A key that interrupts the host on a terminal is the host's to pass on.
    detached: true,
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** Bundled, every file that could hold this code lies one folder below the one of all bundles. */
const FROM_SOURCES = import.meta.url.endsWith('.ts');
const ENTRY = fileURLToPath(
  new URL(FROM_SOURCES ? './child-main.ts' : '../executors/child-main.js', import.meta.url),
);
const COMPILE_CACHE = compileCache();

/** Only where the build made one: an installed package writes nothing into its own folder. For sources, the one they run with. */
function compileCache(): string | null {
  if (FROM_SOURCES) return process.env.NODE_COMPILE_CACHE ?? null;
  const cache = fileURLToPath(new URL('../.compile-cache', import.meta.url));
  return existsSync(cache) ? cache : null;
}
