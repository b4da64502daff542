/**
 * Programs whose answer depends on the machine's processes, network, devices, services or users. A sandbox would change
 * it without a word, so these run outside, on arguments that are known to look only.
 */
import { type ArgumentCheck, everyWord } from './read-only-checks.ts';
import type { ShellWord } from './shell-word.ts';

const PS_FIELDS =
  'pid|ppid|pgid|sid|tid|user|uid|ruser|comm|cmd|args|command|ucmd|%cpu|%mem|pcpu|pmem|rss|vsz|etime|etimes|stat|state|s|tty|tt|start|lstart|time|nlwp|ni|pri|wchan|c|psr';
const FIELD_LIST = `(?:${PS_FIELDS})=?(?:,(?:${PS_FIELDS})=?)*`;

const anything: ArgumentCheck = (words) => words.every(({ value }) => value !== null);
const nothing: ArgumentCheck = (words) => words.length === 0;
const plainFlags: ArgumentCheck = everyWord(/^(?:-[A-Za-z]+|--[a-z][\w-]*(?:=[\w,./:-]*)?|[\w,.:/%-]+)$/);

const first =
  (names: RegExp, rest: ArgumentCheck): ArgumentCheck =>
  ([name, ...words]) =>
    name?.value != null && names.test(name.value) && rest(words);

const CHECKS: Readonly<Record<string, ArgumentCheck>> = {
  ps: showsProcesses,
  pgrep: anything,
  pidof: anything,
  pstree: everyWord(/^-?[apulnshAc]*\d*$/),
  top: everyWord(/^(?:-?b?n?\d*|-[bn]+\d*|-o|%?[A-Z]+|-w|\d+)$/),
  // A host name after `-i` would be looked up.
  lsof: everyWord(
    /^(?:-i(?:[46]?(?:[tT][cC][pP]|[uU][dD][pP])?(?::[\d,-]+)?)?|(?:[46]?(?:tcp|udp|TCP|UDP))?:[\d,-]+|-[nPtalU]+|-[pcud]|\+[dD]|[\w./][\w./-]*|-s(?:TCP:LISTEN)?|TCP:LISTEN)$/,
  ),
  ss: everyWord(/^-[atulnpesoimx4-6]+$/),
  netstat: everyWord(/^-(?=.*[nri])[atulnpersi]+$/),
  ip: everyWord(
    /^(?:-[46]|-br|-brief|-s|-j|-o|-c|a|addr|address|l|link|r|route|n|neigh|rule|show|list|ls|dev|[a-z]+\d+|lo)$/,
  ),
  ifconfig: everyWord(/^(?:-a|[a-z]+\d+|lo)$/),
  route: everyWord(/^-n$/),
  arp: everyWord(/^-(?=.*n)[an]+$/),
  df: anything,
  free: anything,
  uptime: anything,
  who: anything,
  w: everyWord(/^-[hsfu]+$/),
  users: nothing,
  id: anything,
  groups: anything,
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
    first(/^(?:ps|images|logs|inspect|version|info|top|port|diff|history)$/, anything)(words) ||
    first(
      /^(?:container|image|volume|network|context|system)$/,
      first(/^(?:ls|list|inspect|df)$/, anything),
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

/** Does its answer depend on the machine? A program that is not here may still, through the files that it names. */
export function dependsOnHost(
  name: string,
  words: readonly ShellWord[],
  ownersDiffer: boolean = OWNERS_DIFFER,
): boolean {
  if (name === 'printenv') return words.length === 0;
  if (name === 'hostname') return words.some(({ value }) => /^-[iIAfd]/.test(value ?? ''));
  if (Object.hasOwn(CHECKS, name)) return true;
  return ownersDiffer && showsOwners(name, words);
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
