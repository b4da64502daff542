/**
 * One agent in a place of its own, as its host sees it (EXEC-2): started, run, ended, and cleaned up after, however it
 * went. Everything below speaks of a process; `agent-place.ts` says what else it may be.
 *
 * Invariants
 * 1. A process that does not end after an abort, or says what cannot be understood, is killed with its commands.
 * 2. When `gone` has settled, nothing runs for the process and nothing is held for it, here or on the machine.
 */
import type { HostDuties } from '../../engine/host-duties.ts';
import type { AgentResult, AgentSnapshot } from '../../engine/shapes.ts';
import { describeError } from '../../schema/errors.ts';
import { onAbort } from '../../system/on-abort.ts';
import { terminateGroup } from '../../system/processes/process-group.ts';
import { imageOf, type ProcessSurroundings } from './agent-image.ts';
import type { AgentPlace, StartedPlace } from './agent-place.ts';
import { Channel } from './channel.ts';
import { HostServices } from './host-services.ts';
import type { HostLine, HostNotice } from './messages.ts';

export interface AgentProcessOptions {
  surroundings: ProcessSurroundings;
  /** How long a process may take to end after an abort. */
  graceMs: number;
  place: AgentPlace;
  /** Of the run it is started for. */
  signal: AbortSignal;
  onTurn: (text: string) => void;
  /** Turns that the run has had. */
  turns: number;
}

type RecordedNotice = Extract<HostNotice, { type: 'recorded' }>;

export class AgentProcess {
  readonly #duties: HostDuties;
  readonly #options: AgentProcessOptions;
  readonly #place: StartedPlace;
  readonly #channel: Channel<HostLine>;
  readonly services: HostServices;
  /** Settles with how the process ended, once everything of it has. */
  readonly gone: Promise<string>;
  /** Why it was killed for what it said; null while it was not. */
  broken: string | null = null;
  /** Why it would not run the agent. */
  #refusal = '';
  /** What the process is told once its loop has asked. */
  readonly #held: HostNotice[] = [];

  /** It runs from `value`. */
  constructor(duties: HostDuties, value: AgentSnapshot, options: AgentProcessOptions) {
    this.#duties = duties;
    this.#options = options;
    // Before anything is started: an agent that cannot go elsewhere is refused here.
    const image = imageOf(value, options.surroundings);
    const { environment, outputDirectory } = options.surroundings;
    const { id } = value.spec;
    this.services = new HostServices(duties, value, options.signal, {
      onTurn: options.onTurn,
      onSpent: (records) => this.#channel.post({ type: 'spent', records }),
      onRecorded: (event, blocks) => this.#tell({ type: 'recorded', event, blocks }),
      onCaughtUp: () => {
        for (const notice of this.#held.splice(0)) this.#channel.post(notice);
      },
    });
    this.#place = options.place.start({ agent: id, cwd: duties.cwd, environment, spool: outputDirectory });
    this.gone = this.#watch();
    this.#channel = this.#connect(outputDirectory);
    this.#channel.post({ type: 'start', image });
    this.services.askEarly(options.turns);
  }

  /** What comes for the agent would change a question that was asked before its loop asks it. */
  #tell(notice: RecordedNotice): void {
    const { type } = notice.event;
    const isMail = type === 'message.received' || type === 'message.taken';
    if (isMail && this.services.isAhead) this.#held.push(notice);
    else this.#channel.post(notice);
  }

  /** `turns` are those that the run has had elsewhere. Null when the process ended before the agent did. */
  async run(turns: number, signal: AbortSignal): Promise<AgentResult | null> {
    const totals = this.#duties.spent();
    this.services.runSignal = signal;
    this.services.ended = null;
    let timer: NodeJS.Timeout | undefined;
    const stopListening = onAbort(signal, () => {
      timer = setTimeout(() => this.#place.kill(), this.#options.graceMs);
    });
    try {
      return await this.#channel.call('run', { turns, totals }, signal);
    } catch (error) {
      // An agent never rejects: the process is gone, or could not make it.
      if (this.#place.isConnected) this.#refusal = describeError(error);
      this.#place.kill();
      await this.gone;
      return null;
    } finally {
      stopListening();
      clearTimeout(timer);
    }
  }

  /** Lets it release what the agent acquired, then ends it. */
  async end(): Promise<void> {
    const timer = setTimeout(() => this.#place.kill(), this.#options.graceMs);
    await this.#channel.call('end', null).catch(() => {});
    this.#place.disconnect();
    await this.gone;
    clearTimeout(timer);
  }

  #connect(spool: string): Channel<HostLine> {
    const { services } = this;
    return new Channel<HostLine>(this.#place.port, {
      spool,
      onNotice: (notice) => services.heed(notice),
      answers: services.answers,
      onBroken: (reason) => {
        this.broken ??= reason;
        this.#place.kill();
      },
    });
  }

  async #watch(): Promise<string> {
    const { group, ended } = this.#place;
    const { runtime, spec } = this.#duties;
    const leave = group === undefined ? null : runtime.processes.enter(group, spec.id);
    const how = await ended;
    leave?.();
    await this.#cleanUp(how);
    const said = this.#place.lastWords.trim() || this.#refusal;
    return said === '' ? how : `${how}: ${said.replace(/\s*\n\s*/g, ' ')}`;
  }

  async #cleanUp(how: string): Promise<void> {
    this.#channel.close(`the agent's process is gone: ${how}`);
    await Promise.all(this.services.groups.map(terminateGroup));
    this.services[Symbol.dispose]();
    await Promise.all([this.#channel.settled(), this.services.settled()]);
  }
}
