/**
 * Reads a script's syntax tree. Every kind of node is either known here or unclear: nothing is passed over.
 *
 * Invariants
 * 1. Every command that could run is in `commands`, wherever it stands: in lists, pipes, substitutions, loops.
 * 2. Every file that a redirect opens is in `files`.
 * 3. What the grammar could not read, or reads differently from bash, is in `unclear`.
 */
import { directoriesOf, eitherPlace, moved, placesAt } from './follow-directory.ts';
import { namesSet } from './moving-words.ts';
import type { ShellNode, ShellParser } from './parse-shell.ts';
import { evaluatesUnknown, readArithmetic, readTest } from './read-expression.ts';
import { readRedirect } from './read-redirect.ts';
import { checkExpansion, hiddenText, unreadable } from './shell-limits.ts';
import type { ShellAssignment, ShellCommand, ShellReading } from './shell-reading.ts';
import { isWord, type ShellWalk } from './shell-walk.ts';
import { readWord, type ShellWord } from './shell-word.ts';

export function readShell(
  parser: ShellParser,
  script: string,
  directories: readonly string[] | null,
): ShellReading {
  const places = placesAt(directories);
  const walk: ShellWalk = {
    commands: [],
    files: [],
    variables: [],
    unclear: [],
    evaluated: [],
    places,
    statements: (nodes) => readStatements(walk, nodes),
    argument: (node) => readArgument(walk, node),
    inside: (node) => readInside(walk, node),
  };
  const problem = unreadable(script);
  if (problem !== null) walk.unclear.push(problem);
  parser.read(script, (root) => {
    if (root.hasError) walk.unclear.push('its syntax');
    if (hiddenText(root)) walk.unclear.push('text the grammar passes over');
    readStatements(walk, root.children);
  });
  if (evaluatesUnknown(walk)) walk.unclear.push('arithmetic on what a variable holds');
  return walk;
}

/** Signs and words between statements. */
const PUNCTUATION: ReadonlySet<string> = new Set(
  '; & && || | |& ;; ;& ;;& \n ( ) { } ! in do done then fi if elif else while until for case esac $( ` <( >( comment'.split(
    ' ',
  ),
);

function readStatements(walk: ShellWalk, nodes: readonly ShellNode[]): void {
  for (const node of nodes) readStatement(walk, node);
}

function readStatement(walk: ShellWalk, node: ShellNode): void {
  const read = READERS.get(node.type);
  if (read !== undefined) read(walk, node);
  else if (!PUNCTUATION.has(node.type) && node.text.trim() !== '') {
    walk.unclear.push(kindOf(node));
    readKnownParts(walk, node);
  }
}

/** What is unclear as a whole may still hold commands that a rule denies. */
function readKnownParts(walk: ShellWalk, node: ShellNode): void {
  for (const child of node.children) {
    if (READERS.has(child.type)) readStatement(walk, child);
    else readKnownParts(walk, child);
  }
}

type NodeReader = (walk: ShellWalk, node: ShellNode) => void;

const readChildren: NodeReader = (walk, node) => readStatements(walk, node.children);

const READERS: ReadonlyMap<string, NodeReader> = new Map<string, NodeReader>([
  ['command', readCommand],
  ['list', readChildren],
  ['if_statement', readChildren],
  ['elif_clause', readChildren],
  ['else_clause', readChildren],
  ['negated_command', readChildren],
  ['redirected_statement', readChildren],
  ['variable_assignments', readChildren],
  ['compound_statement', readBraces],
  ['pipeline', readApart],
  ['subshell', readApart],
  ['command_substitution', readApart],
  ['process_substitution', readApart],
  ['while_statement', readLoop],
  ['do_group', readLoop],
  ['for_statement', readLoop],
  ['case_statement', readCase],
  ['case_item', readCase],
  ['test_command', readTest],
  ['variable_assignment', (walk, node) => void walk.variables.push(readAssignment(walk, node))],
  ['declaration_command', readDeclaration],
  ['unset_command', readDeclaration],
  ['file_redirect', readRedirect],
  ['heredoc_redirect', readRedirect],
  ['herestring_redirect', readRedirect],
]);

/** `{ ... }` holds statements, `(( ... ))` a sum. */
function readBraces(walk: ShellWalk, node: ShellNode): void {
  if (node.firstChild?.type === '((') readArithmetic(walk, node);
  else readStatements(walk, node.children);
}

function kindOf({ type }: ShellNode): string {
  if (type === 'function_definition') return 'a function';
  return type === 'ERROR' ? 'its syntax' : type.replaceAll('_', ' ');
}

function readCommand(walk: ShellWalk, node: ShellNode): void {
  const assignments: ShellAssignment[] = [];
  const words: ShellWord[] = [];
  const sources: string[] = [];
  for (const child of node.children) {
    if (child.type.endsWith('redirect')) readRedirect(walk, child);
    else {
      sources.push(child.text);
      if (child.type === 'variable_assignment') assignments.push(readAssignment(walk, child));
      else words.push(readArgument(walk, child));
    }
  }
  const directories = directoriesOf(walk.places);
  walk.commands.push({ words, assignments, source: sources.join(' '), directories });
  noteEffects(walk, { words, assignments });
}

/**
 * What a builtin changes in the shell that reads on. The grammar takes some lists apart in other ways than bash, so each
 * `cd` may have failed, whatever stands behind it.
 */
function noteEffects(walk: ShellWalk, command: Pick<ShellCommand, 'words' | 'assignments'>): void {
  const values = command.words.map(({ value }) => value);
  const ground = { variables: walk.variables, touched: true, steered: false, isBash: true };
  const isHidden = values[0] !== 'cd' && values.includes('cd');
  const { succeeded, failed } = moved(walk.places, command, ground);
  walk.places = isHidden ? null : eitherPlace(failed, succeeded);
  for (const name of namesSet(values)) if (name !== null) walk.variables.push({ name, value: null });
  if (!values.includes('read')) return;
  for (const name of values)
    if (name !== null && /^\w+$/.test(name)) walk.variables.push({ name, value: null });
}

/** A word, with the commands inside it. */
function readArgument(walk: ShellWalk, node: ShellNode): ShellWord {
  readInside(walk, node);
  return readWord(node, (reason) => walk.unclear.push(reason));
}

/** Commands and arithmetic inside a word. */
function readInside(walk: ShellWalk, node: ShellNode): void {
  if (node.type === 'command_substitution' || node.type === 'process_substitution') readApart(walk, node);
  else if (node.type === 'arithmetic_expansion') readArithmetic(walk, node);
  else {
    const problem = node.type === 'expansion' ? checkExpansion(node.text) : null;
    if (problem !== null) walk.unclear.push(problem);
    for (const child of node.children) readInside(walk, child);
  }
}

/** What runs in a shell of its own cannot move this one. */
function readApart(walk: ShellWalk, node: ShellNode): void {
  const { places } = walk;
  readStatements(walk, node.children);
  walk.places = places;
}

function readLoop(walk: ShellWalk, node: ShellNode): void {
  const { places: before, commands, files } = walk;
  const [firstCommand, firstFile] = [commands.length, files.length];
  let name = '';
  for (const child of node.children) {
    if (child.type === 'select') walk.unclear.push('a menu');
    else if (child.type === 'variable_name') {
      name = child.text;
      walk.variables.push({ name, value: null });
    } else if (isWord(child)) {
      readArgument(walk, child);
      walk.variables.push({ name, value: null, source: child.text });
    } else readStatement(walk, child);
  }
  // Each round may move on from where the last one ended.
  if (walk.places === before) return;
  walk.places = null;
  for (const part of [...commands.slice(firstCommand), ...files.slice(firstFile)]) part.directories = null;
}

function readCase(walk: ShellWalk, node: ShellNode): void {
  for (const child of node.children) {
    if (child.type === 'case_item') readCase(walk, child);
    else if (child.type === 'case') continue;
    else if (isWord(child) || child.type === 'extglob_pattern') readArgument(walk, child);
    else readStatement(walk, child);
  }
}

function readAssignment(walk: ShellWalk, node: ShellNode): ShellAssignment {
  const [target, ...rest] = node.children;
  const value = rest.at(-1);
  if (target?.type !== 'variable_name') walk.unclear.push('an assignment to a part of a variable');
  if (value === undefined || !isWord(value)) {
    if (value !== undefined) readInside(walk, value);
    return { name: target?.text ?? '', value: value?.type === 'array' ? null : '' };
  }
  const word = readArgument(walk, value);
  // Arithmetic gives a number, whichever.
  const given = value.type === 'arithmetic_expansion' ? '0' : word.value;
  return { name: target?.text ?? '', value: given, source: value.text };
}

/** export, declare, local, readonly, unset: names and assignments; options can make a name mean something else. */
function readDeclaration(walk: ShellWalk, node: ShellNode): void {
  const [keyword, ...rest] = node.children;
  for (const child of rest) {
    if (child.type === 'variable_assignment') walk.variables.push(readAssignment(walk, child));
    else if (child.type === 'variable_name') walk.variables.push({ name: child.text, value: null });
    else if (!/^-[aArxg]+$/.test(child.text))
      walk.unclear.push(`${keyword?.text ?? 'a declaration'} with ${child.text}`);
  }
}
