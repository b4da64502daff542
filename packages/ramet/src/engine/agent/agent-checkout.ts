/**
 * One agent and the checkout it shares (WORK-1): it is entered with the first call that can change something and left
 * when the agent ends. What could not be noted is told and holds nothing up: the file tools guard every edit by
 * themselves.
 */
import { oneLine } from '../../git/provenance/trailers.ts';
import type { Checkout } from '../../git/shapes.ts';
import { describeError } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { AgentDirectory } from '../isolation/agent-directory.ts';
import type { AgentSpec, SessionRuntime } from './runtime.ts';

export interface CheckoutUser {
  readonly spec: Pick<AgentSpec, 'id' | 'origin' | 'readOnly'>;
  readonly directory: Pick<AgentDirectory, 'cwd'>;
  readonly runtime: Pick<SessionRuntime, 'checkouts' | 'childEnvironment' | 'files' | 'redact'>;
  readonly scope: AsyncDisposableStack;
  warn(code: string, message: string): void;
}

const READERS_TOLD = 5;

export class AgentCheckout {
  readonly #user: CheckoutUser;
  /** Where it was when it entered. */
  #entered: string | null = null;
  #leave: (() => void) | null = null;
  #environment: Readonly<Record<string, string>> | null = null;

  constructor(user: CheckoutUser) {
    this.#user = user;
  }

  /** An agent that changes nothing is no reason for others to be careful. */
  async enter(): Promise<void> {
    const { spec, scope, directory } = this.#user;
    const { cwd } = directory;
    if (this.#entered === cwd) return;
    if (this.#entered === null) scope.defer(() => this.#leave?.());
    this.#entered = cwd;
    this.#environment = null;
    // One that has moved to a worktree no longer lives where it was.
    this.#leave?.();
    this.#leave = null;
    await this.#guarded(null, (checkout) => {
      if (spec.readOnly !== true) this.#leave = checkout.enter(spec.id);
      const task = oneLine(spec.origin?.description ?? '');
      this.#environment = { ...checkout.environment, ...(task !== '' && { RAMET_TASK: task }) };
      return null;
    });
  }

  /** In which its programs find the shim in git's place, once it has entered. */
  get environment(): Readonly<Record<string, string>> {
    return this.#environment ?? this.#user.runtime.childEnvironment;
  }

  /** Other agents that live there, of any process. */
  others(): Promise<AgentId[]> {
    return this.#guarded<AgentId[]>([], (checkout) => checkout.others(this.#user.spec.id));
  }

  /** Tells those who have read what a command has changed, and returns a line for its result. */
  async afterCommand(command: string, since: number): Promise<string | null> {
    const { spec, runtime } = this.#user;
    const { readers } = runtime.files;
    if (readers.size < 2 && (await this.others()).length === 0) return null;
    try {
      const task = spec.origin?.description ?? null;
      // Others read it, and it is kept in a file.
      const by = { agent: spec.id, task, command: runtime.redact(command), since };
      const noticed = await readers.notice(by, runtime.files);
      if (noticed.length === 0) return null;
      const lines = noticed.map(({ path, readers: told }) => {
        const names = told.slice(0, READERS_TOLD).map(({ agent }) => agent);
        return `${path} (read by ${names.join(', ')})`;
      });
      return `Files that other agents have read changed while this ran. They will be told: ${lines.join(', ')}.`;
    } catch (error) {
      this.#user.warn(
        'changes_not_noticed',
        `changes of a command were not looked at: ${describeError(error)}`,
      );
      return null;
    }
  }

  async #guarded<T>(fallback: T, use: (checkout: Checkout) => T): Promise<T> {
    const { directory, runtime } = this.#user;
    try {
      const checkout = (await runtime.checkouts?.())?.at(directory.cwd) ?? null;
      return checkout === null ? fallback : use(checkout);
    } catch (error) {
      this.#user.warn('checkout_not_shared', `other agents do not know of this one: ${describeError(error)}`);
      return fallback;
    }
  }
}
