/** The place of one round: a repository, a task file beside it, a model, and a git that can be made to die in mid-write. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Emulator, startEmulator } from 'ramet/emulator';
import { World, type WorldOptions } from '../kill/world.ts';
import type { OperatorPlan } from './plan.ts';
import { workerAnswer } from './worker.ts';

/** Of every response, so that agents are at work most of the time. */
const LATENCY_MS = 40;

export class OperatorPlace implements AsyncDisposable {
  readonly plan: OperatorPlan;
  readonly world: World;
  readonly #emulator: Emulator;
  /** Requests so far. */
  requests = 0;

  private constructor(plan: OperatorPlan, world: World, emulator: Emulator) {
    [this.plan, this.world, this.#emulator] = [plan, world, emulator];
  }

  static async open(
    plan: OperatorPlan,
    { stopped, longestRun }: Pick<WorldOptions, 'stopped' | 'longestRun'> = {},
  ): Promise<OperatorPlace> {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-operator-')));
    let place: OperatorPlace | null = null;
    const emulator = await startEmulator({
      latency: { baseMs: LATENCY_MS },
      respond: (view) => {
        if (place !== null) place.requests += 1;
        return workerAnswer(view);
      },
    });
    const PATH = `${join(root, 'bin')}:${process.env.PATH}`;
    const parts = { ...plan, env: { ...plan.env, PATH } };
    const world = new World(parts, emulator.url, { root, stopped, longestRun, hasGroups: true });
    place = new OperatorPlace(plan, world, emulator);
    place.#fill();
    return place;
  }

  #fill(): void {
    const { root, repository } = this.world;
    writeFileSync(this.taskFile, this.plan.tasks);
    if (!this.plan.isCheckedOut) this.git('switch', '--quiet', '--create', 'desk');
    mkdirSync(join(root, 'bin'));
    const script = join(root, 'bin/git');
    writeFileSync(script, gitScript(root, gitProgram()));
    chmodSync(script, 0o755);
    execFileSync('git', ['config', 'maintenance.auto', 'false'], { cwd: repository });
  }

  get taskFile(): string {
    return join(this.world.root, 'tasks.md');
  }

  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.world.repository, encoding: 'utf8', stdio: 'pipe' }).trim();
  }

  /**
   * The next git that is about to put something in its place dies there; with a process group, that group dies too. Says
   * whether it happened before `isOver`.
   */
  async killGit(group: number | null, isOver: () => boolean): Promise<boolean> {
    const { root } = this.world;
    const [order, done] = [join(root, 'kill-git'), join(root, 'killed-git')];
    rmSync(done, { force: true });
    writeFileSync(`${order}.new`, `${group ?? ''}\n`);
    renameSync(`${order}.new`, order);
    while (!existsSync(done) && !isOver()) await sleep(2);
    rmSync(order, { force: true });
    return existsSync(done);
  }

  /** What the last git that died was asked to do. */
  get killedGit(): string {
    try {
      return readFileSync(join(this.world.root, 'killed-git'), 'utf8').trim();
    } catch {
      return '';
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#emulator.close();
    await this.world[Symbol.asyncDispose]();
  }
}

function gitProgram(): string {
  return execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
}

/** Calls that put a finished file in its place: before them there is a lock and no result. */
const PUTS = 'rename,renameat,renameat2,link,linkat';

function gitScript(root: string, git: string): string {
  return `#!/bin/sh
if mv '${root}/kill-git' '${root}/killing-git' 2>/dev/null; then
  strace -f -qq -o /dev/null -e signal=none -e trace=${PUTS} -e inject=${PUTS}:signal=KILL ${git} "$@"
  code=$?
  if [ $code -ge 128 ]; then
    read -r group < '${root}/killing-git'
    rm -f '${root}/killing-git'
    echo "$@" > '${root}/killed-git.new' && mv '${root}/killed-git.new' '${root}/killed-git'
    [ -z "$group" ] || kill -s KILL -- "-$group"
    kill -s KILL $$
  fi
  mv '${root}/killing-git' '${root}/kill-git'
  exit $code
fi
exec ${git} "$@"
`;
}
