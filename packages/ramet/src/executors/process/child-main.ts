/**
 * The program of an agent's own process (EXEC-2): the same loop as everywhere, on a session made of calls to the host.
 * It lives as long as the line to its host: without one it ends its commands and exits at once.
 */

import { runAgent } from '../../engine/loop/loop.ts';
import { openBill } from '../../engine/loop/run-state.ts';
import type { Agent, AgentResult } from '../../engine/shapes.ts';
import { keepGrammarSmall } from '../../permission/grammar-memory.ts';
import { drain } from '../../schema/generators.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { agentFromImage } from './agent-image.ts';
import { Channel } from './channel.ts';
import { SPOOL_VARIABLE } from './child-program.ts';
import { childRuntime, type HostChannel } from './child-runtime.ts';
import type { HostNotice, RunCall } from './messages.ts';

const GONE = 1;

/** The one agent of this process, once the host has said who it is. */
const made = Promise.withResolvers<Agent>();
let agent: Agent | null = null;

function connect(): void {
  keepGrammarSmall();
  const channel: HostChannel = new Channel(
    {
      // The end of the line is `disconnect`'s to notice.
      send: (frame) => void process.send?.(frame, undefined, undefined, () => {}),
      onFrame: (take) => void process.on('message', take),
    },
    {
      spool: process.env[SPOOL_VARIABLE] ?? '',
      onNotice: (notice) => heed(channel, notice),
      answers: {
        run: async (call, signal) => run(channel, await made.promise, call, signal),
        async end() {
          await (await made.promise)[Symbol.asyncDispose]();
          return null;
        },
      },
      onBroken: () => process.exit(GONE),
    },
  );
  // Exiting ends the commands: see `process-register.ts`.
  for (const end of ['disconnect', 'SIGTERM', 'SIGINT', 'SIGHUP']) process.on(end, () => process.exit(GONE));
}

function heed(channel: HostChannel, notice: HostNotice): void {
  if (notice.type === 'start') {
    const own = (): Agent => agent ?? raise('the agent is not there yet');
    const runtime = childRuntime(channel, notice.image, own);
    agentFromImage(notice.image, runtime).then((ready) => {
      agent = ready;
      made.resolve(ready);
    }, made.reject);
  } else if (agent === null) void made.promise.then(() => heed(channel, notice));
  else if (notice.type === 'spent') agent.spending?.follow(notice.records);
  else {
    agent.content.know(notice.blocks);
    agent.follow(notice.event);
  }
}

async function run(
  channel: HostChannel,
  own: Agent,
  { turns, totals }: RunCall,
  signal: AbortSignal,
): Promise<AgentResult> {
  const nothing = { usage: NO_USAGE, costUsd: 0 };
  own.carried = { turns, ...nothing, below: nothing };
  openBill(own);
  own.spending?.follow(totals);
  return drain(runAgent(own, { signal }), (event) => channel.post({ type: 'event', event }));
}

function raise(message: string): never {
  throw new Error(message);
}

// Whoever starts it otherwise, such as the build to warm the compile cache, wants only that it loads.
if (process.send !== undefined) connect();
