/** Commands that print, and options with which one program or another writes, runs or loads something instead. */
import type { Chance } from '../kill/random.ts';

const FILES = ['f', 'VERSION', 'data.csv', 'README.md', 'f.gz', 'f.bz2', 'f.xz', 'f.zst', 'e.so', 'src/a.ts'];

/** Every program that the strict judge knows as one that prints, shows or lists, with operands that suit it. */
export const PRINTING: readonly string[] = [
  ...[
    'diff3 f VERSION data.csv',
    'diff3 -m f VERSION f',
    'nm e.so',
    'nm -C e.so',
    'size e.so',
    'strings -n 4 e.so',
    'readelf -h e.so',
  ],
  ...['objdump -f e.so', 'zstdcat f.zst', 'zstdcat -q f.zst', 'xzcat f.xz', 'zcat f.gz', 'bzcat f.bz2'],
  ...['zstd -dc f.zst', 'zstd -t f.zst', 'xz -l f.xz', 'xz -t f.xz', 'gzip -l f.gz', 'bzip2 -t f.bz2'],
  ...['gunzip -c f.gz', 'bunzip2 -t f.bz2', 'tree -L 1', 'yq -r . package.json', 'yq .name package.json'],
  ...['xmllint --noout f', 'file f', 'iconv -f utf8 f', 'base64 f', 'shuf -n 1 f', 'sort -k 1 f', 'uniq f'],
  ...[
    'xxd f',
    'hexdump -C f',
    'od -c f',
    'pr f',
    'column -t f',
    'diff f VERSION',
    'cmp f VERSION',
    'comm f f',
  ],
  ...[
    'join f f',
    'paste f f',
    'cut -c1 f',
    'fold -w 9 f',
    'fmt f',
    'nl f',
    'tac f',
    'rev f',
    'wc f',
    'du -s .',
  ],
  ...[
    'ls -l',
    'stat f',
    'grep -n a f',
    'head -1 f',
    'tail -1 f',
    'cat -A f',
    'sha256sum f',
    'cksum f',
    'jq . f',
  ],
  ...['tar -tf f', 'unzip -l f', 'zipinfo f', 'less f', 'more f', 'man ls', 'openssl dgst f', 'getconf -a'],
  ...['rg a', 'fd a', "find . -name 'f*'", 'awk 1 f', "sed -n '1p' f", 'date +%s', 'locale', 'numfmt 1'],
  ...[
    'df .',
    'free',
    'uptime',
    'who',
    'id',
    'groups',
    'ps aux',
    'pgrep -l a',
    'pidof a',
    'lsof f',
    'ss -tln',
  ],
  ...['ip addr show', 'ip rule', 'ip -6 route', 'ifconfig lo', 'route -n', 'arp -an', 'sysctl kernel.ostype'],
  ...[
    'dmesg -T',
    'lsblk',
    'lscpu',
    'findmnt',
    'mount',
    'vmstat 1 1',
    'netstat -tln',
    'git log -1',
    'git stash list',
  ],
];

const HARMFUL: readonly string[] = [
  ...[
    'output pwn',
    'output=pwn',
    'diff-program=./evil.sh',
    'diff-program ./evil.sh',
    'plugin ./e.so',
    'plugin=./e.so',
  ],
  ...[
    'trace pwn',
    'rm',
    'output-dir-flat=pwn',
    'output-dir-mirror=pwn',
    'compress-program=./evil.sh',
    'decompress',
  ],
  ...[
    'split-exp .a',
    'split-exp-file f',
    'inplace',
    'in-place',
    'pre ./evil.sh',
    'pre=./evil.sh',
    'search-zip',
  ],
  ...[
    'exec ./evil.sh',
    'exec-batch ./evil.sh',
    'hostname-bin=./evil.sh',
    'paginate',
    'compile',
    'uncompress',
    'keep',
  ],
  ...['checkpoint-action=exec=./evil.sh', 'to-command=./evil.sh', 'use-compress-program=./evil.sh', 'set=0'],
  ...[
    'temporary-directory=.',
    'log-file=pwn',
    'LOG-FILE=pwn',
    'html=./evil.sh',
    'pager=./evil.sh',
    'engine ./e.so',
  ],
  ...[
    'ext-diff',
    'textconv',
    'files0-from=f',
    'files-from=names.txt',
    'suffix=x',
    'force',
    'stdout',
    'test',
    'list',
  ],
  ...[
    'lookup',
    'valid',
    'dtdvalid http://127.0.0.1:8099/x',
    'batch names.txt',
    'write',
    'load=names.txt',
    'filelist names.txt',
  ],
];
const LETTERS = 'abcdefghiklmnopqrstuvwxzACDEFHILMOPRSTUXZ';
const VERBS = 'a add d del f flush s set c change r replace up down h1 10.0.0.1 dev lo'.split(' ');
const WORDS = [
  '@names.txt',
  '@options',
  'http://127.0.0.1:8099/x',
  'pwn',
  '-',
  '--',
  '+!./evil.sh',
  ...FILES,
];

/** One option more, somewhere behind the program: whole, cut short, as letters, or a word of another kind. */
export function addOption(script: string, chance: Chance): string {
  const words = script.split(' ');
  const at = 1 + chance.below(words.length);
  return [...words.slice(0, at), chance.pick(KINDS)(chance), ...words.slice(at)].join(' ');
}

const KINDS: readonly ((chance: Chance) => string)[] = [
  (chance) => `--${chance.pick(HARMFUL)}`,
  (chance) => {
    const option = chance.pick(HARMFUL);
    const [name = ''] = option.split(/[ =]/);
    return `--${name.slice(0, 1 + chance.below(name.length))}${option.slice(name.length)}`;
  },
  (chance) => `-${letters(chance)}`,
  (chance) => `-${letters(chance)}o pwn`,
  (chance) => `-${letters(chance)} 1 pwn`,
  (chance) => chance.pick(VERBS),
  (chance) => chance.pick(WORDS),
];

function letters(chance: Chance): string {
  return Array.from({ length: 1 + chance.below(3) }, () => chance.pick([...LETTERS])).join('');
}
