/**
 * What a Markdown document claims to exist. The rule, also in CONTRIBUTING.md:
 * - a link without a scheme is a path from the document;
 * - a word in backticks or in a code block that has a slash and ends in a known extension or a slash is a path
 *   from the root, from `packages/ramet` or from its `src`;
 * - `npm run x`, `npm test` and `npm start` name scripts, of the package after `-w` when there is one.
 * A word that begins with `~`, `$`, `<`, `/` or `..`, or holds a placeholder, is about the reader's own machine.
 * `dist/` and `node_modules/` are made, not kept.
 */
export interface DocumentReferences {
  links: string[];
  paths: string[];
  scripts: { name: string; workspace: string | undefined }[];
}

const EXTENSION = /\.(ts|js|md|json|svg|yaml|yml|toml)$/;
const KEPT_ROOTS = /^(packages|docs|examples|bench|campaigns|\.ci)\//;
const ELSEWHERE = /^([~$<@/]|\.\.)|[<>*{}$]|:\/\/|^(dist|node_modules)\/|^packages\/ramet\/dist\//;

export function documentReferences(markdown: string): DocumentReferences {
  const fences = markdown.match(/^```[\s\S]*?^```$/gm) ?? [];
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, '');
  const words = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word);
  const shell = fences
    .filter((fence) => /^```(sh|bash|console)\n/.test(fence))
    .flatMap((fence) => fence.split(/\s+/));
  return {
    links: [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, to = '']) => to)
      .filter((to) => !/^(\w+:|#)/.test(to)),
    paths: [...new Set([...words, ...shell].map(withoutPunctuation).filter(isPath))],
    scripts: scriptsIn(markdown),
  };
}

function withoutPunctuation(word: string): string {
  return word.replace(/^["'(]+|["'),.;:]+$/g, '');
}

function isPath(word: string): boolean {
  if (/\s/.test(word) || !word.includes('/') || ELSEWHERE.test(word)) return false;
  return EXTENSION.test(word) || word.endsWith('/') || KEPT_ROOTS.test(word);
}

function scriptsIn(text: string): DocumentReferences['scripts'] {
  const runs = text.matchAll(
    /\bnpm (?:run (?:--silent )?([\w:-]+)|(test|start)\b)(?:[^`&;|\n]*? -w ([\w./-]+))?/g,
  );
  return [...runs].map(([, run, short, workspace]) => ({ name: run ?? short ?? '', workspace }));
}
