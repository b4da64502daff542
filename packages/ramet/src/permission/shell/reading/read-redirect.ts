/** Redirects: which file is opened, and how. */
import { directoriesOf } from './follow-directory.ts';
import type { ShellNode } from './parse-shell.ts';
import { isWord, type ShellWalk } from './shell-walk.ts';

/** Where output goes without changing anything. */
const NOWHERE = /^\/dev\/(?:null|stdout|stderr|fd\/\d+)$/;
/** Bash itself opens connections for these. */
const NETWORK = /^\/dev\/(?:tcp|udp)\//;

export function readRedirect(walk: ShellWalk, node: ShellNode): void {
  if (node.type === 'heredoc_redirect') readHeredoc(walk, node);
  else if (node.type === 'herestring_redirect') walk.inside(node);
  else readFileRedirect(walk, node);
}

function readFileRedirect(walk: ShellWalk, node: ShellNode): void {
  const operator = node.children.find(({ type }) => /^[<>&|-]+$/.test(type))?.type ?? '';
  const [target, ...more] = node.children.filter(isWord);
  if (more.length > 0) walk.unclear.push('a redirect to several words');
  if (target !== undefined) readFile(walk, operator, target);
  else if (!/^[<>]&-?$/.test(operator)) walk.unclear.push(`the redirect ${node.text}`);
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
  walk.files.push({ word, access, directories: directoriesOf(walk.places) });
}

/** The grammar hangs what follows the marker on its line (pipes, redirects, arguments) below the heredoc. */
function readHeredoc(walk: ShellWalk, node: ShellNode): void {
  const start = node.children.find(({ type }) => type === 'heredoc_start')?.text ?? '';
  const [line = ''] = node.text.split('\n');
  if (line.indexOf('<<') !== line.lastIndexOf('<<')) walk.unclear.push('two heredocs at once');
  for (const child of node.children) {
    if (child.type === 'heredoc_body') readBody(walk, child, start);
    else if (/^heredoc_|^<<-?$|^file_descriptor$/.test(child.type)) continue;
    else if (isWord(child)) walk.unclear.push('an argument after a heredoc');
    else walk.statements([child]);
  }
}

function readBody(walk: ShellWalk, body: ShellNode, start: string): void {
  const delimiter = start.replace(/['"\\]/g, '');
  // Bash ends the body at the first line that is the delimiter, whatever the grammar takes for its end.
  const lines = body.text.split('\n').map((line) => line.replace(/^\t+/, ''));
  if (lines.includes(delimiter)) walk.unclear.push('where a heredoc ends');
  if (start !== delimiter) return; // quoted: nothing in it is expanded
  walk.inside(body);
  const inside = body.namedChildren.filter(({ type }) => type !== 'heredoc_content');
  const rest = inside.reduce((text, child) => text.replace(child.text, () => ''), body.text);
  if (/(?<!\\)(?:`|\$[({[])/.test(rest)) walk.unclear.push('commands inside a heredoc');
}
