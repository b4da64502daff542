/**
 * The session as an agent's own process has it (EXEC-2): journal, files, other agents and models are the host's, behind
 * a channel. What only the host may hold is not part of it.
 */
import { freezeJson } from '../../conversation/frozen-block.ts';
import type { Agent, AgentHooks, AgentHost, AgentRuntime, CalledAgent } from '../../engine/shapes.ts';
import type { FileLedger, LastWrite } from '../../files/file-ledger.ts';
import { createKeptVersions } from '../../files/file-ledger.ts';
import { FileReaders } from '../../files/file-readers.ts';
import { lazyCheckouts } from '../../git/shared-git/lazy-checkouts.ts';
import type { Journal } from '../../journal/journal.ts';
import { createCommandSandbox } from '../../sandbox/command-sandbox.ts';
import { type Clock, systemClock } from '../../schema/clock.ts';
import { Cancelled, UserMistake } from '../../schema/errors.ts';
import { createProcessRegister, type ProcessRegister } from '../../system/processes/process-register.ts';
import { loginFolder } from '../../system/stored-logins.ts';
import { type AgentDesk, failure, type ToolOutcome } from '../../tools/agent-desk.ts';
import { createFingerprintRedactor } from '../../tools/redaction/fingerprint-redactor.ts';
import { frozenView } from '../../tools/root-view.ts';
import type { AgentImage, ProcessSurroundings } from './agent-image.ts';
import type { Channel } from './channel.ts';
import type { AgentLine } from './messages.ts';

export type HostChannel = Channel<AgentLine>;

/** `agent` is asked for once it is made: it is made with this. */
export function childRuntime(
  host: HostChannel,
  { surroundings, head, messages, mail, prompts, results }: AgentImage,
  agent: () => Agent,
): AgentRuntime {
  const said = [...mail, ...[...messages, ...prompts].flatMap(({ blocks }) => blocks)];
  const known = new Set([...head.tools, ...head.system, ...said, ...results].map(({ digest }) => digest));
  const { environment, home, outputDirectory, sandbox, isolation, secrets, slots, hookEvents } = surroundings;
  const clock = clockAhead(surroundings.clockAheadMs);
  return {
    journal: journalOf(host, surroundings, known),
    host: hostOf(host, known, agent),
    clock,
    files: ledgerOf(host, clock),
    ...(home !== null && { checkouts: lazyCheckouts({ home, environment }) }),
    childEnvironment: environment,
    ...(slots !== null && { slots }),
    processes: registerOf(host, surroundings, agent),
    sandbox: createCommandSandbox(sandbox, environment, isolation, {
      onSlow: (message) => agent().warn('sandbox_slow', message),
      sockets: surroundings.sockets,
      logins: home === null ? undefined : loginFolder(home),
    }),
    ...(hookEvents.length > 0 && { hooks: hooksOf(host, hookEvents) }),
    outputDirectory,
    redact: createFingerprintRedactor(secrets),
    workspaces: {
      create: stays,
      enter: stays,
      resume: stays,
      settled: async () => {},
      async [Symbol.asyncDispose]() {},
    },
    agents: {
      deskFor: (_, call, signal) => deskOf(host, call, signal),
      calledBy: (_, calls) => calledAgents(host, calls),
      // What comes over the line is a copy, and no longer frozen.
      root: async () => frozenView(await host.call('root', null)),
      prepare() {},
    },
  };
}

/** Worktrees are the host's to make, and this process is where it is. */
async function stays(): Promise<never> {
  const reason = 'an agent in a process of its own stays in its directory: start it with isolation instead';
  throw new UserMistake('executor', reason);
}

function journalOf(
  host: HostChannel,
  { session, journal }: ProcessSurroundings,
  known: Set<string>,
): Journal {
  return {
    session,
    file: journal,
    append: (_, event) => host.post({ type: 'record', event }),
    storeBlock(digest, bytes) {
      if (known.has(digest)) return;
      known.add(digest);
      host.post({ type: 'block', digest, bytes });
    },
    async commit(durability) {
      await host.call('commit', durability);
    },
    async close() {},
  };
}

function hostOf(host: HostChannel, known: Set<string>, agent: () => Agent): AgentHost {
  return {
    async exchange(_, { turn, maxTokens, partial, aside, instead, signal, onSpent }) {
      const call = { turn, maxTokens, partial, ...(aside && { aside }), ...(instead && { instead }) };
      const { done, spent, totals } = await host.call('exchange', call, signal);
      for (const { usage, costUsd } of spent) onSpent(usage, costUsd);
      agent().here.spending?.follow(totals);
      for (const { value, json } of done.response.blocks) {
        known.add(freezeJson(value.type, json, true).digest);
      }
      return done;
    },
    permitFor: (_, { request }, signal) => host.call('permit', request, signal),
    callTool: (_, call, signal) => host.call('tool', call, signal),
    mayHaveNews: () => true,
    async news(_, signal) {
      await host.call('news', null, signal);
      if (signal.aborted) throw new Cancelled();
    },
  };
}

/** Those before a call run where it is permitted: in the host. */
function hooksOf(host: HostChannel, events: readonly string[]): AgentHooks {
  return {
    has: (_, event) => event === undefined || events.includes(event),
    run: (_, event, fields, signal) => host.call('hook', { event, fields }, signal),
  };
}

function deskOf(host: HostChannel, call: string, signal: AbortSignal): AgentDesk {
  return {
    spawn: async (request) => told(await host.call('desk', { call, method: 'spawn', request }, signal)),
    send: async (to, message) => told(await host.call('desk', { call, method: 'send', to, message }, signal)),
    look: (id, wait) => host.call('desk', { call, method: 'look', id, wait }, signal),
    stop: (id) => host.call('desk', { call, method: 'stop', id }, signal),
  };
}

async function calledAgents(
  host: HostChannel,
  calls: readonly string[],
): Promise<ReadonlyMap<string, CalledAgent>> {
  const called = calls.length === 0 ? [] : await host.call('called', calls);
  return new Map(
    called.map((call) => [
      call,
      {
        report: (signal) => host.call('report', { call, wait: true }, signal),
        now: () => host.call('report', { call, wait: false }),
      },
    ]),
  );
}

function told(outcome: ToolOutcome | null): ToolOutcome {
  return outcome ?? failure('the host said nothing');
}

/** The turnstile and who wrote last are the host's; a path's last writer comes with its turn. */
function ledgerOf(host: HostChannel, clock: Clock): FileLedger {
  const last = new Map<string, LastWrite>();
  return {
    lastWrite: (path) => last.get(path),
    // A file that is gone was deleted by a command, and what commands did is not told this way.
    recordWrite: ({ path, version }) => {
      if (version !== null) host.post({ type: 'wrote', path, version });
    },
    versions: createKeptVersions(),
    readers: new FileReaders(),
    now: () => clock.now(),
    close() {},
    async exclusive(path, work) {
      const turn = await host.call('lock', path);
      if (turn.last !== undefined) last.set(path, turn.last);
      try {
        return await work();
      } finally {
        last.delete(path);
        host.post({ type: 'unlock', lock: turn.lock });
      }
    },
  };
}

/** Noted on disk by this process, so that nobody's end leaves an orphan, and told to the host. */
function registerOf(
  host: HostChannel,
  { processes }: ProcessSurroundings,
  agent: () => Agent,
): ProcessRegister {
  const own = createProcessRegister(processes, (message) => agent().warn('process_not_noted', message));
  return {
    expect: (id) => own.expect(id),
    enter(group, id, expected) {
      const leave = own.enter(group, id, expected);
      host.post({ type: 'group', group, runs: true });
      return () => {
        leave();
        host.post({ type: 'group', group, runs: false });
      };
    },
  };
}

function clockAhead(aheadMs: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + aheadMs };
}
