/**
 * What `ramet demo` works on: a repository with five mistakes, a check that finds them, and the task that mends them.
 */
interface Mistake {
  file: string;
  wrong: string;
  /** What has to replace what. */
  mend: readonly [part: string, instead: string];
}

const MISTAKES: readonly Mistake[] = [
  {
    file: 'leap-year.js',
    wrong: `/** Whether February has 29 days, by the Gregorian calendar. */
export default (year) =>
  year % 4 === 0;
`,
    mend: ['year % 4 === 0', 'year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)'],
  },
  {
    file: 'median.js',
    wrong: `/** The number in the middle. */
export default (numbers) => numbers.toSorted()[Math.floor(numbers.length / 2)];
`,
    mend: ['toSorted()', 'toSorted((a, b) => a - b)'],
  },
  {
    file: 'plural.js',
    wrong: `/** Of an English noun. */
export default (noun) => noun + 's';
`,
    mend: ["noun + 's'", "(/[^aeiou]y$/.test(noun) ? noun.slice(0, -1) + 'ie' : noun) + 's'"],
  },
  {
    file: 'roman.js',
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
    mend: [
      '{ M: 1000, D: 500, C: 100, L: 50, X: 10, V: 5, I: 1 }',
      '{ M: 1000, CM: 900, D: 500, CD: 400, C: 100, XC: 90, L: 50, XL: 40, X: 10, IX: 9, V: 5, IV: 4, I: 1 }',
    ],
  },
  {
    file: 'slug.js',
    wrong: `/** A title as a part of an address. */
export default (title) => title.toLowerCase().replaceAll(' ', '-');
`,
    mend: ["replaceAll(' ', '-')", "match(/[a-z0-9]+/g).join('-')"],
  },
];

const CHECK = `const cases = {
  'leap-year': [[1900, false], [2000, true], [2023, false], [2024, true]],
  median: [[[10, 9, 1], 9], [[3, 1, 2], 2]],
  plural: [['city', 'cities'], ['day', 'days']],
  roman: [[4, 'IV'], [1994, 'MCMXCIV']],
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

export const DEMO_CHECK = 'check.js';

export const DEMO_CHANGED: readonly string[] = MISTAKES.map(({ file }) => file);

export const DEMO_FILES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(MISTAKES.map(({ file, wrong }) => [file, wrong])),
  [DEMO_CHECK]: CHECK,
  'package.json': '{ "name": "five-functions", "private": true, "type": "module" }\n',
};

export const DEMO_TASK: string = taskOf(MISTAKES.map(agentOf).join(''));

/** The same with one agent in full: the others differ in nothing but the file. */
export const DEMO_TASK_SHOWN: string = taskOf(
  `${MISTAKES.slice(0, 1).map(agentOf).join('')}# and so on for ${DEMO_CHANGED.slice(1).join(', ')}\n`,
);

/** \`|| true\`: that the check fails is why the task is there. */
function taskOf(agents: string): string {
  return `See what is wrong, let five agents mend one file each, and check.

\`\`\`sh
node ${DEMO_CHECK} || true
\`\`\`

\`\`\`\`agents
${agents}\`\`\`\`

\`\`\`sh
node ${DEMO_CHECK}
\`\`\`
`;
}

/** Without a type: a fork. */
function agentOf({ file, wrong, mend: [part, instead] }: Mistake): string {
  const prompt = `\`\`\`write ${file}
${wrong.replace(part, () => instead)}\`\`\`
\`\`\`sh
node ${DEMO_CHECK} ${file.replace('.js', '')}
\`\`\``;
  return `- description: mend ${file}\n  prompt: |\n${prompt.replace(/^(?=.)/gm, '    ')}\n`;
}
