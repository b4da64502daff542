/**
 * What Python loads by the names of its own modules: it looks for these first where it is started, or beside the script
 * that it runs. An agent's `json.py` there would run instead of Python's.
 */
import { dirname, join } from 'node:path';
import { landingPath } from '../../../system/landing-path.ts';
import { TEST_MODULES } from '../data-words.ts';
import { linkedPaths } from '../linked-paths.ts';
import type { SearchGround } from '../module-files.ts';
import { isDirectory } from '../repository-look.ts';
import type { StartedProgram } from '../started-programs.ts';
import { contentOf } from '../trusted-content.ts';
import { hasOpenImports } from './open-imports.ts';
import { type ImportedFiles, importedFiles, importsOf, pythonFile } from './python-imports.ts';

/** Of all its versions, with those that a site adds. */
export const PYTHON_MODULES: ReadonlySet<string> = new Set(
  '_abc _aix_support _ast _asyncio _bisect _blake2 _bootlocale _bootsubprocess _bz2 _codecs _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw _collections _collections_abc _colorize _compat_pickle _compression _contextvars _crypt _csv _ctypes _curses _curses_panel _datetime _dbm _decimal _elementtree _frozen_importlib _frozen_importlib_external _functools _gdbm _hashlib _heapq _imp _interpreters _io _json _locale _lsprof _lzma _markupbase _md5 _msi _multibytecodec _multiprocessing _opcode _opcode_metadata _operator _osx_support _overlapped _pickle _posixshmem _posixsubprocess _py_abc _pydecimal _pyio _pylong _pyrepl _queue _random _scproxy _sha1 _sha2 _sha256 _sha3 _sha512 _signal _sitebuiltins _socket _sqlite3 _sre _ssl _stat _statistics _string _strptime _struct _symtable _thread _threading_local _tkinter _tokenize _tracemalloc _typing _uuid _warnings _weakref _weakrefset _winapi _zoneinfo _zstd abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma macpath mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site sitecustomize smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib usercustomize uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo'.split(
    ' ',
  ),
);
const PYTHON = /^(?:python|pypy)[\d.]*$/;
const LOADED = /\.(?:pyc?|so|pyd)$/;
const BEGINS = /^__init__\..*(?:pyc?|so|pyd)$/;
/** Options whose value is the next word where it is not their own rest. */
const HAS_VALUE = /[WX]/;

export interface PythonFinds {
  readonly paths: readonly string[];
  /** They count whole. */
  readonly folders: readonly string[];
  /** Files whose imports only the running program knows. */
  readonly open: readonly string[];
  /** The same of code that the commands hold, in words. */
  readonly openCode: readonly string[];
}

/** What the commands of a script have Python load. Nothing for other programs, and where `-I` or `-P` keeps it from looking. */
export class PythonReading {
  readonly #ground: SearchGround;
  /** Imports of scripts that look in the directories where they are started. */
  readonly #here: string[] = [];
  #looksHere = false;
  readonly #apart = new Set<string>();
  readonly #scripts = new Set<string>();
  /** Programs with code of their own whose imports only they know. */
  readonly #openCode = new Set<string>();

  constructor(ground: SearchGround) {
    this.#ground = ground;
  }

  /** `text` is all of the script that starts it: it may hold what Python reads. */
  started({ name, rest }: StartedProgram, text: string): readonly string[] {
    if (!PYTHON.test(name)) return [];
    const texts = rest.map(({ texts: [one = ''] }) => one);
    const { script, module, code, isApart } = placeOf(texts);
    // What it reads may stand anywhere in the script.
    const own = code ?? (script === null && module === null ? text : '');
    if (hasOpenImports(own, false)) this.#openCode.add(`the code of ${name}`);
    if (script !== null) (isApart ? this.#apart : this.#scripts).add(script);
    if (isApart || script !== null) return [];
    this.#looksHere = true;
    this.#here.push(
      ...importsOf([...texts, text].join('\n')),
      ...(module ? [module, `${module}.__main__`] : []),
    );
    return module === 'pdb' ? [...this.#ground.directories].map((one) => join(one, '.pdbrc')) : [];
  }

  /** `paths`: what the commands run by their own names. */
  finds(paths: Iterable<string>): PythonFinds {
    const apart = new Set(this.#paths(this.#apart));
    const named = this.#paths(this.#scripts);
    const files = [...paths].filter((path) => this.#ground.isOurs(path) && isPython(path));
    const beside = [...new Set([...named, ...files.filter((path) => !apart.has(path))])];
    const places = [beside, this.#looksHere ? null : []].map((one) =>
      one === null ? this.#ground.directories : folders(one),
    );
    const found = places.map((one) => ownModules(one, this.#ground));
    const imported = beside.map((path) => this.#imported([path], folders([path])));
    if (this.#looksHere) imported.push(this.#imported(files, this.#ground.directories, this.#here));
    // It looks in no folder of its own, and yet where its code says.
    const open = [...apart].filter((path) => pythonFile(path, []).isOpen);
    return {
      paths: [...found.flatMap((one) => one.paths), ...imported.flatMap(({ files: one }) => one)],
      folders: found.flatMap((one) => one.folders),
      open: [...open, ...imported.flatMap((one) => one.open)],
      openCode: [...this.#openCode],
    };
  }

  #imported(
    scripts: readonly string[],
    places: Iterable<string>,
    names: readonly string[] = [],
  ): ImportedFiles {
    const isKnown = (name: string): boolean => PYTHON_MODULES.has(name) || TEST_MODULES.test(name);
    const all = [...places];
    const own = scripts.map((path) => ({ path, ...pythonFile(path, all) }));
    const found = importedFiles(
      [...names, ...own.flatMap((one) => one.imports)],
      { places: all, isKnown },
      this.#ground,
    );
    return { ...found, open: [...own.flatMap(({ path, isOpen }) => (isOpen ? path : [])), ...found.open] };
  }

  /** Of a folder what it begins with. */
  #paths(names: Iterable<string>): string[] {
    const { directories, isOurs } = this.#ground;
    const named = [...names].flatMap((name) => [...directories].flatMap((one) => linkedPaths(one, name)));
    return named.map((path) => (isDirectory(path) ? join(path, '__main__.py') : path)).filter(isOurs);
  }
}

/** Of scripts, also where links lead to. */
function folders(paths: readonly string[]): Set<string> {
  return new Set(paths.flatMap((path) => [dirname(path), dirname(landingPath(path) ?? path)]));
}

interface PythonPlace {
  /** Null where it looks in the directory it is started in. */
  readonly script: string | null;
  readonly module: string | null;
  /** Behind `-c`. */
  readonly code: string | null;
  /** It looks in neither place. */
  readonly isApart: boolean;
}

/** Read as Python reads its options, up to what it runs. */
function placeOf(texts: readonly string[]): PythonPlace {
  let isApart = false;
  const here = { script: null, module: null, code: null };
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at] ?? '';
    if (text === '-') return { ...here, isApart };
    if (!text.startsWith('-')) return { ...here, script: text, isApart };
    if (text.startsWith('--')) continue;
    const [, flags = '', decides, value = ''] = /^-([^cmWX]*)([cmWX]?)(.*)$/s.exec(text) ?? [];
    isApart ||= /[IP]/.test(flags);
    if (decides === 'c') return { ...here, code: value === '' ? (texts[at + 1] ?? '') : value, isApart };
    if (decides === 'm') return { ...here, module: value === '' ? (texts[at + 1] ?? '') : value, isApart };
    if (HAS_VALUE.test(decides ?? '') && value === '') at++;
  }
  return { ...here, isApart };
}

function ownModules(
  directories: Iterable<string>,
  { list }: SearchGround,
): Pick<PythonFinds, 'paths' | 'folders'> {
  const paths: string[] = [];
  const folders: string[] = [];
  for (const directory of directories)
    for (const { name } of list(directory)) {
      if (!PYTHON_MODULES.has(name.replace(/\..*$/s, ''))) continue;
      const path = join(directory, name);
      if (LOADED.test(name)) paths.push(path);
      // Without its beginning a folder is no module that is taken before Python's own.
      else if (!name.includes('.') && list(path).some((one) => BEGINS.test(one.name))) folders.push(path);
    }
  return { paths, folders };
}

const LONGEST_START = 128;

function isPython(path: string): boolean {
  if (path.endsWith('.py')) return true;
  const start = /\.\w+$/.test(path) ? undefined : contentOf(path)?.bytes.toString('latin1', 0, LONGEST_START);
  return start !== undefined && /^#!.*\b(?:python|pypy)/.test(start);
}
