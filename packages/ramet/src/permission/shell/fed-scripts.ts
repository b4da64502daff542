/**
 * Scripts that a shell is given to read on its standard input, or that a process prints for it: `... | sh`, `bash < FILE`, a
 * here-document, a here-string, `bash <(...)`. Their text is known where the command or a file has it.
 */
import { basename } from 'node:path';
import { actingCommand } from './acting-command.ts';
import { loadShellParser, type ShellNode } from './reading/parse-shell.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import { readWord, type ShellWord } from './reading/shell-word.ts';

/** A piece of a script: its text, or the file that has it. */
export type ScriptPart =
  | { readonly text: string }
  /** `sourced`: the shell reads it where it stands (`. FILE`), and it may be made before that. */
  | { readonly file: ShellWord; readonly sourced?: true };

export interface FedScript {
  /** The shell that reads it. */
  readonly shell: string;
  /** Null where nobody knows it before it runs. */
  readonly parts: readonly ScriptPart[] | null;
  /** As it is written. */
  readonly source: string;
}

const SOURCES = /^(?:source|\.)$/;
const SHELL = /^(?:ba|da|z|k|a)?sh$/;
/** The value of one of these is the next word. */
const VALUED = /^(?:[-+][a-zA-Z]*[oO]|--(?:rcfile|init-file))$/;

/** Whether a command that acts is a shell that reads a script which it does not name. */
export function readsFedScript({ words }: Pick<ShellCommand, 'words'>): boolean {
  return shellWithScript(words) !== null;
}

/** The shell, and the word that names its script; undefined for its standard input. A script that it runs as a program is none. */
function shellWithScript(words: readonly ShellWord[]): { shell: string; script?: ShellWord } | null {
  const [program, ...rest] = words;
  const shell = basename(program?.value ?? '');
  if (SOURCES.test(shell))
    return rest[0] === undefined ? null : (fedOperand(shell, rest[0]) ?? { shell, script: rest[0] });
  // It starts one, whatever its words are.
  if (shell === 'newgrp') return { shell };
  if (!SHELL.test(shell)) return null;
  const flags = rest.filter((_, index) => !VALUED.test(rest[index - 1]?.value ?? ''));
  const at = flags.findIndex(({ value, start }) => !/^[-+]./.test(value ?? start));
  const options = flags.slice(0, at === -1 ? flags.length : at).map(({ value }) => value ?? '');
  if (options.some((option) => /^-[a-zA-Z]*c[a-zA-Z]*$|^--(?:version|help)$/.test(option))) return null;
  const isInput = at === -1 || options.some((option) => /^-[a-zA-Z]*s[a-zA-Z]*$/.test(option));
  return isInput ? { shell } : fedOperand(shell, flags[at]);
}

function fedOperand(
  shell: string,
  word: ShellWord | undefined,
): { shell: string; script?: ShellWord } | null {
  if (word === undefined) return null;
  if (/^(?:-|\/dev\/(?:stdin|fd\/0))$/.test(word.value ?? '')) return { shell };
  return word.source.startsWith('<(') ? { shell, script: word } : null;
}

/** The grammar takes as much stack as a script is deep. */
const LONGEST = 50_000;

export async function fedScripts(script: string): Promise<FedScript[]> {
  if (script.length > LONGEST) return [{ shell: 'a shell', parts: null, source: script }];
  const parser = await loadShellParser();
  return parser.read(script, (root) => commandsIn(root).flatMap(scriptOf));
}

function commandsIn(node: ShellNode): ShellNode[] {
  return [...(node.type === 'command' ? [node] : []), ...node.namedChildren.flatMap(commandsIn)];
}

function scriptOf(node: ShellNode): FedScript[] {
  const found = shellWithScript(wordsOf(node));
  if (found === null) return [];
  const { shell, script } = found;
  if (script === undefined) return [{ shell, ...inputOf(node) }];
  const process = node.namedChildren.find(
    ({ type, text }) => type.startsWith('process') && text === script.source,
  );
  if (process === undefined && SOURCES.test(shell))
    return [{ shell, parts: [{ file: script, sourced: true }], source: script.source }];
  const parts = process === undefined ? null : together(process.namedChildren);
  return [{ shell, parts, source: script.source }];
}

function wordsOf(node: ShellNode): readonly ShellWord[] {
  const words = node.namedChildren.filter(({ type }) => !/redirect$|^variable_assignment$/.test(type));
  const command = { words: words.map(wordIn), assignments: [], source: node.text, directories: null };
  return actingCommand(command).words;
}

function wordIn(node: ShellNode): ShellWord {
  return readWord(node, () => {});
}

type Input = Pick<FedScript, 'parts' | 'source'>;

const NOTHING: Input = { parts: [], source: '' };

/** What a statement reads: what is redirected to it, else what is before it in its pipe, else what is around it reads. */
function inputOf(node: ShellNode): Input {
  const own = redirected(node);
  if (own !== null) return own;
  const { parent } = node;
  if (parent === null) return NOTHING;
  return (parent.type === 'pipeline' ? pipedTo(node, parent) : null) ?? inputOf(parent);
}

/** Null for the first of a pipe. */
function pipedTo(node: ShellNode, pipe: ShellNode): Input | null {
  const around = pipe.parent;
  const members = pipe.namedChildren;
  // The grammar hangs a redirect of the last command on the whole pipe.
  const last = around?.type === 'redirected_statement' && members.at(-1)?.id === node.id;
  const given = last ? redirected(around) : null;
  if (given !== null) return given;
  const before = members[members.findIndex(({ id }) => id === node.id) - 1];
  if (before !== undefined) return { parts: outputOf(before), source: pipe.text };
  // What stands behind the marker of a here-document hangs on the document.
  const document = around?.type === 'heredoc_redirect' ? around.parent : null;
  return document === null ? null : { parts: outputOf(document), source: document.text };
}

function redirected(node: ShellNode): Input | null {
  for (const child of node.namedChildren) {
    const source = node.text;
    const word = child.namedChildren.at(-1);
    if (child.type === 'herestring_redirect') return { parts: word ? literal(wordIn(word)) : null, source };
    if (child.type === 'heredoc_redirect') return { parts: [{ text: bodyOf(child) }], source };
    const isInput = child.type === 'file_redirect' && child.children.some(({ type }) => type === '<');
    if (isInput && word?.type.startsWith('process')) return { parts: together(word.namedChildren), source };
    if (isInput) return { parts: word ? [{ file: wordIn(word) }] : null, source };
  }
  return null;
}

function literal({ value }: ShellWord): ScriptPart[] | null {
  return value === null ? null : [{ text: `${value}\n` }];
}

function bodyOf(redirect: ShellNode): string {
  const part = (type: string): string =>
    redirect.namedChildren.find((child) => child.type === type)?.text ?? '';
  const body = part('heredoc_body');
  return /['"\\]/.test(part('heredoc_start')) ? body : body.replace(/\\([$`\\])/g, '$1');
}

/** What a statement prints; null where only the running shell knows. */
function outputOf(node: ShellNode): readonly ScriptPart[] | null {
  if (node.type === 'command') return printedBy(node);
  if (node.type === 'pipeline') return outputOf(node.namedChildren.at(-1) ?? node);
  if (node.type === 'redirected_statement') {
    const [body] = node.namedChildren;
    return body === undefined ? null : outputOf(body);
  }
  return /^(?:subshell|compound_statement|list)$/.test(node.type) ? together(node.namedChildren) : null;
}

function together(nodes: readonly ShellNode[]): readonly ScriptPart[] | null {
  const parts = nodes.filter(({ type }) => type !== 'comment').map(outputOf);
  return parts.includes(null) ? null : parts.flatMap((part) => part ?? []);
}

function printedBy(node: ShellNode): readonly ScriptPart[] | null {
  const [program, ...rest] = wordsOf(node);
  const name = program?.value ?? '';
  if (/^(?:true|:|cd|set)$/.test(name)) return [];
  if (name === 'cat') {
    const files = rest.filter(({ value, start }) => !/^-./.test(value ?? start));
    return files.length === 0 ? inputOf(node).parts : files.map((file) => ({ file }));
  }
  const values = rest.map(({ value }) => value);
  if (!/^(?:echo|printf)$/.test(name) || values.includes(null)) return null;
  const texts = values.map((value) => value ?? '');
  return [{ text: name === 'echo' ? echoed(texts) : formatted(texts) }];
}

function echoed(texts: readonly string[]): string {
  const from = texts.findIndex((text) => !/^-[neE]+$/.test(text));
  return `${withLines(texts.slice(Math.max(from, 0)).join(' '))}\n`;
}

/** `printf '%s\n' A B` prints its format for each. */
function formatted([format = '', ...texts]: readonly string[]): string {
  const left = [...texts];
  let text = '';
  do text += withLines(format).replace(/%[sb]/g, () => left.shift() ?? '');
  while (left.length > 0 && /%[sb]/.test(format));
  return text;
}

function withLines(text: string): string {
  return text.replaceAll('\\n', '\n');
}
