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
  const wrong = isList(stated?.value)
    ? reading?.problems.find(({ level }) => level === 'error')
    : { line: stated?.line, message: 'paths is no list: write paths: ["src/**/*.ts"]' };
  if (wrong !== undefined) {
    found.problems.push(`${path}:${wrong.line}: ${wrong.message}; the rule counts for all files`);
    return front.body;
  }
  const paths = pathsOf(stated?.value);
  if (paths.length === 0) return front.body;
  return `For files that match ${paths.join(', ')}: read this file before you work on them.`;
}

/** A list that is not closed is read as a text, and no file matches that; `[ab]*.ts` is a pattern. */
function isList(value: unknown): boolean {
  if (typeof value === 'string')
    return !value.startsWith('[') || value.split('[').length === value.split(']').length;
  return value === undefined || value === null || Array.isArray(value);
}

function pathsOf(value: unknown): string[] {
  // A comma in braces belongs to the pattern.
  const stated = typeof value === 'string' ? value.split(/,(?![^{]*\})/) : value;
  const paths = Array.isArray(stated) ? stated.map(String) : [];
  return paths
    .map((path) => path.trim().replace(/^["']|["']$/g, ''))
    .filter((path) => path !== '')
    .slice(0, MOST_PATHS);
}
