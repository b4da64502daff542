/** Which test files cite which requirement, and the page that shows it. */
import { REQUIREMENTS } from '../requirements.ts';
import { filesMatching } from './repository.ts';
import { parseFiles } from './syntax.ts';

export const REQUIREMENTS_PAGE = 'docs/requirements.md';

/** `EXEC-3`, and no `UTF-8` or `SHA-256`: only words that begin a requirement's name. */
const ID = new RegExp(`\\b(?:${[...families()].join('|')})-\\d+\\b`, 'g');

function families(): Set<string> {
  return new Set(Object.keys(REQUIREMENTS).map((id) => id.slice(0, id.lastIndexOf('-'))));
}

export interface Citation {
  id: string;
  file: string;
}

export function citedIds(title: string): string[] {
  return title.match(ID) ?? [];
}

/** Every citation once per file, in order of files. */
export function citations(): Citation[] {
  const files = parseFiles(filesMatching(['packages/**/*.test.ts', 'examples/**/*.test.ts']));
  return files.flatMap(({ path, testTitles }) =>
    [...new Set(testTitles.flatMap(citedIds))].map((id) => ({ id, file: path })),
  );
}

export function requirementsPage(found: readonly Citation[]): string {
  const rows = Object.entries(REQUIREMENTS).map(([id, promise]) => {
    const files = found.filter((citation) => citation.id === id).map(({ file }) => `\`${file}\``);
    return `| ${id} | ${promise} | ${files.length > 0 ? files.join('<br>') : 'not yet'} |`;
  });
  const kept = new Set(found.map(({ id }) => id)).size;
  return [
    '# Requirements and the tests that cite them',
    '',
    `Written by \`npm run fix\` from \`packages/ramet/test/requirements.ts\` and the titles of all tests: ${kept} of`,
    `${rows.length} promises are cited. A citation says that a test checks part of a promise, not all of it.`,
    '',
    '| id | promise | tests |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
