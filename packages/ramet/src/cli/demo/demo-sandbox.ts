/**
 * The temporary folder of `ramet demo`: a real git repository and a `$RAMET_HOME` of its own. The environment is made
 * from scratch, so that neither the user's keys nor their proxies and git settings have a part in what is shown.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { RametError, systemCode } from '../../schema/errors.ts';

/** What is taken over from the user: where programs are, and how text is shown. */
const KEPT = ['HOME', 'LANG', 'LC_ALL', 'SHELL', 'TERM', 'TMPDIR'];

/** What the repository of a demo begins with. */
export interface DemoProject {
  name: string;
  files: Readonly<Record<string, string>>;
  /** A program of it that says whether all is well. */
  check: string;
  /** Of its only commit. */
  message: string;
  /** The user's settings while it is worked on. */
  settings?: Readonly<Record<string, unknown>>;
}

const PERSON = { NAME: 'Ramet Demo', EMAIL: 'demo@example.invalid' };

export class DemoSandbox implements Disposable {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-demo-')));
  readonly repository: string;
  readonly home: string = join(this.folder, 'ramet-home');
  readonly env: Record<string, string>;
  readonly #keep: boolean;
  readonly #project: DemoProject;

  constructor(user: NodeJS.ProcessEnv, { keep }: { keep: boolean }, project: DemoProject) {
    this.#keep = keep;
    this.#project = project;
    this.repository = join(this.folder, project.name);
    this.env = this.#environment(user);
  }

  /** One commit of the demo's files. */
  prepare(): void {
    const { files, message, settings } = this.#project;
    mkdirSync(this.repository);
    if (settings !== undefined) {
      mkdirSync(this.home);
      writeFileSync(join(this.home, 'settings.json'), JSON.stringify(settings));
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.repository, name), text);
    this.git('init', '--quiet', '--initial-branch=main');
    this.git('add', '--all');
    this.git('commit', '--quiet', `--message=${message}`);
  }

  git(...args: string[]): string {
    try {
      return execFileSync('git', args, {
        cwd: this.repository,
        env: this.env,
        encoding: 'utf8',
        stdio: 'pipe',
      });
    } catch (error) {
      const reason = systemCode(error) === 'ENOENT' ? 'it is not installed' : String(error);
      throw new RametError('demo_git', 'terminal', `git ${args[0]} did not work: ${reason}`, {
        cause: error,
      });
    }
  }

  /** What the project's check prints, and whether it passes. */
  check(): { passes: boolean; printed: string } {
    const { status, stdout } = spawnSync(process.execPath, [this.#project.check], {
      cwd: this.repository,
      env: this.env,
      encoding: 'utf8',
    });
    return { passes: status === 0, printed: stdout };
  }

  [Symbol.dispose](): void {
    if (!this.#keep) rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #environment(user: NodeJS.ProcessEnv): Record<string, string> {
    const kept = KEPT.flatMap((name) => (user[name] === undefined ? [] : [[name, user[name]] as const]));
    return {
      ...Object.fromEntries(kept),
      // This Node first: the task calls `node`, and the one on the path may be older or missing.
      PATH: `${dirname(process.execPath)}${delimiter}${user.PATH ?? ''}`,
      RAMET_HOME: this.home,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      ...{ GIT_AUTHOR_NAME: PERSON.NAME, GIT_AUTHOR_EMAIL: PERSON.EMAIL },
      ...{ GIT_COMMITTER_NAME: PERSON.NAME, GIT_COMMITTER_EMAIL: PERSON.EMAIL },
    };
  }
}
