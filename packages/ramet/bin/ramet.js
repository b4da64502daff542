#!/usr/bin/env node
/**
 * Starts the command: the bundle when it has been built, else the sources. A Node too old to run it must still
 * be able to parse this file, or it would answer with a syntax error instead of the one line that says what to
 * do: no import statements, nothing newer than `import()` (test/e2e/launcher.test.ts).
 */
const NEEDED = 24;
const FEWEST_FILES = 48;
const DIGEST_BYTES = 64;
/** Says what ran before the code was written; V8 wants it to begin at a multiple of eight. */
const MARK_BYTES = 8;
const NOTHING = { mark: 'nothing', cachedData: undefined };

if (Number(process.versions.node.split('.')[0]) >= NEEDED) start();
else import('node:fs').then((fs) => refuse(fs.existsSync));

function start() {
  const fs = process.getBuiltinModule('node:fs');
  if (process.platform === 'linux' && !mayOpenEnough(fs.readFileSync)) return;
  const bundle = new URL('../dist/cli/main.cjs', import.meta.url);
  if (!fs.existsSync(bundle)) return import('../src/cli/main.ts');
  runBundle(fs, bundle);
}

/** Its one value is a function that is called with what a module would have (scripts/bundle.ts). */
function runBundle(fs, bundle) {
  const vm = process.getBuiltinModule('node:vm');
  const source = fs.readFileSync(bundle);
  const file = codeFile(fs, source);
  const { mark, cachedData } = file === null ? NOTHING : keptCode(fs, file);
  const script = new vm.Script(source.latin1Slice(), { filename: bundle.href, cachedData });
  const keep = (ran) => keepCode(fs, file, ran, script.createCachedData());
  const code = file === null ? undefined : { kept: mark, keep };
  const load = (name) => process.getBuiltinModule('node:module').createRequire(bundle)(name);
  script.runInThisContext()(bundle.href, code, load);
}

/** Where V8's compiled code of this bundle is for this Node; V8 itself compares no more of a source than its length. */
function codeFile(fs, source) {
  try {
    const { join } = process.getBuiltinModule('node:path');
    const folder = codeFolder(fs, join);
    if (folder === null) return null;
    return join(folder, `${digest(source).slice(0, 32)}-${process.version}-${process.arch}`);
  } catch {
    return null; // It only saves time.
  }
}

/** Made by the build; for an installed package, which writes nothing into its own folder, the user's own. */
function codeFolder(fs, join) {
  const built = process
    .getBuiltinModule('node:url')
    .fileURLToPath(new URL('../dist/.compile-cache', import.meta.url));
  return fs.existsSync(built) ? built : folderOfUser(fs, join);
}

/** `src/sdk/compile-cache.ts` makes it. What lies there is run, so it must be this user's and nobody else's. */
function folderOfUser(fs, join) {
  const home = process.env.RAMET_HOME || join(process.env.HOME || '', '.ramet');
  if (!process.getBuiltinModule('node:path').isAbsolute(home) || process.getuid === undefined) return null;
  const { version } = JSON.parse(fs.readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const folder = join(home, 'cache', `${version}-${process.versions.node}`);
  const found = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory()) return null;
  return found.uid === process.getuid() && (found.mode & 0o077) === 0 ? folder : null;
}

/** Damaged code would end the process, so it is read only if it is what was written. */
function keptCode(fs, file) {
  try {
    const content = fs.readFileSync(file);
    const marked = content.subarray(DIGEST_BYTES);
    if (digest(marked) !== content.latin1Slice(0, DIGEST_BYTES)) return NOTHING;
    return { mark: marked.latin1Slice(0, MARK_BYTES).trim(), cachedData: marked.subarray(MARK_BYTES) };
  } catch {
    return NOTHING;
  }
}

function keepCode(fs, file, mark, data) {
  const marked = Buffer.concat([Buffer.from(mark.padEnd(MARK_BYTES)), data]);
  const temporary = `${file}.${process.pid}`;
  fs.writeFileSync(temporary, Buffer.concat([Buffer.from(digest(marked)), marked]), { mode: 0o600 });
  fs.renameSync(temporary, file);
}

function digest(data) {
  return process.getBuiltinModule('node:crypto').hash('sha256', data);
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
