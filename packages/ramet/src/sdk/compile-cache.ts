/**
 * V8's compiled code of an installed command, kept in `$RAMET_HOME/cache/<version>-<node>`: a package writes nothing into
 * its own folder, and a checkout has a cache that its build made. One run makes the folder, the next session fills it, all
 * later ones start from it. The launcher (bin/ramet.js) decides who may use it: code that lies there is run, so the folder
 * must be this user's alone.
 *
 * 1. Only a session that is open makes it or fills it: that home can be written and is on no network file system.
 * 2. It is written once, early: a process that is killed writes nothing at its end, and Node never adds to what is there.
 * 3. A failure only costs the saving.
 */
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makePrivateDirectory, PRIVATE_FILE, rametHome } from '../system/home.ts';
import { VERSION } from './version.ts';

/** Node's part in it. */
export interface NodeCompileCache {
  /** Where this process reads and writes compiled code; undefined for nowhere. */
  directory(): string | undefined;
  flush(): void;
}

const NODE: NodeCompileCache = { directory: getCompileCacheDir, flush: flushCompileCache };

/** By then the first request is on its way and little is left to do. */
const AFTER_MS = 2_000;

/** Looks after it once: when the session has run for a while, or at its end. */
export function keepCompileCache(env: Readonly<Record<string, string | undefined>>): Disposable {
  if (!isInstalled()) return { [Symbol.dispose]: () => {} };
  let isDone = false;
  const tend = (): void => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    tendCompileCache(rametHome(env), Date.now());
  };
  const timer = setTimeout(tend, AFTER_MS).unref();
  return { [Symbol.dispose]: tend };
}

/** Bundled, and not by the build of a checkout. */
function isInstalled(): boolean {
  const built = fileURLToPath(new URL('../.compile-cache', import.meta.url));
  return !import.meta.url.endsWith('.ts') && !existsSync(built);
}

const FILLED = 'filled';
const OLD_MS = 30 * 24 * 3_600_000;

export function tendCompileCache(home: string, now: number, node: NodeCompileCache = NODE): void {
  const cache = join(home, 'cache', `${VERSION}-${process.versions.node}`);
  try {
    const used = node.directory();
    if (used === undefined) make(cache, now);
    else if (used === cache || used.startsWith(cache + sep)) fill(cache, node);
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

function fill(cache: string, node: NodeCompileCache): void {
  const filled = join(cache, FILLED);
  if (existsSync(filled)) return;
  node.flush();
  writeFileSync(filled, '', { mode: PRIVATE_FILE });
}
