#!/usr/bin/env node
/**
 * Starts the command: the bundle when it has been built, else the sources. A Node too old to run it must still
 * be able to parse this file, or it would answer with a syntax error instead of the one line that says what to
 * do: no import statements, nothing newer than `import()` (test/e2e/launcher.test.ts).
 */
const NEEDED = 24;
const FEWEST_FILES = 48;

if (Number(process.versions.node.split('.')[0]) >= NEEDED) start();
else import('node:fs').then((fs) => refuse(fs.existsSync));

function start() {
  const fs = process.getBuiltinModule('node:fs');
  if (process.platform === 'linux' && !mayOpenEnough(fs.readFileSync)) return;
  const bundle = new URL('../dist/cli/main.js', import.meta.url);
  if (!fs.existsSync(bundle)) return import('../src/cli/main.ts');
  const cache = compileCache(fs);
  if (cache !== null) process.getBuiltinModule('node:module').enableCompileCache(cache);
  return import(bundle.href);
}

/** Made by the build; for an installed package, which writes nothing into its own folder, the user's own. */
function compileCache(fs) {
  const built = process
    .getBuiltinModule('node:url')
    .fileURLToPath(new URL('../dist/.compile-cache', import.meta.url));
  if (fs.existsSync(built)) return built;
  try {
    return cacheOfUser(fs, process.getBuiltinModule('node:path'));
  } catch {
    return null; // It only saves time.
  }
}

/** `src/sdk/compile-cache.ts` makes it. What lies there is run, so it must be this user's and nobody else's. */
function cacheOfUser(fs, { isAbsolute, join }) {
  const home = process.env.RAMET_HOME || join(process.env.HOME || '', '.ramet');
  if (!isAbsolute(home) || process.getuid === undefined) return null;
  const { version } = JSON.parse(fs.readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const cache = join(home, 'cache', `${version}-${process.versions.node}`);
  const found = fs.lstatSync(cache, { throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory()) return null;
  if (found.uid !== process.getuid() || (found.mode & 0o077) !== 0) return null;
  if (fs.existsSync(join(cache, 'filled'))) return cache;
  return startsSession(process.argv.slice(2)) ? emptied(fs, cache) : null;
}

/** Node adds nothing to what it kept of a file, so the run that fills the cache must be one that does much. */
function startsSession(args) {
  if (args.some((word) => /^(-h|--help|-v|--version)$/.test(word))) return false;
  return args.length === 0 || args[0].startsWith('-');
}

function emptied(fs, cache) {
  fs.rmSync(cache, { recursive: true });
  fs.mkdirSync(cache, { mode: 0o700 });
  return cache;
}

/** Below that not even the program itself can be loaded, and what then fails names anything but the cause. */
function mayOpenEnough(readFileSync) {
  let limit = Number.POSITIVE_INFINITY;
  try {
    limit = Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))[1]);
  } catch {
    // Without /proc nobody knows.
  }
  if (!(limit < FEWEST_FILES)) return true;
  process.stderr.write(
    `ramet: only ${limit} files may be open at once (ulimit -n), and Ramet needs ${FEWEST_FILES}: raise it with ulimit -n 1024\n`,
  );
  process.exitCode = 1;
  return false;
}

function refuse(exists) {
  const modules = modulesWithNode(exists);
  const remedy =
    modules === undefined
      ? `install Node ${NEEDED} (https://nodejs.org) and try again`
      : `one is installed beside it, so ${wayToIt(modules)}`;
  process.stderr.write(`ramet needs Node ${NEEDED} or newer, this is ${process.versions.node}; ${remedy}\n`);
  process.exitCode = 2;
}

/** In a checkout the file `ramet` beside this one finds that Node; its link is what the README makes. */
function wayToIt(modules) {
  const own = decodeURIComponent(new URL(import.meta.url).pathname);
  if (!own.endsWith('/packages/ramet/bin/ramet.js')) return `run: '${modules}.bin/node' '${own}'`;
  return `run: mkdir -p ~/.local/bin && ln -sf '${own.slice(0, -3)}' ~/.local/bin/ramet and try again`;
}

/** A checkout keeps its modules at its root; a project that depends on ramet keeps them around it. */
function modulesWithNode(exists) {
  const node = `node-${process.platform}-${process.arch}/bin/node`;
  return ['../../../node_modules/', '../../']
    .map((path) => decodeURIComponent(new URL(path, import.meta.url).pathname))
    .find((modules) => exists(modules + node));
}
