/**
 * Source files as TypeScript's own parser sees them, so that no rule here depends on how a line is laid out.
 * The API is called unstable; the compiler is pinned to one version, and this is the only file that knows it.
 */
import { join, relative } from 'node:path';
import {
  isAsExpression,
  isCallExpression,
  isClassDeclaration,
  isInterfaceDeclaration,
  isStringLiteral,
  isTypeAliasDeclaration,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { API, type Program } from 'typescript/unstable/sync';
import { ROOT } from './repository.ts';

export interface ParsedFile {
  path: string;
  /** What it imports, by value, by type or late: `../schema/ids.ts`, `node:fs`, `yaml`. */
  imports: string[];
  /** Interfaces, type aliases and classes declared and exported here. */
  exportedTypes: string[];
  /** Lines (from 1) with an `as` that is not `as const`. */
  castLines: number[];
  /** The titles given to `describe` and `test`, also through `.each`. */
  testTitles: string[];
}

export function parseFiles(paths: readonly string[]): ParsedFile[] {
  const api = new API({ cwd: ROOT });
  try {
    const snapshot = api.updateSnapshot({ openProject: join(ROOT, 'tsconfig.json') });
    const program = snapshot.getProjects()[0]?.program;
    if (program === undefined) throw new Error('tsconfig.json opens no project');
    return paths.map((path) => parse(program, path));
  } finally {
    api.close();
  }
}

function parse(program: Program, path: string): ParsedFile {
  const file = program.getSourceFile(join(ROOT, path));
  if (file === undefined) throw new Error(`${path} is not part of tsconfig.json`);
  return {
    path,
    imports: file.imports.filter(isStringLiteral).map((specifier) => specifier.text),
    exportedTypes: exportedTypes(file),
    castLines: castLines(file),
    testTitles: testTitles(file),
  };
}

function exportedTypes(file: SourceFile): string[] {
  return file.statements.flatMap((statement) => {
    const declares =
      isInterfaceDeclaration(statement) || isTypeAliasDeclaration(statement) || isClassDeclaration(statement);
    if (!declares || statement.name === undefined) return [];
    const exported = statement.modifiers?.some((modifier) => modifier.kind === SyntaxKind.ExportKeyword);
    return exported ? [statement.name.text] : [];
  });
}

function castLines(file: SourceFile): number[] {
  return nodesOf(file)
    .filter(isAsExpression)
    .filter((cast) => textOf(file, cast.type) !== 'const')
    .map((cast) => lineOf(file, cast.type.pos));
}

function testTitles(file: SourceFile): string[] {
  return nodesOf(file)
    .filter(isCallExpression)
    .filter((call) => /^(describe|test)\b/.test(textOf(file, call.expression)))
    .flatMap((call) => (call.arguments[0] === undefined ? [] : [textOf(file, call.arguments[0])]))
    .filter((argument) => /^['"`]/.test(argument))
    .map((argument) => argument.slice(1, -1));
}

function nodesOf(root: Node): Node[] {
  const nodes: Node[] = [];
  const visit = (node: Node): undefined => {
    nodes.push(node);
    node.forEachChild(visit);
  };
  visit(root);
  return nodes;
}

function textOf(file: SourceFile, node: Node): string {
  return file.text.slice(node.pos, node.end).trim();
}

function lineOf(file: SourceFile, position: number): number {
  return file.text.slice(0, position).split('\n').length;
}

/** Where a relative import leads, as a path from the root; `undefined` for packages and Node's own modules. */
export function importTarget(from: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? relative(ROOT, join(ROOT, from, '..', specifier)) : undefined;
}
