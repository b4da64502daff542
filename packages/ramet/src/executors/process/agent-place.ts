/**
 * The port of a place where agents run that do not run here: a process, later another machine. It gets no agent. It
 * carries frames between the host and a guest (`guest.ts`), who makes the agent from its state as a value and asks the host
 * for everything else.
 *
 * Invariants
 * 1. Frames arrive in the order in which they were sent, or not at all once the place is gone.
 * 2. `ended` settles once, after everything that the guest said was heard. Nothing of the guest runs then.
 */
import type { ProcessPort } from './channel.ts';

export interface PlaceOrder {
  readonly agent: string;
  readonly cwd: string;
  /** Scrubbed: what pays for models is not in it. */
  readonly environment: Readonly<Record<string, string>>;
  /** For frames that are too large for the line. */
  readonly spool: string;
}

export interface AgentPlace {
  start(order: PlaceOrder): StartedPlace;
}

export interface StartedPlace {
  readonly port: ProcessPort;
  /** Of the process group that runs there, if it is one of this machine. */
  readonly group: number | undefined;
  readonly isConnected: boolean;
  /** How it ended. */
  readonly ended: Promise<string>;
  /** The end of what it wrote besides frames: why it broke, if it did. */
  readonly lastWords: string;
  /** Lets it end by itself. */
  disconnect(): void;
  kill(): void;
}
