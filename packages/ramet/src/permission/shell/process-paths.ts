/**
 * Paths whose content belongs to running processes or to this machine's devices. What stands under `/proc/<number>`
 * can hold the secrets of another program, so it is always a question; the rest differs inside a sandbox.
 */
import { resolve } from 'node:path';
import { openedPath } from '../../system/landing-path.ts';
import type { JudgeKind } from './programs/read-only-programs.ts';
import type { ShellAssignment } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';

export type PathStanding = 'asks' | 'host' | 'plain';

/** Files there that are about the machine as a whole. */
const OF_THE_MACHINE =
  /^\/proc\/(?:cmdline|cpuinfo|crypto|devices|diskstats|filesystems|interrupts|loadavg|locks|meminfo|misc|modules|partitions|stat|swaps|uptime|version|vmstat|sys\/(?:kernel|vm|fs)\/[\w/.-]+)$/;
const OPEN_DEVICE = /^\/dev\/(?:null|zero|full|u?random|stdin|stdout|stderr|fd(?:\/\d+)?)$/;
/** Not `/dev/shm`, which holds ordinary files. */
const DEVICE = /^\/dev(?:\/(?!shm(?:\/|$))|$)/;
const LOOKS_AT_NAMES =
  /^(?:ls|stat|find|du|df|tree|file|readlink|realpath|dirname|basename|echo|cd|test|\[)$/;
const OPENS_NOTHING = /^(?:echo|printf|test|\[|basename|dirname|expr|seq|exit|true|false|:|sleep|date|cd)$/;
const MOST_WORDS = 200;

/** Where the words of a command lead at worst. */
export function standingOfPaths(
  words: readonly ShellWord[],
  directories: readonly string[] | null,
  kind: JudgeKind,
): PathStanding {
  const [program, ...rest] = words;
  const names = LOOKS_AT_NAMES.test(program?.value ?? '');
  const opens = !OPENS_NOTHING.test(program?.value ?? '');
  if (directories === null) return kind === 'walled' ? 'plain' : 'asks';
  if (directories.some((place) => place === '/proc' || place.startsWith('/proc/'))) return 'asks';
  let worst: PathStanding = 'plain';
  for (const word of rest.slice(0, MOST_WORDS)) {
    for (const standing of directories.map((place) => standingOf(word, place, { names, opens, kind }))) {
      if (standing === 'asks') return 'asks';
      if (standing === 'host') worst = 'host';
    }
  }
  return worst;
}

function standingOf(
  { value, start, source }: ShellWord,
  directory: string,
  { names, opens, kind }: { names: boolean; opens: boolean; kind: JudgeKind },
): PathStanding {
  if (value === null) {
    if (/^["']?(?:~|<\()/.test(source)) return source.includes('..') && kind === 'strict' ? 'asks' : 'plain';
    if (/\/proc\b/.test(source)) return 'asks';
    // Behind the wall no other process is there to be read.
    if (/[$`]/.test(source)) return opens && kind === 'strict' ? 'asks' : 'plain';
    return mayLeadToProcesses(start, directory) ? 'asks' : 'plain';
  }
  // A long option may carry a path.
  const paths = value.startsWith('-') ? value.split('=').slice(1) : [value];
  const standings = paths.filter(isPath).map((path) => standingOfPath(path, directory, names, kind));
  return (
    standings.find((standing) => standing === 'asks') ?? standings.find((each) => each === 'host') ?? 'plain'
  );
}

/** Scripts and patterns of other languages are no paths; a name that is too long is none either. */
function isPath(text: string): boolean {
  return text !== '' && text.length < 1_000 && !text.includes('\n') && !text.includes('\0');
}

function standingOfPath(path: string, directory: string, names: boolean, kind: JudgeKind): PathStanding {
  const written = resolve(directory, path);
  const places = kind === 'walled' ? [written] : [written, openedPath(directory, path) ?? written];
  if (places.some((place) => /^\/proc(?:\/|$)/.test(place) && !OF_THE_MACHINE.test(place))) return 'asks';
  if (written === '/') return names ? 'host' : 'asks';
  if (places.some((place) => OF_THE_MACHINE.test(place))) return 'host';
  if (places.some((place) => DEVICE.test(place) && !OPEN_DEVICE.test(place))) return names ? 'host' : 'asks';
  return 'plain';
}

function mayLeadToProcesses(start: string, directory: string): boolean {
  const place = resolve(directory, start);
  return place === '/' || '/proc'.startsWith(place) || place.startsWith('/proc');
}

/** A variable that leads there: what reads it is judged without knowing. */
export function namesProcesses({ value, start = '' }: ShellAssignment): boolean {
  return /\/proc\b/.test(value ?? start);
}
