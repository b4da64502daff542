/** A member's messages on their way from the record into its conversation. */
import type { AgentId } from '../../schema/ids.ts';
import { EVERYBODY, LEAD, type TeamMessage } from '../../schema/team.ts';
import { MOST_BYTES_AT_ONCE, type StoredTeam } from '../../team/store/team-store.ts';
import { failure, type ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import { agentMessageText, MAY_HAVE_RUN } from '../agent/notices.ts';
import { planNotice } from './plan-desk.ts';

/**
 * Gives it what its own record does not have yet, as much as one request can take: the rest comes when that is on its way, or a
 * flood of messages would be a prompt that no model takes.
 */
export function receiveMail(team: StoredTeam, agent: Agent, name: string): void {
  const waiting = agent.inbox.items.filter(({ kind }) => kind === 'message').flatMap(({ blocks }) => blocks);
  const held = waiting.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  if (held >= MOST_BYTES_AT_ONCE) return;
  for (const message of team.mail.unread(name, agent.state.mail, MOST_BYTES_AT_ONCE - held)) {
    const sender = senderId(team, message);
    followPlan(agent, message);
    agent.receive('message', sender, textOf(message, sender), { mail: message.seq });
  }
}

/** Everything that it has received and that is not in its inbox any more is in the request that goes now. */
export function noteRead(team: StoredTeam, agent: Agent, name: string): void {
  const { state } = agent;
  const waiting = state.inbox.flatMap(({ mail }) => mail ?? []);
  const read = waiting.length === 0 ? state.mail : Math.min(...waiting) - 1;
  if (read > 0) team.mail.advance(name, read);
  // What there was no room for in this request.
  queueMicrotask(() => receiveMail(team, agent, name));
}

/** Begins a run of it with everything that waits for it. */
export function sayInbox(agent: Agent): void {
  const { items } = agent.inbox;
  if (items.length === 0) return;
  const blocks = items.flatMap((item) => item.blocks);
  const delivers = items.map(({ item }) => item);
  agent.say('prompt', blocks, 0, { delivers });
}

interface MailHost {
  readonly team: StoredTeam;
  isAtWork(name: string): boolean;
}

/** Null for a receiver that is not in the team. */
export async function sendMail(
  { team, isAtWork }: MailHost,
  { agent, name }: { agent: Agent; name: string },
  { to, text, call: callId }: { to: string; text: string; call: string },
): Promise<ToolOutcome | null> {
  const receiver = to === 'main' ? LEAD : to;
  const call = `${agent.spec.id}:${callId}`;
  // A response that a kill takes back is asked for again: nothing of it may have been sent.
  await agent.runtime.journal.commit('written');
  if (receiver !== EVERYBODY && team.roster.find(receiver) === undefined) {
    // An agent of the session that is no member keeps no record of the call.
    return team.calls.isFirst(call) ? null : failure(MAY_HAVE_RUN);
  }
  const sent = team.mail.send({ from: name, to: receiver, text, call });
  if ('problem' in sent) return failure(`Not sent: ${sent.problem}.`);
  const idle = sent.receivers.filter((one) => one !== LEAD && !isAtWork(one));
  return { content: sentText(sent.receivers, idle) };
}

/** What the model of its sender reads. */
function sentText(receivers: readonly string[], idle: readonly string[]): string {
  const wakes =
    idle.length === 0
      ? ''
      : ` ${idle.join(', ')} ${idle.length === 1 ? 'was' : 'were'} idle, and wake${idle.length === 1 ? 's' : ''} with it.`;
  return `Sent to ${receivers.join(', ')}. It is read after the current tool call.${wakes}`;
}

function senderId({ roster }: StoredTeam, { from }: TeamMessage): AgentId | null {
  return from === null ? null : (roster.find(from)?.agent ?? from);
}

function textOf({ from, text, kind }: TeamMessage, sender: AgentId | null): string {
  const name = sender === from ? null : from;
  const quoted = agentMessageText(from === null ? OUTSIDE : { kind: 'message', from: sender, name }, text);
  return kind === null ? quoted : `${planNotice(kind, from)}\n${quoted}`;
}

const OUTSIDE = { kind: 'outside', from: null, name: null } as const;

/** Before the message is received: a kill in between repeats this, which changes nothing. */
function followPlan(agent: Agent, { kind, from }: TeamMessage): void {
  if (kind !== 'approved' && kind !== 'rejected') return;
  agent.record({ type: 'plan.changed', plan: kind, by: from });
  if (kind === 'approved') agent.record({ type: 'permission.changed', mode: 'bubble' });
}
