/**
 * Programs that the configuration of a trusted repository names: filters, drivers, text conversions (SEC-1). The user trusts the
 * configuration; the files that those programs are, agents can write. So each runs only with files of trusted content.
 *
 * Which files a command runs is read in a later room, and that is told here once per process. Where nobody has told it, no program runs.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type ConfigEntry, filterOf, programEntries } from './folder-config.ts';

export interface ProgramQuestion {
  readonly home: string;
  /** The working tree that the user trusts. */
  readonly root: string;
  /** Where git starts them. */
  readonly top: string;
  readonly programs: readonly ConfigEntry[];
  /** The commits, or `index`, whose files git is about to write there; null for a git that writes none. */
  readonly writes: readonly string[] | null;
  /** Of one of these, what is at these paths or below them; null where git cannot tell. */
  filesOf(written: string, paths: readonly string[]): Promise<readonly CommittedFile[] | null>;
}

export interface CommittedFile {
  readonly path: string;
  /** Null for what is no plain file. */
  readonly bytes: Buffer | null;
}

/** For each program that must not run the reason, in one line that names the file. */
export type ProgramCheck = (question: ProgramQuestion) => Promise<ReadonlyMap<ConfigEntry, string>>;

let check: ProgramCheck | null = null;

/** Returns what was said before. */
export function checkProgramsBy(own: ProgramCheck | null): ProgramCheck | null {
  const before = check;
  check = own;
  return before;
}

const uncheckable: ProgramCheck = async ({ programs }) =>
  new Map(programs.map((one) => [one, `what ${one.key} runs cannot be checked`]));

export interface ProgramGround {
  readonly home: string;
  readonly root: string;
  readonly top: string;
  readonly env: Readonly<Record<string, string>>;
  readonly writes: readonly string[] | null;
  /** Its own configuration is an agent's to write: nothing that it names runs. */
  readonly isAgents: boolean;
}

export interface RefusedPrograms {
  /** Their keys. */
  readonly keys: ReadonlySet<string>;
  /** All entries, where those that may run count as the user's own. */
  readonly entries: readonly ConfigEntry[];
  /** Of a filter, why it does not run. */
  readonly reasons: ReadonlyMap<string, string>;
}

/** Null where all may run. */
export async function refusedPrograms(
  entries: readonly ConfigEntry[],
  { isAgents, env, ...ground }: ProgramGround,
): Promise<RefusedPrograms | null> {
  const named = programEntries(entries);
  const isTheirs = ({ scope }: ConfigEntry): boolean => isAgents && scope === 'worktree';
  const programs = named.filter((one) => !isTheirs(one));
  const found =
    programs.length === 0
      ? new Map<ConfigEntry, string>()
      : await (check ?? uncheckable)({
          ...ground,
          programs,
          filesOf: (from, paths) => filesOf(from, paths, ground.top, env),
        });
  const theirs = named.filter(isTheirs).map((one) => [one, `${one.key} is a worktree's own`] as const);
  const refused = new Map([...theirs, ...found]);
  if (refused.size === 0) return null;
  const reasons = new Map(
    [...refused].flatMap(([entry, why]) => {
      const filter = filterOf(entry);
      return filter === null ? [] : [[filter, why] as const];
    }),
  );
  const isRefused = (entry: ConfigEntry): boolean => refused.has(entry) || reasons.has(filterOf(entry) ?? '');
  const isFolders = ({ scope }: ConfigEntry): boolean => scope === 'local' || scope === 'worktree';
  return {
    entries: entries.map((one) => (isFolders(one) && !isRefused(one) ? { ...one, scope: 'global' } : one)),
    ...{ keys: new Set([...refused.keys()].map(({ key }) => key)), reasons },
  };
}

const WRITES: ReadonlySet<string> = new Set(
  'checkout checkout-index merge rebase reset restore stash switch'.split(' '),
);
const COMMIT = /^(?:--source=)?([0-9a-f]{40}(?:[0-9a-f]{24})?)$/;

/** What a git of our own writes into files: the commits that its words name, or `index`. */
export function writtenBy(command: string, args: readonly string[]): readonly string[] | null {
  if (!WRITES.has(command) && !(command === 'read-tree' && args.includes('-u'))) return null;
  if (command === 'checkout-index') return ['index'];
  return args.flatMap((word) => COMMIT.exec(word)?.[1] ?? []);
}

const execute = promisify(execFile);
const MOST_BYTES = 256 << 20;
const PLAIN_MODE = /^100/;

async function filesOf(
  written: string,
  paths: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<CommittedFile[] | null> {
  const git = async (args: readonly string[], input?: string): Promise<Buffer> => {
    const options = { cwd, env, maxBuffer: MOST_BYTES, encoding: 'buffer' as const };
    const run = execute('git', ['-c', 'core.fsmonitor=false', ...args], options);
    run.child.stdin?.on('error', () => {}).end(input);
    return (await run).stdout;
  };
  const list =
    written === 'index'
      ? ['ls-files', '-s', '-z', '--', ...paths.map((path) => `:(top,literal)${path}`)]
      : ['ls-tree', '-r', '-z', '--full-tree', written, '--', ...paths];
  try {
    const listed = (await git(list)).toString('utf8').split('\0').filter(Boolean);
    const found = listed.map((line) => {
      const [facts = '', path = ''] = [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)];
      const id = facts.split(' ').find((word) => COMMIT.test(word)) ?? '';
      return { path, id, isPlain: PLAIN_MODE.test(facts) };
    });
    const ids = found.filter(({ isPlain }) => isPlain).map(({ id }) => id);
    const contents = ids.length === 0 ? [] : blobs(await git(['cat-file', '--batch'], `${ids.join('\n')}\n`));
    return found.map(({ path, isPlain }) => ({ path, bytes: isPlain ? (contents.shift() ?? null) : null }));
  } catch {
    return null;
  }
}

/** `<id> blob <size>`, a line's end, the content, a line's end. */
function blobs(output: Buffer): (Buffer | null)[] {
  const found: (Buffer | null)[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at);
    const size = Number(/ blob (\d+)$/.exec(output.toString('latin1', at, end))?.[1] ?? Number.NaN);
    found.push(Number.isNaN(size) ? null : output.subarray(end + 1, end + 1 + size));
    at = end + 1 + (Number.isNaN(size) ? 0 : size + 1);
  }
  return found;
}
