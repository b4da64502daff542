/**
 * The grammar of bash, loaded with the first command that is judged: WebAssembly takes some 50 ms that a session
 * without Bash need not spend.
 */
import { createRequire } from 'node:module';
import type { Node, Parser } from 'web-tree-sitter';
import { prepareForGrammar } from '../../grammar-memory.ts';

export type ShellNode = Node;

export interface ShellParser {
  /** Gives the tree to `use` and frees it afterwards. */
  read<Value>(script: string, use: (root: ShellNode) => Value): Value;
}

let loading: Promise<ShellParser> | undefined;

/** The grammar is the same for every session, so one instance serves all of them. */
export function loadShellParser(): Promise<ShellParser> {
  loading ??= load();
  return loading;
}

async function load(): Promise<ShellParser> {
  prepareForGrammar();
  const { Language, Parser } = await import('web-tree-sitter');
  await Parser.init();
  const grammar = createRequire(import.meta.url).resolve('tree-sitter-bash/tree-sitter-bash.wasm');
  const parser = new Parser();
  parser.setLanguage(await Language.load(grammar));
  return { read: (script, use) => readTree(parser, script, use) };
}

function readTree<Value>(parser: Parser, script: string, use: (root: ShellNode) => Value): Value {
  const tree = parser.parse(script);
  if (tree === null) throw new Error('the shell parser gave no tree');
  try {
    return use(tree.rootNode);
  } finally {
    tree.delete();
  }
}
