/** What `ramet demo` works on: a repository with a mistake, a check that finds it, and the task that mends it. */
const WRONG = `/** Whether February has 29 days, by the Gregorian calendar. */
export function isLeapYear(year) {
  return year % 4 === 0;
}
`;

const CHECK = `import { isLeapYear } from './leap-year.js';

const years = { 1900: false, 2000: true, 2023: false, 2024: true };
const wrong = Object.entries(years).filter(([year, leap]) => isLeapYear(Number(year)) !== leap);
for (const [year, leap] of wrong) console.log(year + ' should be ' + (leap ? 'a leap year' : 'no leap year'));
if (wrong.length > 0) process.exit(1);
console.log(Object.keys(years).length + ' years checked, all are right');
`;

export const DEMO_CHECK = 'check.js';

export const DEMO_FILES: Readonly<Record<string, string>> = {
  'leap-year.js': WRONG,
  [DEMO_CHECK]: CHECK,
  'package.json': '{ "name": "leap-year", "private": true, "type": "module" }\n',
};

export const DEMO_TASK: string = `Mend the rule for centuries, then show that it holds.

\`\`\`write leap-year.js
${WRONG.replace('year % 4 === 0', 'year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)')}\`\`\`

\`\`\`sh
node ${DEMO_CHECK}
\`\`\`
`;
