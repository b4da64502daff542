/**
 * Rules in `.claude/rules`: instructions in several files. One with `paths` in its front matter is for some files only;
 * agents are told where it is, and read it when they come to such files. That keeps the shared prefix short and the same
 * for all.
 */
import { filesEndingIn, readFound, scanFolder } from '../../extensions/folder-scan.ts';
import {
  frontProblem,
  plainText,
  readFields,
  splitFrontMatter,
} from '../../extensions/front-matter/front-matter.ts';

const KNOWN: ReadonlySet<string> = new Set(['paths', 'description', 'globs', 'alwaysApply']);
const MOST_PATHS = 20;

export interface ProjectRule {
  path: string;
  real: string;
  text: string;
}

export interface RulesFound {
  rules: ProjectRule[];
  problems: string[];
}

/** `boundary`: what lies outside of it, once links are followed, is refused. */
export async function readRules(folder: string, boundary: string): Promise<RulesFound> {
  const found: RulesFound = { rules: [], problems: [] };
  const { files, unreadable } = scanFolder(
    { path: folder, source: 'project', boundary },
    filesEndingIn('.md'),
  );
  found.problems.push(...unreadable.map(({ path, reason }) => `${path}: ${reason}`));
  for (const file of files) {
    const read = readFound(file);
    if ('problem' in read) found.problems.push(`${file.path}: ${read.problem}`);
    else
      found.rules.push({
        path: file.path,
        real: file.real,
        text: await ruleText(read.text, file.path, found),
      });
  }
  return found;
}

async function ruleText(written: string, path: string, found: RulesFound): Promise<string> {
  const text = plainText(written);
  const front = splitFrontMatter(text);
  if (front === null) return text;
  const problem = frontProblem(front);
  if (problem !== null) {
    found.problems.push(`${path}:${problem.line}: ${problem.message}`);
    return text;
  }
  const reading =
    readFields(front, KNOWN, null, null) ??
    readFields(front, KNOWN, (await import('../../extensions/front-matter/yaml-fields.ts')).yamlFields, null);
  const stated = reading?.fields.get('paths');
  const paths = pathsOf(stated?.value);
  const wrong =
    reading?.problems.find(({ level }) => level === 'error') ??
    (stated !== undefined && paths === null ? { line: stated.line, message: NO_PATHS } : null);
  if (wrong !== null)
    found.problems.push(`${path}:${wrong.line}: ${wrong.message}; the rule counts for all files`);
  if (wrong !== null || paths === null) return front.body;
  const more = paths.length - MOST_PATHS;
  const rest = more > 0 ? [`${more} more patterns in its first lines`] : [];
  const named = [...paths.slice(0, MOST_PATHS), ...rest].join(', ');
  return `For files that match ${named}: read this file before you work on them.`;
}

const NO_PATHS = 'paths is no list of paths: write paths: ["src/**/*.ts"]';

/** Null for what is no list of texts, or an empty one: its author meant some files, and nobody knows which. */
function pathsOf(value: unknown): string[] | null {
  // A list that is not closed is read as a text, and no file matches that; `[ab]*.ts` is a pattern.
  const isCut =
    typeof value === 'string' && value.startsWith('[') && value.split('[').length !== value.split(']').length;
  // A comma in braces belongs to the pattern.
  const stated = typeof value === 'string' && !isCut ? value.split(/,(?![^{]*\})/) : value;
  if (!Array.isArray(stated) || !stated.every((one): one is string => typeof one === 'string')) return null;
  const paths = stated.map((path) => path.trim().replace(/^["']|["']$/g, '')).filter((path) => path !== '');
  return paths.length === 0 ? null : paths;
}
