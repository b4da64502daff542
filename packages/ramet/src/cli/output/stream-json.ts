/** One JSON event per line, each with the agent it is of; the last is the result object. */

import type { AgentResult, JournalEvent } from '../../sdk/index.ts';
import type { Session, SessionEvent } from '../../sdk/session/session.ts';
import { VERSION } from '../../sdk/version.ts';
import type { CommandIo } from '../io.ts';
import type { UserLine } from '../stream-input.ts';
import { refusedObject, reportedUsage, reportedWorktree, resultObject } from './result-object.ts';
import { Denials, endingLine, type ResultOutput } from './result-output.ts';
import { RunAgents } from './run-agents.ts';

/** The agent that a line is of. */
type LineOwner = Pick<Session['agent'], 'id' | 'parent'>;

type HooksRan = Extract<JournalEvent, { type: 'hooks.ran' }>;

interface StreamOutput extends ResultOutput {
  /** Of the input, which is a stream too. */
  wrongLine(session: Session, line: { readonly number: number; readonly problem: string }): void;
  replay(session: Session, line: UserLine): void;
}

/** `begun`: the session has had its first line. */
export function streamJsonOutput(io: CommandIo, begun: Session | null = null): StreamOutput {
  const line = (session: Session, value: Record<string, unknown>, of: LineOwner = session.agent): void => {
    const whose = {
      ...{ agent_id: of.id, parent_agent_id: of.parent, session_id: session.id },
      // Null for the main agent alone: it is what scripts of the public convention tell it by.
      parent_tool_use_id: of.parent === null ? null : (calls.get(of.id) ?? of.id),
    };
    io.out(`${JSON.stringify({ ...value, ...whose })}\n`);
  };
  const agents = new RunAgents();
  const denials = new Denials();
  const parents = new Map<string, LineOwner['parent']>();
  /** The calls that asked for children. */
  const calls = new Map<string, string>();
  let shown = begun;
  /** Hooks run before the first line, and behind a result, which stays the last line unless another run begins. */
  const held: [agent: LineOwner['id'] | null, event: HooksRan][] = [];
  let isBetween = true;
  const hooks = (session: Session, [agent, event]: (typeof held)[number]): void => {
    const id = agent ?? session.agent.id;
    line(session, hookEvent(event), { id, parent: parents.get(id) ?? null });
  };
  const begin = (session: Session): void => {
    isBetween = false;
    for (const one of held.splice(0)) hooks(session, one);
  };
  const result = (session: Session, value: object): void => {
    begin(session);
    line(session, { ...value });
    isBetween = true;
  };
  return {
    record(agent, event) {
      agents.recorded(agent, event);
      if (event.type !== 'hooks.ran') return;
      if (shown === null || isBetween) held.push([agent, event]);
      else hooks(shown, [agent, event]);
    },
    start(session) {
      line(session, initEvent(session));
      shown = session;
      begin(session);
    },
    wrongLine(session, { number, problem }) {
      begin(session);
      line(session, { type: 'system', subtype: 'input_error', line: number, error: problem });
    },
    replay(session, { message, uuid }) {
      begin(session);
      line(session, { type: 'user', message, isReplay: true, ...(uuid !== undefined && { uuid }) });
    },
    event(session, event) {
      if (isBetween) begin(session);
      parents.set(event.agentId, event.parentAgentId);
      if (event.type === 'agent_started' && event.origin?.call) calls.set(event.agentId, event.origin.call);
      agents.saw(event);
      denials.saw(event);
      // That it was stopped is in the result.
      if (event.type === 'request_failed' && event.code === 'cancelled') return;
      line(session, wireEvent(event), { id: event.agentId, parent: event.parentAgentId });
    },
    end(session, ended) {
      const seen = { agents: agents.list(session, ended), denials: denials.list };
      result(session, resultObject(session, ended, seen));
      if (ended.status !== 'done') io.note(endingLine(ended, session));
    },
    refused: (session, problem) => result(session, refusedObject(session, problem)),
  };
}

function hookEvent({ event, call, runs }: HooksRan): Record<string, unknown> {
  return {
    type: 'system',
    subtype: 'hook_response',
    hook_event: event,
    ...(call !== undefined && { tool_use_id: call }),
    hooks: runs.map(({ hook, source, outcome, durationMs, problem }) => {
      return {
        ...{ command: hook, source, outcome, duration_ms: Math.round(durationMs) },
        ...(problem !== undefined && { problem }),
      };
    }),
  };
}

function initEvent({ agent, tools, model, mcpServers = [] }: Session): Record<string, unknown> {
  return {
    type: 'system',
    subtype: 'init',
    cwd: agent.cwd,
    model,
    tools,
    mcp_servers: mcpServers,
    ...{ permissionMode: agent.permissionMode, permission_mode: agent.permissionMode },
    ramet_version: VERSION,
  };
}

/** docs/views.md lists these lines. */
function wireEvent(event: SessionEvent): Record<string, unknown> {
  switch (event.type) {
    case 'assistant':
      return { type: 'assistant', message: assistantMessage(event), total_cost_usd: event.costUsd };
    case 'tool_started':
      return { type: 'system', subtype: 'tool_started', tool_use_id: event.call.id, name: event.call.name };
    case 'tool_withdrawn':
      return { type: 'system', subtype: 'tool_withdrawn', tool_use_id: event.call.id, name: event.call.name };
    case 'tool_progress': {
      const { id, name } = event.call;
      return { type: 'system', subtype: 'tool_progress', tool_use_id: id, name, text: event.text };
    }
    case 'tool_completed':
      return {
        type: 'user',
        message: { role: 'user', content: [event.result] },
        duration_ms: Math.round(event.durationMs),
      };
    case 'text_delta':
    case 'thinking_delta':
      return { type: 'stream_event', event: { type: event.type, text: event.text } };
    case 'request_failed':
      return {
        type: 'system',
        subtype: 'api_retry',
        attempt: event.attempt,
        retry_delay_ms: event.retryInMs === null ? null : Math.round(event.retryInMs),
        code: event.code,
        error: event.message,
      };
    case 'warning':
      return { type: 'system', subtype: 'warning', code: event.code, message: event.message };
    case 'agent_started': {
      const { agentType, name, model, origin } = event;
      const { description = '', background = false, worktree } = origin ?? {};
      return {
        type: 'system',
        subtype: 'agent_started',
        agent_type: agentType,
        name,
        description,
        background,
        model,
        ...(worktree && { worktree: { path: worktree.path, branch: worktree.branch } }),
      };
    }
    case 'agent_ended': {
      const { status, cause, message, turns, usage, costUsd, durationMs, worktree } = event;
      const cost = {
        usage: reportedUsage(usage),
        total_cost_usd: costUsd,
        duration_ms: Math.round(durationMs),
      };
      return {
        type: 'system',
        subtype: 'agent_ended',
        status,
        cause,
        message,
        num_turns: turns,
        ...cost,
        ...worktreeField(worktree),
      };
    }
    case 'status_changed':
      return {
        type: 'system',
        subtype: 'agent_status',
        status: event.status,
        cause: event.cause,
        ...(event.until !== undefined && { until: new Date(event.until).toISOString() }),
      };
    case 'progress':
      return { type: 'system', subtype: 'agent_progress', line: event.line };
    case 'stalled':
      return { type: 'system', subtype: 'agent_stalled', silent_ms: Math.round(event.silentMs) };
    case 'conversation_replaced':
      if (event.cause === 'rewind') return { type: 'system', subtype: 'rewound', prompts: event.prompts };
      if (event.cause !== 'compaction')
        return { type: 'system', subtype: 'model_changed', model: event.model, cause: event.cause };
      return {
        type: 'system',
        subtype: 'compact_boundary',
        compact_metadata: {
          trigger: event.trigger === 'request' ? 'manual' : 'auto',
          pre_tokens: event.tokensBefore,
          post_tokens: event.tokens,
        },
      };
  }
}

function assistantMessage(event: SessionEvent & { type: 'assistant' }): Record<string, unknown> {
  return {
    id: event.messageId,
    type: 'message',
    role: 'assistant',
    model: event.model,
    content: event.blocks,
    stop_reason: event.stopReason,
    usage: reportedUsage(event.usage),
  };
}

function worktreeField(worktree: AgentResult['worktree']): Record<string, unknown> {
  if (worktree === undefined) return {};
  return { worktree: reportedWorktree(worktree) };
}
