/**
 * What Python loads by the names of its own modules: it looks for these first where it is started, or beside the script
 * that it runs. An agent's `json.py` there would run instead of Python's.
 */
import { dirname, join, resolve } from 'node:path';
import { landingPath } from '../../system/landing-path.ts';
import type { SearchGround } from './module-files.ts';
import type { StartedProgram } from './started-programs.ts';
import { contentOf } from './trusted-content.ts';

/** Of all its versions, with those that a site adds. */
const MODULES: ReadonlySet<string> = new Set(
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
}

/** For one program that a command starts; nothing for other programs, and where `-I` or `-P` keeps it from looking. */
export function pythonFinds({ name, rest }: StartedProgram, ground: SearchGround): PythonFinds {
  const place = PYTHON.test(name) ? placeOf(rest.map(({ texts: [text = ''] }) => text)) : null;
  if (place === null) return { paths: [], folders: [] };
  const { script, module } = place;
  const found = ownModules(script === null ? ground.directories : besideAll([script], ground), ground);
  const told = module === 'pdb' ? [...ground.directories].map((one) => join(one, '.pdbrc')) : [];
  return { ...found, paths: [...found.paths, ...told] };
}

/** For scripts in Python among the files that a command runs by their own names. */
export function besideScripts(paths: Iterable<string>, ground: SearchGround): PythonFinds {
  return ownModules(
    besideAll(
      [...paths].filter((path) => ground.isOurs(path) && isPython(path)),
      ground,
    ),
    ground,
  );
}

interface PythonPlace {
  /** Null where it looks in the directory it is started in. */
  readonly script: string | null;
  readonly module: string | null;
}

/** Read as Python reads its options, up to what it runs; null where it looks in neither place. */
function placeOf(texts: readonly string[]): PythonPlace | null {
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at] ?? '';
    if (!text.startsWith('-') || text === '-') return { script: text === '-' ? null : text, module: null };
    if (text.startsWith('--')) continue;
    const [, flags = '', decides, value = ''] = /^-([^cmWX]*)([cmWX]?)(.*)$/s.exec(text) ?? [];
    if (/[IP]/.test(flags)) return null;
    if (decides === 'c') return { script: null, module: null };
    if (decides === 'm') return { script: null, module: value === '' ? (texts[at + 1] ?? '') : value };
    if (HAS_VALUE.test(decides ?? '') && value === '') at++;
  }
  return { script: null, module: null };
}

/** The folders of scripts, where links lead to. */
function besideAll(names: readonly string[], { directories, isOurs }: SearchGround): Set<string> {
  const paths = names.flatMap((name) => [...directories].map((directory) => resolve(directory, name)));
  return new Set(
    [...new Set(paths)].filter(isOurs).flatMap((path) => [dirname(path), dirname(landingPath(path) ?? path)]),
  );
}

function ownModules(directories: Iterable<string>, { list }: SearchGround): PythonFinds {
  const paths: string[] = [];
  const folders: string[] = [];
  for (const directory of directories)
    for (const { name } of list(directory)) {
      if (!MODULES.has(name.replace(/\..*$/s, ''))) continue;
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
