/**
 * How shells are started for commands that were judged to change nothing (RES-3), or that may change only a worktree
 * (WORK-7): in a sandbox of the operating system where there is one that works, else by themselves, held by the command
 * parser alone. Which of the two is found out once a session, and told once where it is the second.
 *
 * A sandbox that is slow to start is waited for. If it is still not known then whether it works, that is told, and it is
 * tried again beside the commands that follow: these wait no more, and run in it as soon as it has started.
 */
import { describeError } from '../schema/errors.ts';
import type { Arrangement } from '../system/processes/process-group.ts';
import type { BubblewrapState } from './bubblewrap.ts';
import type { BoundsProof, ShellBounds } from './isolated-shell.ts';

/** `auto`: where there is one. `required`: no command runs without. */
export const SANDBOX_MODES = ['auto', 'off', 'required'] as const;

export type SandboxMode = (typeof SANDBOX_MODES)[number];

export interface ShellStart {
  readonly program: string;
  readonly arguments: readonly string[];
  /** Set besides what the agent's programs have anyway. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Opens what the program reads from `HANDED_DESCRIPTOR`; the caller closes it. */
  readonly handed?: () => number;
  readonly arrangement?: Arrangement;
  /** What it starts ends with it: nothing is left when the shell has ended. */
  readonly confined: boolean;
  /** Bubblewrap is what starts. */
  readonly isFenced?: true;
}

export type ShellDecision = ShellStart | { readonly refusal: string };

export interface CommandSandbox {
  /** Begins to find out whether it works, so that the first command need not wait for it. */
  prepare(): void;
  /** Whether there is a read-only sandbox, and it is wanted. */
  wall(): Promise<boolean>;
  /** Only in the read-only sandbox: refused if no sandbox is available. */
  shell(command: string, cwd: string): Promise<ShellDecision>;
  /**
   * For a command that the strict rules judged to only read, outside the sandbox. `tell` is called once in a session
   * without a sandbox; null for an agent that is not expected to have one.
   */
  judgedShell(outside: ShellDecision, tell: ((notice: string) => void) | null): Promise<ShellDecision>;
  /** Why no agent may start in a worktree: a sandbox is required and not available. */
  isolationRefusal(): Promise<string | null>;
  /** What is told with each agent in a worktree whose commands no sandbox holds. */
  isolationNotice(): Promise<string | null>;
  /** For an agent in a worktree: what it starts may outlive the call, as outside a sandbox. */
  isolatedShell(
    command: string,
    cwd: string,
    bounds: ShellBounds,
    tell: (notice: string) => void,
  ): Promise<ShellDecision>;
  /** Ends what is still being tried: a process that is done waits for no slow sandbox. */
  close(): void;
}

export interface SandboxTrial {
  /** Called once if the sandbox is slow to start. */
  readonly onSlow?: (notice: string) => void;
  readonly tellAfterMs?: number;
  /** How long commands wait for it. */
  readonly limitMs?: number;
  /** Sockets of services that agents in worktrees reach, which are hidden from them otherwise. */
  readonly sockets?: readonly string[] | undefined;
  /** The folder of logins at servers: empty for what runs in bubblewrap. */
  readonly logins?: string | undefined;
}

const TELL_AFTER_MS = 2_000;

/** Programs that only read keep notes of their own, such as git its index: these say that they are not to. */
const NO_NOTES = {
  GIT_OPTIONAL_LOCKS: '0',
  npm_config_logs_max: '0',
  npm_config_update_notifier: 'false',
  PYTHONDONTWRITEBYTECODE: '1',
};

export function plainShell(command: string): ShellStart {
  return { program: 'bash', arguments: ['-c', command], confined: false };
}

export function createCommandSandbox(
  mode: SandboxMode,
  env: Readonly<Record<string, string>>,
  isolation: SandboxMode = 'auto',
  { onSlow, tellAfterMs = TELL_AFTER_MS, limitMs, sockets = [], logins }: SandboxTrial = {},
): CommandSandbox {
  const over = new AbortController();
  const limits = { limitMs, signal: over.signal };
  const services = { env, kept: sockets, logins };
  let toldSlow = false;
  let told = false;
  let toldIsolated = false;
  const watched = async <Result>(running: Promise<Result>): Promise<Result> => {
    const tell = (): void => {
      if (!toldSlow)
        onSlow?.(`waiting for the OS sandbox: bubblewrap has not started after ${tellAfterMs / 1_000} s`);
      toldSlow = true;
    };
    const timer = setTimeout(tell, tellAfterMs);
    return running.finally(() => clearTimeout(timer));
  };
  const found = trial<BubblewrapState>(
    () =>
      import('./bubblewrap.ts')
        .then(({ tryBubblewrap }) => watched(tryBubblewrap(env, limits)))
        .catch((error) => ({ works: false, reason: describeError(error), remedy: null })),
    (state) => !state.works && state.isSlow === true && !over.signal.aborted,
  );
  const proofs = new WeakMap<ShellBounds, () => Promise<BoundsProof>>();
  const unproved = async (program: string, bounds: ShellBounds, cwd: string): Promise<Missing | null> => {
    const { proveBounds } = await import('./isolated-shell.ts');
    const prove = (): Promise<BoundsProof> =>
      watched(proveBounds(program, { ...bounds, services }, cwd, env, limits));
    const proof = proofs.get(bounds) ?? trial(prove, (end) => end === 'slow' && !over.signal.aborted);
    proofs.set(bounds, proof);
    const end = await proof();
    if (end !== 'slow') return end === 'held' ? null : NOT_HELD;
    const { OVERLOADED } = await import('./bubblewrap.ts');
    return { works: false, reason: 'bubblewrap is too slow here', remedy: OVERLOADED, isSlow: true };
  };
  return {
    close: () => over.abort(),
    prepare() {
      if (mode !== 'off') void found();
    },
    wall: async () => mode !== 'off' && (await found()).works,
    async shell(command, cwd) {
      const sandbox = mode === 'off' ? SWITCHED_OFF : await found();
      if (!sandbox.works) return { refusal: refusalText(sandbox) };
      const { bubblewrapArguments, openFilter } = await import('./bubblewrap.ts');
      const words = bubblewrapArguments(command, cwd, { logins });
      const { program } = sandbox;
      return { program, arguments: words, environment: NO_NOTES, handed: openFilter, confined: true };
    },
    async judgedShell(outside, tell) {
      if ('refusal' in outside) return outside;
      const quiet = { ...outside, environment: { ...outside.environment, ...NO_NOTES } };
      const sandbox = mode === 'off' ? null : await found();
      if (sandbox === null) return quiet;
      if (sandbox.works) return quiet.isFenced ? quiet : withoutLogins(quiet, sandbox.program, logins);
      if (mode === 'required') return { refusal: refusalText(sandbox) };
      if (!told && tell !== null) {
        told = true;
        tell(noticeText(sandbox));
      }
      return quiet;
    },
    async isolationRefusal() {
      // Nobody waits for a sandbox to be tried that is not required.
      const sandbox = isolation === 'required' ? await found() : null;
      return sandbox === null || sandbox.works ? null : spawnRefusal(sandbox);
    },
    async isolationNotice() {
      const sandbox = isolation === 'auto' ? await found() : null;
      if (sandbox === null || sandbox.works) return null;
      toldIsolated = true;
      return isolatedNotice(sandbox);
    },
    async isolatedShell(command, cwd, bounds, tell) {
      if (isolation === 'off') return plainShell(command);
      const sandbox = await found();
      const problem = sandbox.works ? await unproved(sandbox.program, bounds, cwd) : sandbox;
      if (sandbox.works && problem === null) {
        const { isolatedStart } = await import('./isolated-shell.ts');
        const { startClean } = await import('./inherited-descriptors.ts');
        const start = isolatedStart({ ...bounds, services }, cwd, command);
        return { ...start, ...startClean(sandbox.program, start.arguments), confined: false, isFenced: true };
      }
      const missing = problem ?? NOT_HELD;
      if (isolation === 'required') return { refusal: refusalText(missing, 'worktree') };
      if (!toldIsolated) tell(isolatedNotice(missing));
      toldIsolated = true;
      return plainShell(command);
    },
  };
}

/** What is judged by the strict rules has to see the machine, and still no login. */
async function withoutLogins(
  start: ShellStart,
  program: string,
  logins: string | undefined,
): Promise<ShellStart> {
  const { onlyLoginsHidden } = await import('./hidden-logins.ts');
  const words = onlyLoginsHidden(logins);
  if (words === null) return start;
  return { ...start, program, arguments: [...words, start.program, ...start.arguments], isFenced: true };
}

type Missing = Extract<BubblewrapState, { works: false }>;

/**
 * What is found out by trying, once. Who asks before it is known waits. After a trial that was too slow nobody waits again:
 * each who asks gets that, and the next trial runs meanwhile.
 */
function trial<Result>(
  run: () => Promise<Result>,
  isSlow: (result: Result) => boolean,
): () => Promise<Result> {
  let last: Promise<Result> | null = null;
  let next: Promise<unknown> | null = null;
  const tryNow = (): Promise<Result> => {
    const running = run();
    next = running.then(
      (result) => {
        last = running;
        if (isSlow(result)) next = null;
      },
      () => {}, // told to those who ask
    );
    return running;
  };
  return () => {
    if (last === null) last = tryNow();
    else if (next === null) void tryNow();
    return last;
  };
}

function noticeText(missing: Missing): string {
  const whom = 'read-only agents are held by the strict rules for commands alone';
  return `no OS sandbox: ${missing.reason}; ${whom}${adviceText(missing, 'readOnly')}`;
}

function adviceText({ remedy, isSlow }: Missing, setting: 'readOnly' | 'worktree'): string {
  if (remedy === null) return '';
  if (isSlow)
    return ` until it has started (${remedy}; with sandbox.${setting}: required nothing runs without)`;
  return ` (${remedy}; sandbox.${setting}: off says nothing)`;
}

const SWITCHED_OFF: Missing = { works: false, reason: 'the setting is off', remedy: null };

const NOT_HELD: Missing = { works: false, reason: 'bubblewrap does not hold here', remedy: null };

function isolatedNotice(missing: Missing): string {
  const whom = 'commands in worktrees are held by the command parser alone';
  return `no OS sandbox: ${missing.reason}; ${whom}${adviceText(missing, 'worktree')}`;
}

function spawnRefusal({ reason, remedy }: Missing): string {
  const advice = remedy === null ? '' : ` (for the user: ${remedy})`;
  return `the setting sandbox.worktree requires an OS sandbox, and ${reason}${advice}`;
}

function refusalText({ reason, remedy }: Missing, setting: 'readOnly' | 'worktree' = 'readOnly'): string {
  const advice = remedy === null ? '' : ` (For the user: ${remedy}.)`;
  return `No command can run: the setting sandbox.${setting} requires an OS sandbox, and ${reason}.${advice}`;
}
