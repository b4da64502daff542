/**
 * What a team cost, by member (TEAM-1): a member's own requests and those of agents that it started. Every request of the
 * session belongs to exactly one, so the members' sums are the sum of the session.
 *
 * What messages cost is told apart: how many a member received, how many tokens they brought into its conversation, and in
 * how many tokens of its requests they were, since a conversation is sent again with every request. It is estimated from
 * bytes; all but the first time most of it is read from the cache. What a member that must plan first asked of models
 * until the last answer to its plan is what its plan cost.
 */
import { bytesOfTokens } from '../../conversation/frozen-block.ts';
import type { JournalReader } from '../../journal/journal.ts';
import type { Digest, RecordedEvent } from '../../schema/events.ts';
import type { AgentId, SessionId } from '../../schema/ids.ts';
import { LEAD } from '../../schema/team.ts';
import { type SessionView, viewSession } from '../session-view.ts';
import { atLeastDollars, percent, printable, tokens } from '../text/format.ts';
import { lineObject } from './cost-object.ts';
import { costTable, figureTable, totalNotes } from './cost-table.ts';
import { emptyLedger, extendLedger, type Ledger, type LedgerLine, sumOfLines } from './ledger.ts';

interface MemberCost {
  ledger: Ledger;
  /** How many messages were in a request. */
  messages: number;
  /** What they brought, each once. */
  messageTokens: number;
  /** What they made of all requests together. */
  requestTokens: number;
  /** Of a member whose plan was answered. */
  plan: { approved: number; rejected: number; line: LedgerLine } | null;
}

/** An agent's messages: those that wait, by item, and what its conversation holds of them. */
interface CarriedMail {
  waiting: Map<string, number>;
  tokens: number;
}

export class TeamCost {
  readonly #members = new Map<string, MemberCost>([[LEAD, newMember()]]);
  /** Whose each agent is. */
  readonly #owners = new Map<AgentId, string>();
  readonly #mail = new Map<AgentId, CarriedMail>();
  readonly #sizeOf: (digest: Digest) => number;

  /** `sizeOf` gives the bytes of a block. */
  constructor(sizeOf: (digest: Digest) => number) {
    this.#sizeOf = sizeOf;
  }

  take(recorded: RecordedEvent): void {
    const { agent, event } = recorded;
    if (agent !== null && event.type === 'agent.started') this.#admit(agent, event);
    const owner = agent === null ? LEAD : (this.#owners.get(agent) ?? LEAD);
    const member = this.#memberOf(owner);
    extendLedger(member.ledger, recorded);
    if (agent !== null) this.#noteMail(member, agent, event);
    if (event.type === 'plan.changed') {
      const { approved = 0, rejected = 0 } = member.plan ?? {};
      const line = structuredClone(member.ledger.total);
      member.plan = { approved, rejected, line, [event.plan]: (member.plan?.[event.plan] ?? 0) + 1 };
    }
  }

  /** The lead first, the others by birth. */
  get members(): ReadonlyMap<string, MemberCost> {
    return this.#members;
  }

  #admit(
    id: AgentId,
    { parent, name, origin }: Extract<RecordedEvent['event'], { type: 'agent.started' }>,
  ): void {
    if (this.#owners.has(id)) return;
    const above = parent === null ? LEAD : (this.#owners.get(parent) ?? LEAD);
    this.#owners.set(id, origin?.member === true && name !== null ? name : above);
  }

  #memberOf(name: string): MemberCost {
    const known = this.#members.get(name);
    if (known !== undefined) return known;
    const member = newMember();
    this.#members.set(name, member);
    return member;
  }

  #noteMail(member: MemberCost, agent: AgentId, event: RecordedEvent['event']): void {
    if (event.type === 'message.received' && event.mail !== undefined) {
      const bytes = event.blocks.reduce((sum, digest) => sum + this.#sizeOf(digest), 0);
      this.#carriedBy(agent).waiting.set(event.item, Math.ceil((1_000 * bytes) / bytesOfTokens(1_000)));
    }
    const carried = this.#mail.get(agent);
    if (carried === undefined) return;
    if (event.type === 'message.appended') {
      for (const item of event.delivers ?? []) {
        const size = carried.waiting.get(item);
        if (size === undefined) continue;
        carried.waiting.delete(item);
        carried.tokens += size;
        member.messages += 1;
        member.messageTokens += size;
      }
    }
    // A summary stands for them from then on.
    if (event.type === 'conversation.replaced' && event.cause === 'compaction') carried.tokens = 0;
    if (event.type === 'request.started') member.requestTokens += carried.tokens;
  }

  #carriedBy(agent: AgentId): CarriedMail {
    const known = this.#mail.get(agent) ?? { waiting: new Map(), tokens: 0 };
    this.#mail.set(agent, known);
    return known;
  }
}

/** Reads the session once for the view and the team's bill. */
export function viewTeamCost(session: SessionId, project: string): SessionView & { readonly cost: TeamCost } {
  let sizes: ReadonlyMap<Digest, number> | null = null;
  let journal: JournalReader | null = null;
  const cost = new TeamCost((digest) => {
    sizes ??= journal?.blockSizes() ?? new Map();
    return sizes.get(digest) ?? 0;
  });
  const view = viewSession(session, project, (recorded, reader) => {
    journal = reader;
    cost.take(recorded);
  });
  return { ...view, cost };
}

function newMember(): MemberCost {
  return { ledger: emptyLedger(), messages: 0, messageTokens: 0, requestTokens: 0, plan: null };
}

export interface BilledTeam {
  name: string;
  session: SessionId;
}

export function teamCostObject({ name, session }: BilledTeam, cost: TeamCost): Record<string, unknown> {
  const lines = Array.from(cost.members, ([member, one]) => {
    const mail = { received: one.messages, tokens: one.messageTokens, request_tokens: one.requestTokens };
    const { approved, rejected, line } = one.plan ?? {};
    const plan = line === undefined ? null : { approved, rejected, ...lineObject(line) };
    return [member, { ...lineObject(one.ledger.total), messages: mail, plan }];
  });
  return {
    team: name,
    session_id: session,
    members: Object.fromEntries(lines),
    total: lineObject(sumOfLines(Array.from(cost.members.values(), ({ ledger }) => ledger.total))),
  };
}

export function teamCostText({ name, session }: BilledTeam, cost: TeamCost, columns: number | null): string {
  const members = [...cost.members];
  const lines = members.map(([member, { ledger }]) => [printable(member), ledger.total] as const);
  const total = sumOfLines(lines.map(([, line]) => line));
  const notes = totalNotes(total).map((note) => `${note}\n`);
  const table = costTable([{ heading: 'BY MEMBER', lines }], total, columns);
  return `team ${printable(name)}, session ${session}\n${table}\n${notes.join('')}${planLines(members)}${mailTable(members)}`;
}

function planLines(members: readonly (readonly [string, MemberCost])[]): string {
  const lines = members.flatMap(([name, { plan }]) => {
    if (plan === null) return [];
    const { approved, rejected, line } = plan;
    const how = [
      ...(rejected === 0 ? [] : [`rejected ${rejected === 1 ? 'once' : `${rejected} times`}`]),
      ...(approved === 0 ? [] : ['approved']),
    ];
    const cost = atLeastDollars(line.costUsd, line.atLeastUsd);
    return [`plan of ${printable(name)}: ${how.join(', then ')}; ${line.requests} requests, ${cost}\n`];
  });
  return lines.join('');
}

function mailTable(members: readonly (readonly [string, MemberCost])[]): string {
  if (members.every(([, { messages }]) => messages === 0)) return '\nno messages\n';
  const rows = members.map(([name, { ledger, messages, messageTokens, requestTokens }]) => {
    const { usage } = ledger.total;
    const input = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
    return [
      printable(name),
      String(messages),
      tokens(messageTokens),
      tokens(requestTokens),
      input === 0 ? '-' : percent(Math.min(1, requestTokens / input)),
    ];
  });
  const headings = ['MESSAGES (ESTIMATED)', 'READ', 'TOKENS', 'IN REQUESTS', 'OF INPUT'];
  return `\n${figureTable([headings, ...rows])}`;
}
