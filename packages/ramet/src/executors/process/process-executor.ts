/**
 * Hosts agents in processes of their own (EXEC-2): loop and tools run there; keys, rate window, permissions, children
 * and the journal stay here, so that an agent costs, says and may do exactly what it would in this process.
 *
 * Invariants
 * 1. Whatever happens to the process, the run ends with one result and one `agent.ended`.
 * 2. An agent whose process is gone resumes in another from its last complete turn, as the journal has it; a few times in a
 *    row, until a call of it has done what it should: then it was not the agent's work that ended the process.
 */

import type { AgentExecutor, ExecutorRunOptions } from '../../engine/agent/executor.ts';
import type { HostDuties, RunHost } from '../../engine/host-duties.ts';
import { endingOfAbort } from '../../engine/loop/run-state.ts';
import type { AgentResult, AgentSnapshot, Ending } from '../../engine/shapes.ts';
import type { SandboxMode } from '../../sandbox/command-sandbox.ts';
import { elapsedOf } from '../../schema/clock.ts';
import { describeError } from '../../schema/errors.ts';
import type { SecretFingerprints } from '../../tools/redaction/fingerprint-redactor.ts';
import type { ProcessSurroundings } from './agent-image.ts';
import type { AgentPlace } from './agent-place.ts';
import { AgentProcess } from './agent-process.ts';
import { processPlace } from './child-program.ts';

export interface ProcessExecutorParts {
  /** For what must not be in the conversation: processes remove it without knowing it. */
  secrets(): SecretFingerprints;
  /** Where running process groups are noted. */
  processes: string;
  /** Where Ramet keeps what it knows of checkouts. */
  home?: string | undefined;
  /** Of agents that only read. */
  sandbox: SandboxMode;
  isolation: SandboxMode;
  /** Of services, which commands in worktrees reach. */
  sockets?: readonly string[] | undefined;
  /** Instead of a process with our own program. */
  place?: AgentPlace | undefined;
  graceMs?: number | undefined;
}

/** Tools have five seconds to end after an abort, their commands four. */
const GRACE_MS = 15_000;
const MOST_RESTARTS = 3;

export function processExecutor(parts: ProcessExecutorParts): AgentExecutor {
  const living = new WeakMap<RunHost, HostedAgent>();
  return {
    name: 'process',
    async run(value, host, options) {
      const duties = host.dutiesFor(value);
      const hosted = living.get(host) ?? new HostedAgent(duties, parts);
      living.set(host, hosted);
      return hosted.run(value, options);
    },
  };
}

class HostedAgent {
  readonly #duties: HostDuties;
  readonly #parts: ProcessExecutorParts;
  #process: AgentProcess | null = null;
  #turns = 0;
  #text = '';

  constructor(duties: HostDuties, parts: ProcessExecutorParts) {
    this.#duties = duties;
    this.#parts = parts;
    duties.onRelease(() => this.#process?.end());
  }

  async run(value: AgentSnapshot, { signal }: ExecutorRunOptions): Promise<AgentResult> {
    const { clock } = this.#duties.runtime;
    const startedAt = elapsedOf(clock);
    const { spending, turns } = this.#duties.beginRun();
    this.#turns = turns;
    this.#text = '';
    const result = await this.#runToEnd(value, signal);
    return {
      ...result,
      turns: this.#turns,
      usage: spending.totalUsage,
      costUsd: spending.totalCostUsd,
      durationMs: elapsedOf(clock) - startedAt,
      model: this.#duties.model,
    };
  }

  async #runToEnd(first: AgentSnapshot, signal: AbortSignal): Promise<Ending & Pick<AgentResult, 'text'>> {
    for (let restarts = 0, value = first; ; restarts++, value = this.#duties.snapshot()) {
      try {
        const process = this.#process ?? this.#start(value, signal);
        const before = this.#duties.completedCalls;
        const result = await process.run(this.#turns, signal);
        if (result !== null) return result;
        this.#process = null;
        if (this.#duties.completedCalls > before) restarts = 0;
        const ending = await this.#afterLoss(process, signal, restarts);
        if (ending !== null) return { ...ending, text: this.#text };
      } catch (error) {
        return { ...(await this.#duties.end(failed(describeError(error)))), text: this.#text };
      }
    }
  }

  #start(value: AgentSnapshot, signal: AbortSignal): AgentProcess {
    const { place = processPlace(), graceMs = GRACE_MS } = this.#parts;
    this.#process = new AgentProcess(this.#duties, value, {
      surroundings: this.#surroundings(),
      graceMs,
      place,
      signal,
      onTurn: (text) => {
        this.#turns += 1;
        this.#text = text || this.#text;
      },
      turns: this.#turns,
    });
    return this.#process;
  }

  #surroundings(): ProcessSurroundings {
    const { journal, childEnvironment, outputDirectory, clock, slots = null } = this.#duties.runtime;
    const { secrets, processes, sandbox, isolation, sockets, home = null } = this.#parts;
    return {
      session: journal.session,
      journal: journal.file,
      environment: childEnvironment,
      outputDirectory,
      home,
      slots,
      processes,
      sandbox,
      isolation,
      sockets,
      secrets: secrets(),
      hookEvents: this.#duties.hookEvents,
      clockAheadMs: clock.now() - Date.now(),
    };
  }

  /** How the agent ends when its process is gone; null when it resumes in another. */
  async #afterLoss(process: AgentProcess, signal: AbortSignal, restarts: number): Promise<Ending | null> {
    const how = await process.gone;
    const { services, broken } = process;
    if (services.ended !== null) {
      const { type: _, ...ending } = services.ended;
      return ending;
    }
    services.recordOpenResponse();
    this.#duties.continueLastTurn();
    if (signal.aborted) return this.#duties.end(endingOfAbort(signal));
    if (broken !== null) return this.#duties.end(failed(`its process was ended: ${broken}`));
    if (restarts === MOST_RESTARTS)
      return this.#duties.end(failed(`its process ended ${restarts + 1} times: ${how}`));
    this.#duties.resumed(`the agent's process is gone: ${how}; resuming in another`);
    return null;
  }
}

function failed(message: string): Ending {
  return { status: 'failed', cause: 'executor', message };
}
