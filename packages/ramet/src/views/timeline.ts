/** One line of text per event, for people (`ramet logs`). What a model or a file named is made safe to print. */
import type { AgentLifecycleEvent } from '../schema/agent-events.ts';
import type { EventOf, JournalEvent, RecordedEvent } from '../schema/events.ts';
import { localMoment } from '../schema/local-time.ts';
import { openTodos } from '../schema/status.ts';
import { spanText } from '../schema/until-text.ts';
import { isPromptUncertain, isUncertain, totalTokens } from '../schema/usage.ts';
import { snakeCased } from './json-spelling.ts';
import { describeOperatorEvent } from './operator-line.ts';

const LONGEST = 300;

export function timelineLine({ time, agent, event }: RecordedEvent): string {
  return `${localMoment(time)}  ${agent ?? 'session'}  ${describeEvent(event)}`;
}

/** What of an event has names that others chose: a schema, the input of a call, tasks, headers of a provider. */
const NAMED_BY_OTHERS = ['schema', 'updatedInput', 'results', 'rate'];

/** The whole event as one line of JSON, for programs. */
export function recordedLine({ seq, time, agent, event }: RecordedEvent): string {
  const all = { seq, time: new Date(time).toISOString(), agent, ...event };
  return JSON.stringify(snakeCased(all, NAMED_BY_OTHERS));
}

export function describeEvent(event: JournalEvent): string {
  return printable(describe(event));
}

function describe(event: JournalEvent): string {
  switch (event.type) {
    case 'session.started':
      return `session started in ${event.cwd} (ramet ${event.version})`;
    case 'session.resumed':
      return `session resumed in ${event.cwd} (ramet ${event.version})`;
    case 'agent.started':
      return `agent started: ${[event.agentType, event.name].filter(Boolean).join(' ')} on ${event.model}, ${event.permissionMode}, at most ${event.maxTurns} turns${event.origin?.phase ? `, for ${event.origin.phase}` : ''}`;
    case 'agent.resumed':
    case 'status.changed':
    case 'conversation.inherited':
    case 'launch.decided':
    case 'cache.kept':
    case 'message.received':
    case 'message.taken':
    case 'agent.detached':
    case 'progress.reported':
    case 'record.shortened':
    case 'tool.withdrawn':
    case 'window.learned':
    case 'compaction.postponed':
    case 'plan.changed':
    case 'tools.denied':
    case 'agent.stalled':
    case 'fork.compared':
      return describeLife(event);
    case 'agent.ended':
      return `agent ended: ${[event.status, event.cause, event.message].filter(Boolean).join(': ')}`;
    case 'permission.changed':
      return `permission mode changed: ${event.mode}`;
    case 'permission.asked':
      return `permission asked: ${event.tool} ${event.summary}`;
    case 'permission.answered':
      return describeAnswer(event);
    case 'prefix.frozen':
      return `prefix frozen: ${count(event.tools.length, 'tool')}, ${count(event.system.length, 'system block')}`;
    case 'message.appended':
      if (event.adopted !== undefined)
        return `answer of ${event.adopted.agent} adopted: ${count(event.adopted.files.length, 'file')}`;
      return `${event.role} message (${event.cause.replace('_', ' ')}): ${count(event.blocks.length, 'block')}`;
    case 'conversation.replaced':
      return `conversation replaced (${event.cause}): ${count(event.messages.length, 'message')}`;
    case 'request.started':
    case 'request.failed':
      return describeRequest(event);
    case 'response.completed':
      return describeResponse(event);
    case 'tool.started':
      return `${event.name} started`;
    case 'tool.completed':
      return `${event.name} ${outcomeOf(event)} in ${seconds(event.durationMs)}`;
    case 'hooks.ran':
      return describeHooks(event);
    case 'guards.noted':
      return `hooks that check calls noted: ${event.guards.length}`;
    case 'file.read':
      return `file read: ${event.path}`;
    case 'file.changed':
      return `file ${event.before === null ? 'created' : event.after === null ? 'deleted' : 'changed'}: ${event.path}`;
    case 'files.restored':
      return `${event.kind} of turn ${event.turn} and later: ${count(event.files.length, 'file')} put back`;
    case 'files.settled':
      return event.failed.length === 0
        ? 'files in place'
        : `not all files in place: ${count(event.failed.length, 'file')} left`;
    case 'worktree.created':
    case 'worktree.checkpointed':
    case 'worktree.released':
    case 'directory.changed':
      return describeWorktree(event);
    case 'operator.started':
    case 'operator.resumed':
    case 'operator.tasks_added':
    case 'operator.changed':
    case 'operator.base_checked':
    case 'operator.integrated':
    case 'operator.landed':
    case 'operator.asked':
    case 'task.changed':
    case 'task.marked':
      return describeOperatorEvent(event);
    case 'todos.changed':
      return `todos changed: ${openTodos(event.todos).length} open of ${event.todos.length}`;
    case 'phase.changed':
      return `phase ${event.to}: ${event.note}`;
    case 'worker.continued':
      return `worker ${event.worker} continued for ${event.phase}`;
    case 'coordination.refused':
      return `${event.what} refused in ${event.phase}: ${event.reason}`;
    case 'verification.writes':
      return `verification writes ${event.paths.join(', ')}`;
    case 'verification.begins':
      return 'verification begins: the files that git knows are noted';
    case 'verification.compared':
      return `changed while it was verified: ${event.changed.join(', ') || 'nothing'}`;
    case 'background_task.started':
      return `background task ${event.task} started (pid ${event.pid})`;
    case 'background_task.ended':
      return `background task ${event.task} ended: ${event.signal ?? `exit code ${event.code}`}${event.stoppedBy === null ? '' : `, stopped by ${event.stoppedBy}`}`;
    case 'warning.raised':
      return `warning ${event.code}: ${event.message}`;
    default:
      return unknownEvent(event);
  }
}

function describeHooks({ event, runs }: EventOf<'hooks.ran'>): string {
  const each = runs.map(
    ({ hook, outcome, durationMs, problem }) =>
      `${hook} ${outcome}${outcome === 'started' ? '' : ` in ${seconds(durationMs)}`}${problem === undefined ? '' : ` (${problem})`}`,
  );
  return `hooks of ${event}: ${each.join('; ')}`;
}

function outcomeOf({ refused, isError }: EventOf<'tool.completed'>): string {
  if (refused !== undefined) return 'refused';
  return isError ? 'failed' : 'done';
}

function describeWorktree(
  event: EventOf<'worktree.created' | 'worktree.checkpointed' | 'worktree.released' | 'directory.changed'>,
): string {
  switch (event.type) {
    case 'worktree.created': {
      const { files, policy } = event.dirty;
      const left = `${files ?? 'an unknown number of'} uncommitted files: ${policy}`;
      return `worktree ${event.how} in ${Math.round(event.ms)} ms: ${event.path} on ${event.branch ?? 'no branch'} at ${event.base.slice(0, 12)}; ${left}`;
    }
    case 'worktree.checkpointed':
      return `work kept in ${event.ref}: ${event.commit.slice(0, 12)}`;
    case 'worktree.released':
      return event.kept
        ? `worktree given back, kept: ${event.path} (${event.reasons.join('; ')})`
        : `worktree given back, nothing in it: ${event.path}`;
    case 'directory.changed':
      return `works in ${event.cwd}`;
  }
}

const KEPT: Record<EventOf<'cache.kept'>['choice'], string> = {
  refresh: 'refreshed',
  lapse: 'left to lapse',
  hour: 'written for an hour from here on',
  minutes: 'written for five minutes from here on',
};

type LifeEvent = Exclude<
  AgentLifecycleEvent,
  {
    type:
      | 'agent.started'
      | 'agent.ended'
      | 'phase.changed'
      | 'worker.continued'
      | 'coordination.refused'
      | 'verification.begins'
      | 'verification.compared'
      | 'verification.writes';
  }
>;

function describeLife(event: LifeEvent): string {
  switch (event.type) {
    case 'agent.resumed':
      return event.from === 'running' ? 'resumed: its process was ended' : 'resumed after an interruption';
    case 'status.changed':
      return `${[event.status, event.cause].filter(Boolean).join(': ')}${untilTime(event.until)}`;
    case 'conversation.inherited':
      return `forked from ${event.from}`;
    case 'launch.decided':
      return `launch ${event.choice.replace('_', ' ')} (${event.mode}): ${event.why}`;
    case 'cache.kept':
      return `cache ${KEPT[event.choice]} (${event.tokens} tokens): ${event.why}`;
    case 'message.received':
      if (event.tasks !== undefined)
        return `told that background tasks were interrupted: ${event.tasks.join(', ')}`;
      return `${event.kind} received${event.from === null ? '' : ` from ${event.from}`}`;
    case 'message.taken':
      return `message ${event.item} ${event.call === null ? 'taken back' : 'told by a tool'}`;
    case 'agent.detached':
      return 'sent to the background';
    case 'progress.reported':
      return `progress: ${event.line}`;
    case 'record.shortened':
      return 'resumed from a journal that had lost its end';
    case 'tool.withdrawn':
      return `${event.name} not begun: it is made when the agent resumes`;
    case 'window.learned':
      return `context window of ${event.model}: ${event.tokens} tokens`;
    case 'compaction.postponed':
      return `compaction postponed until ${event.untilTokens} tokens`;
    case 'plan.changed':
      return `plan ${event.plan} by ${event.by ?? 'a person'}`;
    case 'tools.denied':
      return `refused for now: ${event.rules.join(', ')}`;
    case 'agent.stalled':
      return `silent for ${seconds(event.silentMs)}`;
    case 'fork.compared':
      return `as a fork it took ${event.forkTokens} input tokens' worth, fresh it would have taken ${event.freshTokens}`;
  }
}

function untilTime(until: number | undefined): string {
  return until === undefined ? '' : ` until ${localMoment(until).slice(0, -4)}`;
}

/** A later version may add kinds of events without changing the shape of the file. */
function unknownEvent(event: never): string {
  const { type } = event as { type?: unknown }; // `never` only by our own list of kinds
  return `event of an unknown kind: ${String(type)}`;
}

function describeAnswer({ answer, rules, reason, updatedInput }: EventOf<'permission.answered'>): string {
  if (answer === 'denied') return `permission denied: ${reason ?? 'no reason given'}`;
  if (answer === 'policy') return 'permission given by rules or a mode that came meanwhile';
  const changed = updatedInput === undefined ? '' : ', with a changed input';
  return `permission given ${answer}${changed}${rules.length > 0 ? `: ${rules.join(', ')}` : ''}`;
}

function describeRequest(event: EventOf<'request.started' | 'request.failed'>): string {
  if (event.type === 'request.failed' && event.code === 'cancelled') return `request ${event.message}`;
  if (event.type === 'request.failed') {
    const next = event.retryInMs === null ? 'giving up' : `trying again in ${pause(event.retryInMs)}`;
    return `request failed: ${event.status ?? event.code} ${event.message}; ${next}`;
  }
  const attempt = event.attempt > 1 ? `, attempt ${event.attempt}` : '';
  const purpose = event.source === undefined ? `of turn ${event.turn}` : `(${event.source})`;
  return `request ${purpose} to ${event.model}: ${count(event.messages, 'message')}, cache ${event.cache}${attempt}`;
}

function said(tokens: number, isPart: boolean): string {
  if (!isPart) return String(tokens);
  return tokens === 0 ? 'unknown' : `at least ${tokens}`;
}

function describeResponse(event: EventOf<'response.completed'>): string {
  const { usage } = event;
  const whole = totalTokens(usage) - usage.output_tokens;
  const input = said(whole, isPromptUncertain(usage));
  const cached = said(usage.cache_read_input_tokens, isUncertain(usage, 'cache_read_input_tokens'));
  const output = said(usage.output_tokens, isUncertain(usage, 'output_tokens'));
  const least = event.atLeastUsd === undefined ? '' : `, at least $${event.atLeastUsd.toFixed(4)}`;
  const cost = event.costUsd === null ? `cost unknown${least}` : `$${event.costUsd.toFixed(4)}`;
  const fate = event.kept ? '' : ', not kept';
  return `response (${event.stopReason}${fate}): ${input} tokens in (${cached} cached), ${output} out, ${cost}, ${seconds(event.durationMs)}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function pause(ms: number): string {
  return ms < 60_000 ? seconds(ms) : spanText(ms);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`;
}

/** One line without control characters: a path or a message may hold escape sequences for the terminal. */
function printable(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}
