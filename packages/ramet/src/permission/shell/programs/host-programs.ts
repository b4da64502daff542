/**
 * Programs whose answer depends on the machine's processes, network, devices, services or users. A sandbox would change
 * it without a word, so these run outside, on arguments that are known to look only.
 */

import type { ShellWord } from '../reading/shell-word.ts';
import { type ArgumentCheck, everyWord, knownOptions } from './read-only-checks.ts';

const PS_FIELDS =
  'pid|ppid|pgid|sid|tid|user|uid|ruser|comm|cmd|args|command|ucmd|%cpu|%mem|pcpu|pmem|rss|vsz|etime|etimes|stat|state|s|tty|tt|start|lstart|time|nlwp|ni|pri|wchan|c|psr';
const FIELD_LIST = `(?:${PS_FIELDS})=?(?:,(?:${PS_FIELDS})=?)*`;

const dockerOptions: ArgumentCheck = knownOptions(
  /^-(?:[aqnlsftv]+|n=?\d+|-(?:all|quiet|no-trunc|last|latest|size|digests|tree|verbose|details|timestamps|follow|human|(?:format|filter|tail|since|until|type|last)(?:=.*)?))$/s,
);
const nothing: ArgumentCheck = (words) => words.length === 0;
const plainFlags: ArgumentCheck = everyWord(/^(?:-[A-Za-z]+|--[a-z][\w-]*(?:=[\w,./:-]*)?|[\w,.:/%-]+)$/);

const first =
  (names: RegExp, rest: ArgumentCheck): ArgumentCheck =>
  ([name, ...words]) =>
    name?.value != null && names.test(name.value) && rest(words);

const CHECKS: Readonly<Record<string, ArgumentCheck>> = {
  ps: showsProcesses,
  pgrep: knownOptions(
    /^-(?:[acdfgilnoprstuvwxGLPU]+|-(?:full|list-name|list-full|exact|count|newest|oldest|parent=\d+))$/,
  ),
  pidof: knownOptions(/^-[csqx]+$/),
  pstree: everyWord(/^-?[apulnshAc]*\d*$/),
  top: everyWord(/^(?:-?b?n?\d*|-[bn]+\d*|-o|%?[A-Z]+|-w|\d+)$/),
  // A host name after `-i` would be looked up.
  lsof: everyWord(
    /^(?:-i(?:[46]?(?:[tT][cC][pP]|[uU][dD][pP])?(?::[\d,-]+)?)?|(?:[46]?(?:tcp|udp|TCP|UDP))?:[\d,-]+|-[nPtalU]+|-[pcud]|\+[dD]|[\w./][\w./-]*|-s(?:TCP:LISTEN)?|TCP:LISTEN)$/,
  ),
  ss: everyWord(/^-[atulnpesoimx4-6]+$/),
  netstat: everyWord(/^-(?:(?=.*n)[atulnpersi]+|[is]+)$/),
  ip: showsNetwork,
  // A second name would be an address to set.
  ifconfig: (words) => words.length <= 1 && everyWord(/^(?:-a|-s|[a-z]+\d+|lo)$/)(words),
  route: everyWord(/^-n$/),
  arp: everyWord(/^-(?=.*n)[an]+$/),
  df: knownOptions(
    /^-(?:[aBhHiklmPtTxv]+|B\w+|[tx][\w.-]+|-(?:all|human-readable|si|inodes|local|portability|total|print-type|block-size=\w+|type=[\w.-]+|exclude-type=[\w.-]+|output(?:=[\w,]+)?))$/,
  ),
  free: everyWord(
    /^(?:-[bkmghltwv]+|-[cs]\d*|\d+|--(?:bytes|kibi|mebi|gibi|kilo|mega|giga|human|si|lohi|total|wide))$/,
  ),
  uptime: everyWord(/^(?:-[ps]|--pretty|--since)$/),
  // Its option for names of hosts asks the network.
  who: everyWord(/^(?:-[abdHlmpqrsTtuw]+|am|i|I)$/),
  w: everyWord(/^-[hsfu]+$/),
  users: nothing,
  id: everyWord(/^(?:-[aGgnruzZ]+|--(?:user|group|groups|name|real|zero|context)|\w[\w.-]*)$/),
  groups: everyWord(/^\w[\w.-]*$/),
  vmstat: everyWord(/^(?:-[a-zA-Z]+|\d+)$/),
  iostat: everyWord(/^(?:-[a-zA-Z]+|\d+)$/),
  lsblk: plainFlags,
  lscpu: plainFlags,
  lsusb: everyWord(/^-[tv]+$/),
  lspci: everyWord(/^-[vnk]+$/),
  lsmod: nothing,
  findmnt: plainFlags,
  mount: (words) => words.length === 0 || (words[0]?.value === '-l' && words.length === 1),
  dmesg: everyWord(/^-[TtxkuLd]+$/),
  ipcs: everyWord(/^-[a-z]+$/),
  sysctl: everyWord(/^(?:-[an]+|[a-z][\w.]*)$/),
  crontab: everyWord(/^-l$/),
  timedatectl: first(/^(?:status|show)$/, nothing),
  hostnamectl: first(/^status$/, nothing),
  'nvidia-smi': everyWord(/^-L$/),
  env: nothing,
  systemctl: first(
    /^(?:status|is-active|is-enabled|is-failed|list-units|list-timers|list-unit-files|show|cat)$/,
    everyWord(
      /^(?:--(?:no-pager|all|failed|full|user|type=\w+|state=\w+|lines=\d+)|-[al]+|-n|-n?\d+|\w[\w@.:-]*)$/,
    ),
  ),
  journalctl: everyWord(
    /^(?:--(?:no-pager|user|reverse|since|until|(?:since|until|unit|lines|priority|boot|output)=[\w :.,@+-]+)|-(?:[rbkexqa]+|[unpo]|n\d+|xe|xeu)|-\d+|[\w@.:+][\w @.:+-]*)$/,
  ),
  docker: (words) =>
    (words.length === 1 && words[0]?.value === '--version') ||
    first(/^(?:ps|images|logs|inspect|version|info|top|port|diff|history)$/, dockerOptions)(words) ||
    first(
      /^(?:container|image|volume|network|context|system)$/,
      first(/^(?:ls|list|inspect|df)$/, dockerOptions),
    )(words),
};

const PS_WORD = new RegExp(
  `^(?:[axuwlfjr]+|-(?:[AflFjHLTyw]*e[flFjHLTyw]*|[AaxuflFjHLTywd]+)|-(?:e|ax|A)?o|--no-headers?|--forest|--sort|-p|[\\d,]+|(?:--sort=)?[+-]?${FIELD_LIST})$`,
);

/** `e` without a dash shows what other processes have in their environment. */
function showsProcesses(words: readonly ShellWord[]): boolean {
  return words.every(({ value }, index) =>
    /^-[CuU]$/.test(words[index - 1]?.value ?? '')
      ? /^\w[\w.-]*$/.test(value ?? '')
      : value !== null && (PS_WORD.test(value) || /^-[CuU]$/.test(value)),
  );
}

const IP_OPTION = /^-(?:[460sjocd]|br|brief|details?|stats|statistics|json|pretty|p|color(?:=\w+)?)$/;
const IP_OBJECT = /^(?:a|addr|address|l|link|r|route|n|neigh|neighbour|ru|rule|maddr|netns)$/;
const IP_SHOWS = /^(?:show|list|ls|lst)$/;

/** A verb may be cut short, so `a` after the object is `add`: what is shown needs the whole word. */
function showsNetwork(words: readonly ShellWord[]): boolean {
  const values = words.map(({ value }) => value ?? '?');
  const at = values.findIndex((value) => !IP_OPTION.test(value));
  if (at === -1) return words.length > 0;
  const [object = '', verb, ...rest] = values.slice(at);
  if (!IP_OBJECT.test(object)) return false;
  return verb === undefined || (IP_SHOWS.test(verb) && rest.every((value) => /^[\w.:/-]+$/.test(value)));
}

/** Does its answer depend on the machine? A program that is not here may still, through the files that it names. */
export function dependsOnHost(
  name: string,
  words: readonly ShellWord[],
  ownersDiffer: boolean = OWNERS_DIFFER,
): boolean {
  if (name === 'printenv') return words.length === 0;
  if (name === 'hostname') return words.some(({ value }) => /^-[iIAfd]/.test(value ?? ''));
  if (Object.hasOwn(CHECKS, name)) return true;
  return ownersDiffer && (showsOwners(name, words) || testsOwner(name, words));
}

export function hostProgramLooks(name: string, words: readonly ShellWord[]): boolean {
  const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
  return check?.(words) ?? false;
}

/** An ordinary user's sandbox knows no user but him: files of others would seem to be nobody's. */
const OWNERS_DIFFER = process.getuid?.() !== 0;

function showsOwners(name: string, words: readonly ShellWord[]): boolean {
  const values = words.map(({ value }) => value ?? '');
  if (name === 'ls' || name === 'dir')
    return values.some((value) => /^-[A-Za-z1]*[lngo]|^--format/.test(value));
  if (name === 'vdir') return true;
  if (name === 'stat') {
    const format = values.find((value) => /%/.test(value));
    return format === undefined || /%[ugUG]/.test(format);
  }
  if (name === 'find')
    return values.some((value) => /^-(?:ls|user|group|nouser|nogroup|uid|gid)$|%[ugUG]/.test(value));
  return false;
}

function testsOwner(name: string, words: readonly ShellWord[]): boolean {
  return (name === 'test' || name === '[') && words.some(({ value }) => value === '-O' || value === '-G');
}
