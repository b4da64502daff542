/**
 * The other end of the line (EXEC-2): makes the agent from its state as a value and runs the same loop as everywhere, on a
 * runtime made of calls to the host. It neither knows nor ends the process it is in: `child-main.ts` does.
 */
import { runAgent } from '../../engine/loop/loop.ts';
import type { Agent, AgentResult } from '../../engine/shapes.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { agentFromImage } from './agent-image.ts';
import { Channel, type ProcessPort } from './channel.ts';
import { childRuntime, type HostChannel } from './child-runtime.ts';
import type { HostNotice, RunCall } from './messages.ts';

/** `onBroken` is told when the host says what cannot be understood. */
export function serveGuest(port: ProcessPort, spool: string, onBroken: () => void): void {
  const guest = new Guest();
  const channel: HostChannel = new Channel(port, {
    spool,
    onNotice: (notice) => guest.heed(channel, notice),
    answers: {
      run: (call, signal) => guest.run(call, signal),
      end: () => guest.end(),
    },
    onBroken,
  });
}

/** The one agent of this line, once the host has said who it is. */
class Guest {
  readonly #made = Promise.withResolvers<Agent>();
  #agent: Agent | null = null;

  constructor() {
    // Each run is told why there is no agent.
    this.#made.promise.catch(() => {});
  }

  heed(channel: HostChannel, notice: HostNotice): void {
    const agent = this.#agent;
    if (notice.type === 'start') {
      const runtime = childRuntime(
        channel,
        notice.image,
        () => this.#agent ?? raise('there is no agent yet'),
      );
      agentFromImage(notice.image, runtime).then((ready) => {
        this.#agent = ready;
        this.#made.resolve(ready);
      }, this.#made.reject);
    } else if (agent === null) {
      const later = (): void => this.heed(channel, notice);
      void this.#made.promise.then(later, () => {});
    } else if (notice.type === 'spent') {
      agent.here.spending?.follow(notice.records);
    } else {
      agent.content.know(notice.blocks);
      agent.follow(notice.event);
    }
  }

  async run({ turns, totals }: RunCall, signal: AbortSignal): Promise<AgentResult> {
    const agent = await this.#made.promise;
    const nothing = { usage: NO_USAGE, costUsd: 0 };
    agent.here.carried = { turns, ...nothing, below: nothing };
    agent.here.openBill();
    agent.here.spending?.follow(totals);
    return runAgent(agent, { signal });
  }

  async end(): Promise<null> {
    await (await this.#made.promise)[Symbol.asyncDispose]();
    return null;
  }
}

function raise(message: string): never {
  throw new Error(message);
}
