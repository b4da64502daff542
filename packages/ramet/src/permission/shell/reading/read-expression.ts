/**
 * Tests and arithmetic. Bash evaluates what is in them: a subscript such as `a[$(id)]` runs a command even when
 * it comes out of a variable, so only numbers that the script itself counts are known.
 */
import type { ShellNode } from './parse-shell.ts';
import { isWord, type ShellWalk } from './shell-walk.ts';

const NUMERIC_TEST: ReadonlySet<string> = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

export function readTest(walk: ShellWalk, node: ShellNode): void {
  const extended = node.firstChild?.type === '[[';
  readTestPart(walk, node, extended);
}

function readTestPart(walk: ShellWalk, node: ShellNode, extended: boolean): void {
  const operator = node.children.find(({ type }) => type === 'test_operator')?.text ?? '';
  if (operator === '-v' || operator === '-R') walk.unclear.push(`the test ${operator}`);
  const evaluated = extended && NUMERIC_TEST.has(operator);
  for (const child of node.children) {
    if (isWord(child)) readOperand(walk, child, evaluated, extended);
    else if (child.type === 'file_redirect' || child.type === 'ERROR') walk.statements([child]);
    else if (child.childCount > 0) readTestPart(walk, child, extended);
  }
}

/** Unquoted in `[ ]`, what a variable holds is split and may become an operator that evaluates. */
function readOperand(walk: ShellWalk, node: ShellNode, evaluated: boolean, extended: boolean): void {
  const { value, splits = false } = walk.argument(node);
  const split = !extended && (splits || /expansion$/.test(node.type));
  if (!evaluated && !split) return;
  if (/^-?\d+$/.test(value ?? '') || /^"?\$(?:[#?]|\{#\w+(?:\[@\])?\})"?$/.test(node.text)) return;
  walk.evaluated.push(node.text);
}

export function readArithmetic(walk: ShellWalk, node: ShellNode): void {
  for (const child of node.children) {
    if (child.type === 'command_substitution') walk.statements([child]);
    else if (child.type === 'simple_expansion' || child.type === 'variable_name') checkNumber(walk, child);
    else if (child.type === 'word') checkNumber(walk, child);
    else if (child.childCount > 0 && ARITHMETIC.test(child.type)) readArithmetic(walk, child);
    else if (child.type !== 'number' && !/^[^\w"'`]+$/.test(child.type)) {
      walk.unclear.push(`${child.type.replaceAll('_', ' ')} in arithmetic`);
    }
  }
}

const ARITHMETIC = /^(?:binary|unary|postfix|ternary|parenthesized)_expression$/;

function checkNumber(walk: ShellWalk, node: ShellNode): void {
  if (!/^\d+$/.test(node.text)) walk.evaluated.push(node.text);
}

/** Looked at when all assignments are known: has the script itself set each of these, and only to numbers? */
export function evaluatesUnknown({ evaluated, variables }: ShellWalk): boolean {
  return evaluated.some((text) => {
    const name = /^"?\$?(\w+)"?$/.exec(text)?.[1];
    const set = variables.filter((variable) => variable.name === name);
    return set.length === 0 || !set.every(({ value }) => value !== null && /^-?\d+$/.test(value));
  });
}
