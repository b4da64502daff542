/** The temporary folder of the first run: a small repository with a failing test, and a `$RAMET_HOME` of its own. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('bin/ramet.js', import.meta.resolve('ramet/package.json')));

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export class Sandbox implements Disposable {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-first-run-')));
  readonly repository: string = join(this.folder, 'leap-year');
  readonly home: string = join(this.folder, 'ramet-home');
  readonly #keep: boolean;

  constructor({ keep }: { keep: boolean }) {
    this.#keep = keep;
    mkdirSync(this.repository);
    cpSync(join(import.meta.dirname, 'project'), this.repository, { recursive: true });
    this.git('init', '--quiet', '--initial-branch=main');
    this.git('add', '--all');
    const author = ['-c', 'user.name=First Run', '-c', 'user.email=first-run@example.invalid'];
    this.git(...author, 'commit', '--quiet', '--message=A calendar with a mistake');
  }

  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.repository, env: this.#environment(), encoding: 'utf8' });
  }

  testsPass(): boolean {
    const options = { cwd: this.repository, env: this.#environment() };
    return spawnSync(process.execPath, ['--test'], options).status === 0;
  }

  /** The real command, as a process of its own. */
  async ramet(args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> {
    const child = spawn(process.execPath, [COMMAND, ...args], {
      cwd: this.repository,
      env: { ...this.#environment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    return { code, stdout, stderr };
  }

  [Symbol.dispose](): void {
    if (!this.#keep) rmSync(this.folder, { recursive: true, force: true });
  }

  /** Nothing of the user's settings, keys or git configuration reaches the example. */
  #environment(): Record<string, string> {
    const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
    return { PATH: path, HOME: this.folder, RAMET_HOME: this.home };
  }
}
