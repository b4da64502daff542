/** A new script from known ones: signs put in, parts taken out, turned round, doubled or exchanged. */
import type { Chance } from '../kill/random.ts';
import { addOption, PRINTING } from './options.ts';

const PIECES = [
  ...[
    'touch pwn',
    './evil.sh',
    'touch pwn;',
    '; touch pwn',
    '&& touch pwn',
    '| sh',
    '> pwn',
    '>> pwn',
    '>pwn',
  ],
  ...['$(touch pwn)', '`touch pwn`', '"$(touch pwn)"', '<(touch pwn)', '$(cat f)', '/dev/tcp/127.0.0.1/8099'],
  ...[
    '"',
    "'",
    '\\',
    '\\\n',
    '\n',
    '$',
    '$"',
    "$'",
    '`',
    '#',
    ' #',
    ';',
    '&',
    '|',
    '(',
    ')',
    '{',
    '}',
    '[',
    ']',
  ],
  ...[
    '<',
    '>',
    '<<',
    '<<EOF\n',
    '\nEOF\n',
    "<<'EOF'\n",
    '<<<',
    '<<-E\n',
    '\nE\n',
    '>&',
    '<&',
    '&>',
    '2>',
    '>|',
  ],
  ...[
    '${x',
    '}',
    '${x:-',
    '$((',
    '))',
    '$[',
    '((',
    '[[ ',
    ' ]]',
    '[ ',
    ' ]',
    '!',
    '=',
    '+=',
    '~',
    '*',
    '?',
    ',',
  ],
  ...[
    '-o pwn',
    '-o',
    '-i',
    '--output=pwn',
    '-exec ./evil.sh {} +',
    '-delete',
    '--pre ./evil.sh',
    '-c',
    '-v',
    '--',
  ],
  ...[
    'x=',
    'PATH=.',
    'IFS=',
    'cd vendor/evil',
    'git status',
    'eval ',
    'bash -c ',
    "sh -c '",
    'xargs ',
    'command ',
  ],
  ...[
    'if ',
    'then ',
    'fi',
    'for f in ',
    'do ',
    'done',
    'while ',
    'case x in ',
    ') ',
    ';; ',
    'esac',
    'in ',
    'else ',
  ],
  ...[
    '%n',
    'w pwn',
    'system("touch pwn")',
    ' e',
    '| "sh"',
    '{a,b}',
    '{-o,pwn}',
    '@(',
    '$x',
    '"$x"',
    '${f}',
    '$@',
  ],
  ...[
    ' ',
    '\t',
    '  ',
    '0',
    'a',
    '.',
    '-',
    '/',
    ':',
    '%',
    '^',
    '@',
    '"a b"',
    "'a b'",
    'f',
    'VERSION',
    'version',
  ],
];
const LONGEST = 400;

export function mutate(chance: Chance, from: string, seeds: readonly string[]): string {
  let script = from;
  const steps = 1 + chance.below(4);
  for (let step = 0; step < steps; step++) script = chance.pick(STEPS)(script, chance, seeds);
  return script.slice(0, LONGEST);
}

type Step = (script: string, chance: Chance, seeds: readonly string[]) => string;

const putIn: Step = (script, chance) => {
  const at = chance.below(script.length + 1);
  return script.slice(0, at) + chance.pick(PIECES) + script.slice(at);
};

const takeOut: Step = (script, chance) => {
  const at = chance.below(script.length);
  return script.slice(0, at) + script.slice(at + 1 + chance.below(4));
};

const exchangeSign: Step = (script, chance) => {
  const at = chance.below(script.length);
  return script.slice(0, at) + chance.pick(PIECES) + script.slice(at + 1);
};

/** A word of one script in the place of a word of another. */
const exchangeWord: Step = (script, chance, seeds) => {
  const words = script.split(' ');
  words[chance.below(words.length)] = chance.pick(chance.pick(seeds).split(' '));
  return words.join(' ');
};

const double: Step = (script, chance) => {
  const [from, length] = [chance.below(script.length + 1), 1 + chance.below(12)];
  const part = script.slice(from, from + length);
  const at = chance.below(script.length + 1);
  return script.slice(0, at) + part + script.slice(at);
};

const join: Step = (script, chance, seeds) =>
  script + chance.pick(['; ', ' && ', ' | ', '\n', ' || ', ' ', '']) + chance.pick(seeds);

const cross: Step = (script, chance, seeds) => {
  const other = chance.pick(seeds);
  return script.slice(0, chance.below(script.length + 1)) + other.slice(chance.below(other.length + 1));
};

const wrap: Step = (script, chance) => {
  const [before = '', after = ''] = chance.pick(WRAPS);
  return before + script + after;
};

const WRAPS: readonly (readonly [string, string])[] = [
  ['echo "', '"'],
  ["echo '", "'"],
  ['echo $(', ')'],
  ['echo "$(', ')"'],
  ['cat <<EOF\n', '\nEOF'],
  ["cat <<'EOF'\n", '\nEOF'],
  ["bash -c '", "'"],
  ["sh -c '", "'"],
  ['sh -c "', '"'],
  ['(', ')'],
  ['{ ', '; }'],
  ['for f in a; do ', '; done'],
  ['if true; then ', '; fi'],
  ['case x in x) ', ';; esac'],
  ['[[ "', '" ]]'],
  ['[ "', '" ]'],
  ['x="', '"; echo "$x"'],
  ['# ', '\nls'],
  ['ls # ', ''],
  ["eval '", "'"],
  ['timeout 5 ', ''],
  ['cd src && ', ''],
  ['ls | ', ''],
];

/** Of the script, or of a command that prints, which then takes its place. */
const option: Step = (script, chance) =>
  addOption(chance.holds(0.5) ? script || 'ls' : chance.pick(PRINTING), chance);

const STEPS: readonly Step[] = [
  ...[option, option, option],
  ...[putIn, putIn, putIn, takeOut, takeOut, exchangeSign, exchangeSign],
  ...[exchangeWord, exchangeWord, double, join, join, cross, wrap],
];
