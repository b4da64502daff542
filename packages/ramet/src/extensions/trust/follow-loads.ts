/** What the files load that a command runs: its interpreters, modules of Python, and scripts and modules that they load in turn. */
import { relative } from 'node:path';
import { loadedFiles, type RunFile } from './loaded-files.ts';
import type { SearchGround } from './module-files.ts';
import type { NamedFinds } from './named-finds.ts';
import { type PythonFinds, PythonReading } from './programs/python-modules.ts';
import { addInterpreters } from './programs/script-interpreters.ts';
import type { ReachFinds } from './reach-finds.ts';
import { everyFile } from './repository-look.ts';
import { contentOf } from './trusted-content.ts';

export interface FollowGround {
  readonly root: string;
  readonly search: SearchGround;
  readonly named: NamedFinds;
  readonly python: PythonReading;
  /** What Python has compiled is kept where agents cannot write. */
  readonly hasOwnPython: boolean;
}

const MOST_IN_FOLDER = 100;
const OF_GIT = /\/\.git(?:\/|$)/;

export function followLoads(found: ReachFinds, ground: FollowGround): void {
  const { root, search, named, python, hasOwnPython } = ground;
  const lines = new Map<string, string | null>();
  addInterpreters(found, search, lines);
  const shown = (path: string): string => relative(root, path);
  // Where every file counts, so does what they load.
  const files = found.unclear.size > 0 ? [] : runFiles(found, { lines, shown });
  const direct = python.finds(found.paths);
  found.addAll(direct);
  for (const one of [...direct.open.map(shown), ...direct.openCode])
    if (hasOwnPython) found.importing.add(one);
    else found.unclear.add(`what ${one} imports`);
  for (const path of starting([...found.paths].filter(search.isOurs))) found.loads.add(shown(path));
  if (files.length === 0) return;
  const loaded = loadedFiles(files, { root, search, finds: named });
  for (const path of loaded.paths) found.add(path);
  found.read(loaded.digests);
  for (const path of loaded.imported) if (!lines.has(path)) lines.set(path, null);
  addInterpreters(found, search, lines);
  const inner = new PythonReading({ ...search, directories: new Set(loaded.places) });
  const opened = new Set(loaded.open);
  for (const { program, text, from } of loaded.codes) {
    for (const path of inner.started(program, text)) found.add(path);
    if (inner.finds([]).openCode.length > 0 || startsPrograms(text)) opened.add(from.path);
  }
  const more: PythonFinds = inner.finds(loaded.python);
  found.addAll(more);
  for (const path of [...opened, ...more.open, ...starting([...loaded.python, ...more.paths])])
    found.loads.add(shown(path));
}

interface RunGround {
  readonly lines: ReadonlyMap<string, string | null>;
  shown(path: string): string;
}

/** With those of folders that count whole. */
function runFiles(found: ReachFinds, { lines, shown }: RunGround): RunFile[] {
  const files = new Map<string, RunFile>();
  const add = (path: string): void => {
    files.set(path, { path, by: found.runs.get(path) ?? null, line: lines.get(path) ?? null });
  };
  for (const path of found.paths) if (!found.isWritten(path)) add(path);
  for (const folder of found.folders) {
    if (OF_GIT.test(folder)) continue;
    const listed = everyFile(folder, MOST_IN_FOLDER);
    if (listed === null) found.loads.add(shown(folder));
    for (const { path } of listed ?? []) add(path);
  }
  return [...files.values()];
}

const STARTS =
  /\b(?:subprocess|(?:create_)?subprocess_\w+|os\.(?:system|popen|exec\w*|spawn\w*|posix_spawn\w*|startfile)|pty\.spawn|Popen|ProcessPoolExecutor|multiprocessing)\b|\bfrom\s+os\s+import\s*\(?\s*\*|\bfrom\s+os\s+import\b.*\b(?:system|popen|exec\w+|spawn\w+|posix_spawn\w*)\b/;
/** They run what they read, in other words than `exec`. */
const RUNS_DATA =
  /\b(?:(?:c?[Pp]ickle|dill|cloudpickle|joblib|shelve|marshal)\.(?:loads?|open|Unpickler)|TestLoader|unittest\.main|defaultTestLoader|fileConfig|dictConfig|Interactive(?:Interpreter|Console)|runsource|runcode|timeit\.\w+|ctypes\.\w*DLL|LoadLibrary|load_extension)\b/;

function startsPrograms(text: string): boolean {
  return STARTS.test(text) || RUNS_DATA.test(text);
}

/** Those in Python that start programs, or run what they read. */
function starting(paths: Iterable<string>): string[] {
  return [...paths].filter(
    (path) => path.endsWith('.py') && startsPrograms(contentOf(path)?.bytes.toString('utf8') ?? ''),
  );
}
