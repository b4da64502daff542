/**
 * V8's compiled code of the command, kept on disk. That of an installed package is in `$RAMET_HOME/cache/<version>-<node>`,
 * since a package writes nothing into its own folder; a checkout has a folder that its build made and filled. One session
 * makes the folder of an installed package, the next fills it, all later ones start from it. The launcher (bin/ramet.js)
 * decides who may use it: code that lies there is run, so the folder must be this user's alone.
 *
 * 1. Only a session that is open makes it or fills it: that home can be written and is on no network file system.
 * 2. It is written early, since a process that is killed writes nothing at its end, and again at the end, when more has run:
 *    what ran until then is what is kept. The first session with agents writes what sessions without them lacked.
 * 3. A failure only costs the saving.
 */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { underFirstFlags } from '../permission/grammar-memory.ts';
import { makePrivateDirectory, rametHome } from '../system/home.ts';
import type { Session } from './session/session-type.ts';
import { VERSION } from './version.ts';

/** What the launcher knows of the code it started. */
export interface CompiledCode {
  /** What had run when the code was written that this process started from. */
  readonly kept: 'nothing' | 'session' | 'agents';
  /** Writes what has been compiled so far. */
  keep(ran: 'session' | 'agents'): void;
}

/** By then the first request is on its way and little is left to do. */
const AFTER_MS = 2_000;

/** Looks after it when the session has run for a while, and at its end. */
export function keepCompileCache(
  env: Readonly<Record<string, string | undefined>>,
  session: Pick<Session, 'subscribe'>,
): Disposable {
  // The build writes it into the bundle of the command, and nowhere else (scripts/bundle.ts).
  const code = (import.meta as { compiledCode?: CompiledCode }).compiledCode;
  if (code === undefined && !isInstalled()) return { [Symbol.dispose]: () => {} };
  let ran: 'session' | 'agents' = 'session';
  const stop = session.subscribe(({ parentAgentId }) => {
    if (parentAgentId === null) return;
    ran = 'agents';
    stop();
  });
  const tend = (): void => tendCompileCache(rametHome(env), Date.now(), { code, ran });
  const timer = setTimeout(tend, AFTER_MS).unref();
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      stop();
      tend();
    },
  };
}

/** Bundled, and not by the build of a checkout. */
function isInstalled(): boolean {
  const built = fileURLToPath(new URL('../.compile-cache', import.meta.url));
  return !import.meta.url.endsWith('.ts') && !existsSync(built);
}

const OLD_MS = 30 * 24 * 3_600_000;

export function tendCompileCache(
  home: string,
  now: number,
  { code, ran }: { code: CompiledCode | undefined; ran: 'session' | 'agents' },
): void {
  try {
    if (code === undefined) make(join(home, 'cache', `${VERSION}-${process.versions.node}`), now);
    else if (code.kept === 'nothing' || (code.kept === 'session' && ran === 'agents'))
      underFirstFlags(() => code.keep(ran));
  } catch {
    // Point 3.
  }
}

function make(cache: string, now: number): void {
  if (existsSync(cache)) return;
  makePrivateDirectory(cache);
  const others = readdirSync(dirname(cache)).filter((name) => name !== basename(cache));
  for (const name of others) {
    const path = join(dirname(cache), name);
    if (statSync(path).mtimeMs < now - OLD_MS) rmSync(path, { recursive: true });
  }
}
