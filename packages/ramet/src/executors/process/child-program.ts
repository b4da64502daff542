/** Starts the program of an agent's own process: where it is, with what environment, in a group of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AGENT_VARIABLE } from '../../system/processes/process-register.ts';

/** Where frames lie that are too large for the pipe. */
export const SPOOL_VARIABLE = 'RAMET_SPOOL';

export interface ChildProgram {
  agent: string;
  cwd: string;
  /** Scrubbed: what pays for models is not in it. */
  env: Readonly<Record<string, string>>;
  spool: string;
  /** Instead of our own program. */
  entry?: string | undefined;
}

export function startProgram({ agent, cwd, env, spool, entry = ENTRY }: ChildProgram): ChildProcess {
  const { NODE_OPTIONS: _, NODE_COMPILE_CACHE: __, ...own } = env;
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
