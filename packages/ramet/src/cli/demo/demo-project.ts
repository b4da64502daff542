/** What `ramet demo` works on: a repository with five functions, a mistake in each, and a check that finds them. */
import type { DemoProject } from './demo-sandbox.ts';

export interface Mistake {
  /** Of the function, its file, its agent and its branch. */
  name: string;
  /** The file as it is. */
  wrong: string;
  /** What has to replace what. */
  fix: readonly [part: string, instead: string];
  /** The commit that fixes it. */
  message: string;
}

export const MISTAKES: readonly Mistake[] = [
  {
    name: 'leap-year',
    wrong: `/** Whether February has 29 days, by the Gregorian calendar. */
export default (year) =>
  year % 4 === 0;
`,
    fix: ['year % 4 === 0', 'year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)'],
    message: 'Leave out three centuries of four',
  },
  {
    name: 'median',
    wrong: `/** The number in the middle. */
export default (numbers) => numbers.toSorted()[Math.floor(numbers.length / 2)];
`,
    fix: ['toSorted()', 'toSorted((a, b) => a - b)'],
    message: 'Sort numbers as numbers, not as text',
  },
  {
    name: 'plural',
    wrong: `/** Of an English noun. */
export default (noun) => noun + 's';
`,
    fix: ["noun + 's'", "(/[^aeiou]y$/.test(noun) ? noun.slice(0, -1) + 'ie' : noun) + 's'"],
    message: 'Write cities, not citys',
  },
  {
    name: 'roman',
    wrong: `const SIGNS = { M: 1000, D: 500, C: 100, L: 50, X: 10, V: 5, I: 1 };

/** A number as the Romans wrote it. */
export default (number) => {
  let text = '';
  for (const [sign, value] of Object.entries(SIGNS)) {
    for (; number >= value; number -= value) text += sign;
  }
  return text;
};
`,
    fix: [
      '{ M: 1000, D: 500, C: 100, L: 50, X: 10, V: 5, I: 1 }',
      '{ M: 1000, CM: 900, D: 500, CD: 400, C: 100, XC: 90, L: 50, XL: 40, X: 10, IX: 9, V: 5, IV: 4, I: 1 }',
    ],
    message: 'Write 4 as IV',
  },
  {
    name: 'slug',
    wrong: `/** A title as a part of an address. */
export default (title) => title.toLowerCase().replaceAll(' ', '-');
`,
    fix: ["replaceAll(' ', '-')", "match(/[a-z0-9]+/g).join('-')"],
    message: 'Keep only letters and digits in addresses',
  },
];

const CHECK = `const cases = {
  'leap-year': [[1900, false], [2000, true], [2023, false], [2024, true]],
  median: [[[10, 9, 1], 9], [[3, 1, 2], 2]],
  plural: [['city', 'cities'], ['day', 'days']],
  roman: [[4, 'IV'], [17, 'XVII']],
  slug: [['Two  words!', 'two-words']],
};
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(cases);
let wrong = 0;
for (const name of wanted) {
  const { default: run } = await import('./' + name + '.js');
  for (const [input, expected] of cases[name]) {
    const found = run(input);
    if (found === expected) continue;
    wrong += 1;
    console.log(name + ' of ' + JSON.stringify(input) + ' is ' + found + ', should be ' + expected);
  }
}
if (wrong > 0) process.exit(1);
console.log(wanted.join(', ') + ': right');
`;

export const DEMO_CHECK = 'node check.js';

export const FIVE_FUNCTIONS: DemoProject = {
  name: 'five-functions',
  check: 'check.js',
  message: 'Five functions with a mistake each',
  settings: {
    permissions: { defaultMode: 'acceptEdits', allow: [`Bash(${DEMO_CHECK}:*)`, 'Bash(git commit:*)'] },
  },
  files: {
    ...Object.fromEntries(MISTAKES.map(({ name, wrong }) => [`${name}.js`, wrong])),
    'check.js': CHECK,
    'package.json': '{ "name": "five-functions", "private": true, "type": "module" }\n',
  },
};
