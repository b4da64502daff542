/** Runs one way of the campaign: a fresh checkout, its processes, and a person who edits all the while. */
import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findPlace } from '../../packages/ramet/src/sdk/place.ts';
import { type Attempt, type CheckoutPlan, FILES, FIRST_TEXT, type WorkerReport } from './plan.ts';
import { commitsOf, replay, wrongLines } from './replay.ts';

export interface CheckoutResult {
  way: CheckoutPlan['way'];
  /** How many attempts had which outcome. */
  edits: Record<Attempt['outcome'], number>;
  commits: Record<Attempt['outcome'], number>;
  lostEdits: number;
  /** Commits that hold paths their agent had not changed since they were last committed; null for the plain way. */
  sweptUp: number | null;
  /** What did not hold. */
  problems: string[];
  seconds: number;
}

const NAMES = {
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
  GIT_CONFIG_NOSYSTEM: '1',
};

export async function runCheckout(
  options: Omit<CheckoutPlan, 'root' | 'home'> & { helper?: string },
): Promise<CheckoutResult> {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-checkout-')));
  const [root, home] = [join(place, 'work'), join(place, 'home')];
  const env = {
    ...process.env,
    ...NAMES,
    HOME: place,
    ...(options.helper && { CAMPAIGN_HELPER: options.helper }),
  };
  const git = (...words: string[]): string =>
    execFileSync('git', words, { cwd: root, env, encoding: 'utf8' });
  try {
    const { base, staged } = prepare(root, git);
    const since = performance.now();
    const person = setInterval(() => appendFileSync(join(root, 'person.txt'), 'more\n'), 20);
    const reports = await workers({ ...options, root, home }, env).finally(() => clearInterval(person));
    const seconds = (performance.now() - since) / 1_000;
    const attempts = reports.flatMap((report) => report.attempts);
    const sessions = reports.map(({ session }) => session);
    const { project } = findPlace({ cwd: root, env: { ...env, RAMET_HOME: home } });
    const problems = options.way === 'ramet' ? replay({ root, project, sessions, attempts, base }) : [];
    if (options.way === 'ramet') problems.push(...failures(attempts), ...personsIndex(git, staged));
    const lost = wrongLines({ root, attempts }).length;
    return {
      way: options.way,
      edits: tally(attempts, 'edit'),
      commits: tally(attempts, 'commit'),
      lostEdits: lost,
      sweptUp:
        options.way === 'ramet'
          ? problems.filter((line) => line.includes('holds nothing of')).length
          : sweptUp(root, base, attempts),
      problems,
      seconds,
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function prepare(root: string, git: (...words: string[]) => string): { base: string; staged: string } {
  for (const path of FILES) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), FIRST_TEXT);
  }
  git('init', '-q', '-b', 'main');
  git('config', 'gc.auto', '0');
  git('add', '-A');
  git('commit', '-qm', 'first');
  writeFileSync(join(root, 'staged.txt'), 'staged by a person\n');
  git('add', 'staged.txt');
  return { base: git('rev-parse', 'HEAD').trim(), staged: git('ls-files', '-s', 'staged.txt') };
}

async function workers(plan: CheckoutPlan, env: NodeJS.ProcessEnv): Promise<WorkerReport[]> {
  const execute = promisify(execFile);
  const program = join(import.meta.dirname, 'worker.ts');
  const runs = Array.from({ length: plan.processes }, async (_, worker) => {
    const argument = JSON.stringify({ ...plan, worker });
    const { stdout } = await execute(process.execPath, [program, argument], { env, maxBuffer: 1 << 28 });
    return JSON.parse(stdout) as WorkerReport; // `worker.ts` printed it
  });
  return Promise.all(runs);
}

function failures(attempts: readonly Attempt[]): string[] {
  const wrong = attempts.filter(({ outcome }) => outcome === 'failed' || outcome === 'lock');
  const silent = attempts.filter(({ outcome, said }) => outcome === 'refused' && said === '');
  return [...wrong, ...silent].map(
    ({ name, kind, outcome, said }) => `${name}: ${kind} ${outcome}: ${said.slice(0, 300)}`,
  );
}

/** What a person has staged is staged still, and in no commit. */
function personsIndex(git: (...words: string[]) => string, staged: string): string[] {
  const now = git('ls-files', '-s', 'staged.txt');
  const committed = git('log', '--format=%h', '--', 'staged.txt', 'person.txt').trim();
  return [
    ...(now === staged ? [] : ['what the person had staged is not staged any more']),
    ...(committed === '' ? [] : [`the person's files are in ${committed}`]),
    ...(git('fsck', '--no-dangling').trim() === '' ? [] : ['git fsck complains']),
  ];
}

/** The plain way keeps no journal: a commit is foreign when it contains a line of another agent, or a person's file. */
function sweptUp(root: string, base: string, attempts: readonly Attempt[]): number {
  const agents = new Set(attempts.map(({ agent }) => agent));
  return commitsOf(root, base).filter(({ id, agent, paths }) => {
    if (paths.some((path) => !FILES.includes(path))) return true;
    const patch = execFileSync('git', ['show', '--format=', '-U0', id], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    const added = [...patch.matchAll(/^\+(\w+\.\d+)-\d+$/gm)].map(([, who = '']) => who);
    return added.some((who) => agents.has(who) && who !== agent);
  }).length;
}

function tally(attempts: readonly Attempt[], kind: Attempt['kind']): Record<Attempt['outcome'], number> {
  const counts = { done: 0, refused: 0, nothing: 0, lock: 0, failed: 0 };
  for (const attempt of attempts) if (attempt.kind === kind) counts[attempt.outcome]++;
  return counts;
}
