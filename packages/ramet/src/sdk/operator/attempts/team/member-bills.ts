/**
 * What tries of a team's run have cost (OP-8), read from the journal, so that a kill changes nothing. A try costs what its member, with
 * the agents that it started, spent in the turns in which it held the task, from the start of the turn in which it claimed it. What
 * members spend in other turns is in no task's cost. It goes on record with the next try that ends, so the run pays for it.
 */
import { type OperatorState, tasksOf } from '../../../../operator/run/operator-state.ts';
import type { RecordedEvent } from '../../../../schema/events.ts';
import type { AttemptChange } from '../../../../schema/operator-events.ts';
import { addCost, addUsage, type Bill, NO_USAGE, type Usage } from '../../../../schema/usage.ts';

export interface TryBill extends Bill {
  /** What nobody has paid yet of turns in which members held no task. */
  readonly idle: Bill;
}

/** Everything that the journal has. */
type ReadEvents = <Result>(read: (events: Iterable<RecordedEvent>) => Result) => Result;

interface Member {
  readonly agent: string;
  /** The try of its task. */
  held: string | null;
  /** What it has spent since its turn began. */
  turn: Bill;
  /** The same of the turn before, if it held nothing: that it had claimed a task may be on record only now. */
  before: Bill;
}

const COUNTS = [
  ...(['input_tokens', 'output_tokens', 'cache_read_input_tokens'] as const),
  ...(['cache_creation_input_tokens', 'cache_creation_1h_input_tokens'] as const),
];
const NOTHING: Bill = Object.freeze({ costUsd: 0, usage: NO_USAGE });

export class MemberBills {
  /** By the try with which it was paid. */
  readonly #idle: Map<string, Bill>;
  readonly #read: ReadEvents;

  /** With what earlier processes have recorded. */
  constructor(state: OperatorState, read: ReadEvents) {
    const paid = tasksOf(state).flatMap(({ task, attempts }) =>
      attempts.flatMap(({ number, idle }) =>
        idle === null ? [] : [[keyOf(task.id, number), idle] as const],
      ),
    );
    this.#idle = new Map(paid);
    this.#read = read;
  }

  /** It may be asked for again: the last answer counts. */
  of(task: string, number: number): TryBill {
    const key = keyOf(task, number);
    const books = this.#read((events) => {
      const all = new MemberBooks();
      for (const recorded of events) all.take(recorded);
      return all;
    });
    const others = [...this.#idle].flatMap(([other, bill]) => (other === key ? [] : [bill]));
    const idle = less(books.idle, others.reduce(sumOf, NOTHING));
    this.#idle.set(key, idle);
    return { ...books.of(key), idle };
  }
}

class MemberBooks {
  /** Every agent of a member is its member's. */
  readonly #owners: Map<string, Member> = new Map();
  readonly #tries: Map<string, Bill> = new Map();
  #idle: Bill = NOTHING;

  take({ agent, event }: RecordedEvent): void {
    if (event.type === 'task.changed' && event.attempt !== undefined)
      this.#noteTry(keyOf(event.task, event.attempt.number), event.attempt);
    if (agent === null) return;
    if (event.type === 'agent.started' && !this.#owners.has(agent)) {
      const above = event.parent === null ? undefined : this.#owners.get(event.parent);
      const own = { agent, held: null, turn: NOTHING, before: NOTHING };
      const owner = event.origin?.member === true ? own : above;
      if (owner !== undefined) this.#owners.set(agent, owner);
    }
    const member = this.#owners.get(agent);
    if (member === undefined) return;
    if (event.type === 'response.completed' || event.type === 'request.failed')
      member.turn = sumOf(member.turn, { costUsd: event.costUsd, usage: event.usage ?? NO_USAGE });
    if (event.type === 'agent.ended' && member.agent === agent) {
      this.#enter(member);
      // It holds its task until it has resumed and ended.
      if (event.status !== 'interrupted') member.held = null;
    }
  }

  of(key: string): Bill {
    const holders = this.#members().filter(({ held }) => held === key);
    return holders.reduce((sum, { turn }) => sumOf(sum, turn), this.#tries.get(key) ?? NOTHING);
  }

  /** In turns that are over. */
  get idle(): Bill {
    return this.#members().reduce((sum, { before }) => sumOf(sum, before), this.#idle);
  }

  #members(): Member[] {
    return [...new Set(this.#owners.values())];
  }

  #noteTry(key: string, { agent, state = 'running' }: AttemptChange): void {
    const holder = this.#members().find(({ held }) => held === key);
    if (state !== 'running') {
      // What its member does from here on is for nobody, or for its next task.
      if (holder !== undefined) this.#enter(holder);
      if (holder !== undefined) holder.held = null;
      return;
    }
    const member = agent == null ? undefined : this.#owners.get(agent);
    if (member === undefined || member === holder) return;
    if (member.held !== null) this.#enter(member);
    else if (member.turn === NOTHING) {
      this.#add(key, member.before);
      member.before = NOTHING;
    }
    member.held = key;
  }

  #enter(member: Member): void {
    const { held, turn } = member;
    this.#idle = sumOf(this.#idle, member.before);
    member.before = held === null ? turn : NOTHING;
    if (held !== null) this.#add(held, turn);
    member.turn = NOTHING;
  }

  #add(key: string, bill: Bill): void {
    this.#tries.set(key, sumOf(this.#tries.get(key) ?? NOTHING, bill));
  }
}

function keyOf(task: string, number: number): string {
  return `${number} ${task}`;
}

function sumOf(a: Bill, b: Bill): Bill {
  return { costUsd: addCost(a.costUsd, b.costUsd), usage: addUsage(a.usage, b.usage) };
}

function less(total: Bill, paid: Bill): Bill {
  const usage: Usage = { ...total.usage };
  for (const key of COUNTS) usage[key] = Math.max(0, usage[key] - paid.usage[key]);
  const isKnown = total.costUsd !== null && paid.costUsd !== null;
  return { costUsd: isKnown ? Math.max(0, (total.costUsd ?? 0) - (paid.costUsd ?? 0)) : null, usage };
}
