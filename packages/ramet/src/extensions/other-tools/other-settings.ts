/** One settings file of Claude Code: its rules that narrow, and the names of everything else in it. */
import { describeProblem, parseRules, type RuleTexts } from '../../permission/policy.ts';
import { describeError, systemCode } from '../../schema/errors.ts';
import { loadFile } from '../../workspace/regular-file.ts';
import type { SettingsPlace } from '../settings/settings-place.ts';
import { type OtherTools, shownPath, type UnusedPart } from './other-tools.ts';

const LARGEST_BYTES = 1 << 20;
const NARROWING = ['deny', 'ask'] as const;
/** Tools that have another name here. */
const NAMES: Readonly<Record<string, string>> = {
  Task: 'Agent',
  MultiEdit: 'Edit',
  NotebookEdit: 'Edit',
  NotebookRead: 'Read',
  LS: 'Glob',
};

export async function readOtherSettings(path: string, place: SettingsPlace): Promise<OtherTools> {
  const shown = shownPath(path, place.root, place.userHome);
  const content = await parsedFile(path);
  if (typeof content === 'string') {
    const problem = `${shown} ${content}: deny and ask rules in it are NOT in force`;
    return { rules: [], unused: [], problems: [problem] };
  }
  const permissions = content.permissions;
  const settled: ListContext['settled'] = { texts: {}, problems: [] };
  if (isObject(permissions)) {
    for (const list of NARROWING) takeList(list, permissions[list], { shown, place, settled });
  } else if (permissions !== undefined) {
    settled.problems.push(`permissions in ${shown} is no object: deny and ask rules in it are NOT in force`);
  }
  return {
    rules: [{ place: shown, texts: settled.texts }],
    unused: unusedOf(content).map((what): UnusedPart => ({ what, source: path })),
    problems: settled.problems,
  };
}

interface ListContext {
  readonly shown: string;
  readonly place: SettingsPlace;
  readonly settled: { texts: RuleTexts; problems: string[] };
}

/** Keeps the rules that can be read, and says of each other that it does not count. */
function takeList(list: 'deny' | 'ask', value: unknown, { shown, place, settled }: ListContext): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) {
    settled.problems.push(`permissions.${list} in ${shown} is no list: its rules are NOT in force`);
    return;
  }
  const origin = { base: place.root, home: place.userHome, place: shown };
  const kept: string[] = [];
  for (const entry of value) {
    const text = typeof entry === 'string' ? translated(entry) : JSON.stringify(entry);
    const [problem] = parseRules({ [list]: [text] }, origin).problems;
    if (problem === undefined) kept.push(text);
    else settled.problems.push(`${describeProblem(problem)}: it is NOT in force`);
  }
  settled.texts = { ...settled.texts, [list]: kept };
}

function translated(rule: string): string {
  return rule
    .trim()
    .replace(/^[A-Za-z]+(?=\(|$)/, (name) => (Object.hasOwn(NAMES, name) ? (NAMES[name] ?? name) : name));
}

function unusedOf(content: Record<string, unknown>): string[] {
  const { permissions, $schema: _, ...others } = content;
  const rights = isObject(permissions) ? Object.keys(permissions).filter((key) => !isNarrowing(key)) : [];
  return [...Object.keys(others), ...rights.map((key) => `permissions.${key}`)].map((name) =>
    name.slice(0, 60),
  );
}

function isNarrowing(key: string): boolean {
  return NARROWING.some((list) => list === key);
}

/** The object in the file, or what is wrong with it. */
async function parsedFile(path: string): Promise<Record<string, unknown> | string> {
  try {
    const { bytes } = await loadFile(path);
    if (bytes.length > LARGEST_BYTES) return `has ${bytes.length} bytes, too many for settings`;
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isObject(value) ? value : 'holds no JSON object';
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return 'is no valid JSON';
    return `cannot be read (${systemCode(error) ?? describeError(error)})`;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
