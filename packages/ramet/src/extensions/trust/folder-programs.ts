/**
 * Programs that a repository's git configuration names, as a part of what the user trusts (SEC-1). Ramet's own git runs each
 * only while the files that it runs are those that were trusted, where git starts it and in the commits whose files git writes there.
 */
import { dirname, join, relative, resolve } from 'node:path';
import type { ProgramQuestion } from '../../git/folder-guard.ts';
import { isInside } from '../../system/landing-path.ts';
import { type TrustPlace, trustStamp } from '../../system/trust.ts';
import { commandReach } from './command-reach.ts';
import { commandsOf } from './commands-in.ts';
import { describePart, type FolderPart } from './folder-part.ts';
import { folderTrust } from './folder-trust.ts';
import { gitPrograms, helperScript } from './programs/git-config.ts';
import { PYTHON_MODULES } from './programs/python-modules.ts';
import { type RunCommand, TrustedFiles } from './run-check.ts';
import { contentDigest } from './trusted-content.ts';

type NamedProgram = ProgramQuestion['programs'][number];

/** None where its programs run no file of the repository. */
export function gitParts(root: string): FolderPart[] {
  const { scripts, included } = gitPrograms(root, ['push']);
  const commands = [
    ...scripts.map((command) => ({ command })),
    ...included.map((path) => ({ command: '.', args: [path] })),
  ];
  const part = partOf(root, commands);
  const { files, unfollowed } = describePart(part, root);
  return Object.keys(files).length === 0 && !unfollowed.some((one) => /because of/.test(one)) ? [] : [part];
}

/** By the same name in every working tree. */
function partOf(root: string, value: unknown): FolderPart {
  return { kind: 'git', source: join(root, '.git', 'config'), value };
}

/** Kept as long as the user's trust stays the same: large files are not read again. */
const known = new Map<string, { stamp: string; files: TrustedFiles }>();

function trustedFiles({ home, root }: Pick<TrustPlace, 'home' | 'root'>): TrustedFiles {
  const stamp = trustStamp({ home, root });
  const key = [home, root].join('\0');
  const found = known.get(key);
  if (found?.stamp === stamp) return found.files;
  const files = new TrustedFiles(root, folderTrust({ home, root }).filesFor(partOf(root, [])) ?? {});
  files.learn(gitParts(root).flatMap(commandsOf), root);
  known.set(key, { stamp, files });
  return files;
}

export async function untrustedPrograms(
  question: ProgramQuestion,
): Promise<ReadonlyMap<NamedProgram, string>> {
  const files = trustedFiles(question);
  const refused = new Map<NamedProgram, string>();
  for (const program of question.programs) {
    const command = commandFor(program);
    const why =
      hooksProblem(program, question) ??
      files.problem(includedFrom(program, question), question.top) ??
      files.problem(command, question.top) ??
      (await writtenProblem(command, question, files.digests));
    if (why !== null) refused.set(program, why);
  }
  return refused;
}

function commandFor({ key, value }: NamedProgram): RunCommand {
  return { texts: [key.startsWith('credential.') ? helperScript(value) : value] };
}

/** Hooks that are files of the checkout never run for who only reads; git of our own runs no hooks at all. */
function hooksProblem({ key, value }: NamedProgram, { root, top }: ProgramQuestion): string | null {
  if (key !== 'core.hookspath') return null;
  return [root, top].some((one) => isInside(resolve(top, value), one))
    ? 'hooks are for git of your own'
    : null;
}

/** The configuration may include a file of the repository. */
function includedFrom({ origin }: NamedProgram, { root, top }: ProgramQuestion): RunCommand {
  const isGits = /\/config(?:\.worktree)?$/.test(origin) && !isInside(dirname(origin), top);
  const isOwn = isGits || [root, top].some((one) => isInside(origin, join(one, '.git')));
  return { texts: isOwn ? [':'] : ['.', origin] };
}

/** What an interpreter finds by less than a file's name. */
const ENDINGS = [
  ...['', '.js', '.mjs', '.cjs', '.json', '.node', '.ts', '.sh', '.py', '.rb', '.pl'],
  ...['/index.js', '/package.json', '/__init__.py', '/__main__.py'],
];
const PYTHON = /\b(?:python|pypy)/;

/** Of commits whose files git writes where the command starts: what they bring can run before git is done. */
async function writtenProblem(
  { texts }: RunCommand,
  { root, top, writes, filesOf }: ProgramQuestion,
  digests: ReadonlySet<string>,
): Promise<string | null> {
  if (writes === null) return null;
  const { paths, folders: own, imports } = commandReach(texts, root, [top, root]);
  const folders = [...own, ...(imports?.folders ?? [])];
  const insideOf = (path: string): string[] =>
    [top, root].filter((one) => isInside(path, one)).map((one) => relative(one, path));
  const named = [...paths.map(({ path }) => path), ...folders].flatMap(insideOf).filter(isCommitted);
  const modules = texts.some((text) => PYTHON.test(text)) ? [...PYTHON_MODULES] : [];
  const wanted = new Set([
    ...named.flatMap((one) => ENDINGS.map((ending) => `${one}${ending}`)),
    ...modules.flatMap((one) => [`${one}.py`, `${one}/__init__.py`]),
  ]);
  for (const path of [...wanted]) for (let at = dirname(path); at !== '.'; at = dirname(at)) wanted.add(at);
  const whole = folders.flatMap(insideOf);
  const counts = (path: string): boolean =>
    wanted.has(path) || whole.some((folder) => folder === '' || path.startsWith(`${folder}/`));
  const asked = whole.includes('') ? [] : [...wanted, ...whole];
  if (writes.length === 0 && named.length > 0) return 'git writes files that nobody can look at before';
  for (const one of writes) {
    const found = await filesOf(one, asked);
    const changed = found?.find(
      ({ path, bytes }) => counts(path) && (bytes === null || !digests.has(contentDigest(path, bytes))),
    );
    if (found === null) return `the files of ${one} cannot be read`;
    if (changed !== undefined) return `${changed.path} of ${one.slice(0, 12)} ${NOT_TRUSTED}`;
  }
  return null;
}

const NOT_TRUSTED = 'is not what you trusted (ramet trust --show shows the difference)';

function isCommitted(path: string): boolean {
  return path !== '' && !/^\.git(?:\/|$)/.test(path);
}
