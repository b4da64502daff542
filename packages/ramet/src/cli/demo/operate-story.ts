/**
 * What `ramet demo operate` works on: a repository with nothing but a check, eight tasks, and a model that plays their
 * authors. One writes a mistake first, and two change one place in one file without saying so.
 */
import type { startEmulator } from '../../emulator/server.ts';
import type { DemoProject } from './demo-sandbox.ts';

export type PlayedModel = NonNullable<NonNullable<Parameters<typeof startEmulator>[0]>['respond']>;
export type PlayedAnswer = Exclude<Awaited<ReturnType<PlayedModel>>, undefined>;

interface StoryTask {
  title: string;
  after: readonly string[];
  /** A new file, or a line for the index. */
  file?: readonly [path: string, content: string];
  line?: string;
  /** What the first attempt writes instead. */
  wrong?: string;
}

const WORDS = "import words from './words.js';\n\n";
const END = '// (end of the list)';

const STORY: Readonly<Record<string, StoryTask>> = {
  T001: {
    title: 'Split a text into words in words.js',
    after: [],
    file: ['words.js', 'export default (text) => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];\n'],
  },
  T002: {
    title: 'Count the words of a text in count.js',
    after: ['T001'],
    file: ['count.js', `${WORDS}export default (text) => words(text).length;\n`],
  },
  T003: {
    title: 'Write a title with capitals in title.js',
    after: ['T001'],
    file: [
      'title.js',
      `${WORDS}export default (text) => words(text).map((word) => word[0].toUpperCase() + word.slice(1)).join(' ');\n`,
    ],
  },
  T004: {
    title: 'Make an address of a title in slug.js',
    after: ['T001'],
    file: ['slug.js', `${WORDS}export default (text) => words(text).join('-');\n`],
    wrong: `${WORDS}export default (text) => words(text).join('_');\n`,
  },
  T005: {
    title: 'Shorten a name to initials in initials.js',
    after: ['T001'],
    file: [
      'initials.js',
      `${WORDS}export default (text) => words(text).map((word) => word[0].toUpperCase()).join('');\n`,
    ],
  },
  T006: {
    title: 'Offer counting and titles in the index',
    // The same as those of T007: the two begin together, and neither knows of the other.
    after: ['T002', 'T003', 'T005'],
    line: "export { default as count } from './count.js';\nexport { default as title } from './title.js';",
  },
  T007: {
    title: 'Offer initials in the index',
    after: ['T002', 'T003', 'T005'],
    line: "export { default as initials } from './initials.js';",
  },
  T008: {
    title: 'Show all of it in USAGE.md',
    after: ['T004', 'T006', 'T007'],
    file: [
      'USAGE.md',
      "# Usage\n\n```js\nimport { count, initials, title } from './index.js';\nimport slug from './slug.js';\n```\n",
    ],
  },
};

export const STORY_IDS: readonly string[] = Object.keys(STORY);

export const STORY_LIST: string = `# Words

${Object.entries(STORY)
  .map(
    ([id, { title, after }]) =>
      `- [ ] ${id} [P] ${title}${after.length === 0 ? '' : ` (depends on ${after.join(', ')})`}`,
  )
  .join('\n')}
`;

const CHECK = `import { existsSync } from 'node:fs';
const cases = {
  words: ['Two  words!', 'two,words'],
  count: ['one two three', '3'],
  title: ['the quiet sea', 'The Quiet Sea'],
  slug: ['The quiet sea', 'the-quiet-sea'],
  initials: ['ada king lovelace', 'AKL'],
};
let wrong = 0;
for (const [name, [input, expected]] of Object.entries(cases)) {
  if (!existsSync(name + '.js')) continue;
  const { default: run } = await import('./' + name + '.js');
  const found = String(run(input));
  if (found !== expected) wrong = 1, console.log(name + ': ' + found + ', should be ' + expected);
}
await import('./index.js');
process.exit(wrong);
`;

export const STORY_PROJECT: DemoProject = {
  name: 'words',
  check: 'check.js',
  message: 'An index, a check, and nothing else yet',
  files: {
    'index.js': `// What this library offers:\n${END}\n`,
    'check.js': CHECK,
    'package.json': '{ "name": "words", "private": true, "type": "module" }\n',
  },
};

/** Plays the agent of whichever task the request is about. */
export function storyAnswer({
  opening,
  turn,
}: Pick<Parameters<PlayedModel>[0], 'opening' | 'turn'>): PlayedAnswer {
  const id = /^Task (T\d{3}): /m.exec(opening)?.[1] ?? '';
  const { file, line, wrong } = STORY[id] ?? {};
  const isRetry = opening.includes('An earlier attempt failed');
  if (file !== undefined && turn === 0) {
    const [path, right] = file;
    return call('Write', { file_path: path, content: isRetry ? right : (wrong ?? right) });
  }
  if (line !== undefined && turn === 0) return call('Read', { file_path: 'index.js' });
  if (line !== undefined && turn === 1)
    return call('Edit', { file_path: 'index.js', old_string: END, new_string: `${line}\n${END}` });
  return { text: `${id} is done.` };
}

function call(name: string, input: Record<string, unknown>): PlayedAnswer {
  return { tool_use: [{ name, input }] };
}
