/** Redirects: which file is opened, and how. */
import type { ShellNode } from './parse-shell.ts';
import { isWord, type ShellWalk } from './shell-walk.ts';

/** Where output goes without changing anything. */
const NOWHERE = /^\/dev\/(?:null|stdout|stderr|fd\/\d+)$/;
/** Bash itself opens connections for these. */
const NETWORK = /^\/dev\/(?:tcp|udp)\//;

export function readRedirect(walk: ShellWalk, node: ShellNode): void {
  if (node.type === 'heredoc_redirect') return readHeredoc(walk, node);
  if (node.type === 'herestring_redirect') return walk.inside(node);
  const operator = node.children.find(({ type }) => /^[<>&|-]+$/.test(type))?.type ?? '';
  const targets = node.children.filter(isWord);
  const [target] = targets;
  if (targets.length > 1) walk.unclear.push('a redirect to several words');
  if (target === undefined) {
    if (!/[<>]&-$/.test(operator) && !/^[<>]&$/.test(operator))
      walk.unclear.push(`the redirect ${node.text}`);
    return;
  }
  readFile(walk, operator, target);
}

function readFile(walk: ShellWalk, operator: string, target: ShellNode): void {
  const word = walk.argument(target);
  const { value } = word;
  if (/^[<>]&$/.test(operator) && value !== null && /^(?:\d+-?|-)$/.test(value)) return;
  if (NETWORK.test(value ?? word.start)) {
    walk.unclear.push('a connection that the shell opens');
    return;
  }
  const access = operator === '<' || operator === '<&' ? 'read' : 'write';
  if (access === 'write' && value !== null && NOWHERE.test(value)) return;
  // A path that begins with an expansion may lead to the network as well as to a file.
  if (access === 'read' && value === null && word.start === '')
    walk.unclear.push(`input from ${word.source}`);
  walk.files.push({ word, access, directories: walk.directories });
}

/** The grammar hangs what follows the marker on its line (pipes, redirects, arguments) below the heredoc. */
function readHeredoc(walk: ShellWalk, node: ShellNode): void {
  const start = node.children.find(({ type }) => type === 'heredoc_start')?.text ?? '';
  for (const child of node.children) {
    if (child.type === 'heredoc_body') readBody(walk, child, /['"\\]/.test(start));
    else if (/^heredoc_|^<<-?$|^file_descriptor$/.test(child.type)) continue;
    else if (isWord(child)) walk.unclear.push('an argument after a heredoc');
    else walk.statements([child]);
  }
}

function readBody(walk: ShellWalk, body: ShellNode, quoted: boolean): void {
  if (quoted) return;
  walk.inside(body);
  let rest = body.text;
  for (const child of body.namedChildren) {
    if (child.type !== 'heredoc_content') rest = rest.replace(child.text, '');
  }
  if (/(?<!\\)(?:`|\$[({[])/.test(rest)) walk.unclear.push('commands inside a heredoc');
}
