/** Which test files cite which requirement, and the page that shows it. */
import { MISSING, NOT_YET, REQUIREMENTS } from '../requirements.ts';
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

export type Standing = 'whole' | 'part' | typeof NOT_YET;

export function standingOf(id: string): Standing {
  const missing = MISSING[id];
  if (missing === undefined) return 'whole';
  return missing === NOT_YET ? NOT_YET : 'part';
}

export function requirementsPage(found: readonly Citation[]): string {
  const ids = Object.keys(REQUIREMENTS);
  const count = (standing: Standing): number => ids.filter((id) => standingOf(id) === standing).length;
  const rows = ids.map((id) => {
    const files = found.filter((citation) => citation.id === id).map(({ file }) => `\`${file}\``);
    const standing = standingOf(id);
    const kept = standing === 'part' ? `part; missing: ${MISSING[id]}` : standing;
    return `| ${id} | ${REQUIREMENTS[id]} | ${kept} | ${files.join('<br>')} |`;
  });
  return [
    '# Requirements and the tests that cite them',
    '',
    'Written by `npm run fix` from `packages/ramet/test/requirements.ts` and the titles of all tests. Of',
    `${ids.length} promises ${count('whole')} are kept whole, ${count('part')} in part and ${count(NOT_YET)} not yet, as people`,
    'judged who read the tests.',
    '',
    '| id | promise | kept | tests |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
