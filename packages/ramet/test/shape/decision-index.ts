/** The list of decisions in docs/README.md, made of the titles of their pages. */
import { filesMatching, readText } from './repository.ts';

export const INDEX_PAGE = 'docs/README.md';

const LIST = /(\n## Decisions\n\n).*$/s;

export function withDecisions(page: string): string {
  return page.replace(LIST, (_, heading: string) => `${heading}${decisionList()}`);
}

function decisionList(): string {
  return filesMatching('docs/decisions/*.md')
    .map((path) => {
      const title = readText(path).split('\n')[0]?.replace(/^# /, '') ?? '';
      return `- [${title}](${path.slice('docs/'.length)})\n`;
    })
    .join('');
}
