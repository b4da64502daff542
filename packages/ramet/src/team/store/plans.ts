/**
 * Plans of members that must plan first (TEAM-4). A plan and its answer are in the record before anyone acts on them; the
 * message that carries the answer is what lets the member begin, wherever it is hosted by then.
 */
import { LEAD, type PlanState, type WaitingPlan } from '../../schema/team.ts';
import { keyOf, unknownName } from '../rules/team-names.ts';
import { type Mailboxes, messageProblem, type SentMail } from './mailboxes.ts';
import { type Problem, type Roster, textOf } from './roster.ts';
import type { TeamDatabase } from './team-database.ts';

export interface PlanAnswer {
  member: string;
  approve: boolean;
  feedback?: string | undefined;
  /** The lead; null for a person. */
  by: string | null;
  call: string;
  /** The call that gave the plan which was read; another one is not answered. */
  plan?: string | undefined;
}

const APPROVED = 'Carry it out.';
const NO_REASON = 'No reason was given. Look at the task again.';

export class Plans {
  readonly #db: TeamDatabase;
  readonly #team: number;
  readonly #roster: Roster;
  readonly #mail: Mailboxes;

  constructor(db: TeamDatabase, team: number, parts: { roster: Roster; mail: Mailboxes }) {
    [this.#db, this.#team, this.#roster, this.#mail] = [db, team, parts.roster, parts.mail];
  }

  /** A later plan takes the place of one that waits. */
  submit(member: string, text: string, call: string): { sent: true } | Problem {
    return this.#db.write('synced', () => {
      const { plan } = this.#roster.find(member) ?? {};
      if (plan !== 'required' && plan !== 'sent') {
        const why = plan === 'approved' ? 'your plan is approved already' : 'you need no plan';
        return { problem: `${why}: do the work` };
      }
      const problem = messageProblem(text);
      if (problem !== null) return { problem };
      this.#set(member, { plan: 'sent', text, call });
      return { sent: true };
    });
  }

  /** Sends the lead what waits, each plan once. */
  passToLead(): void {
    for (const { member, text, call } of this.waiting()) {
      this.#mail.send({ from: member, to: LEAD, text, call, kind: 'plan' });
    }
  }

  /** Approved, the member may change things; rejected, it reads why and plans again. */
  answer({ member: name, approve, feedback = '', by, call, plan }: PlanAnswer): SentMail | Problem {
    return this.#db.write('synced', () => {
      const member = this.#roster.find(name);
      if (member === undefined)
        return {
          problem: unknownName(
            name,
            this.#roster.names().filter((one) => one !== LEAD),
          ),
        };
      if (member.plan !== 'sent') return { problem: `${member.name} ${NOT_WAITING[member.plan ?? 'none']}` };
      if (this.#isUnread(member.name, by, plan))
        return { problem: `${member.name} has given another plan since: read that one first` };
      const text = feedback.trim() === '' ? (approve ? APPROVED : by === null ? NO_REASON : '') : feedback;
      if (text === '') return { problem: 'say what is to be different: the member plans again with that' };
      const kind = approve ? 'approved' : 'rejected';
      const sent = this.#mail.send({ from: by, to: member.name, text, call, kind });
      if (!('problem' in sent))
        this.#set(member.name, { plan: approve ? 'approved' : 'required', text: null, call: null });
      return sent;
    });
  }

  /** Whether the plan that waits is not the one that was read: what the lead has read was in one of its requests. */
  #isUnread(member: string, by: string | null, plan: string | undefined): boolean {
    const waits = this.waiting().find((one) => one.member === member);
    if (plan !== undefined) return waits?.call !== plan;
    return by === LEAD && waits !== undefined && this.#mail.isUnread(LEAD, waits.call);
  }

  waiting(): (WaitingPlan & { call: string })[] {
    const sql =
      "SELECT name, plan_text, plan_call FROM members WHERE team = ? AND plan = 'sent' ORDER BY key";
    return this.#db.rows(sql, this.#team).map(({ name, plan_text: text, plan_call: call }) => ({
      ...{ member: String(name), text: textOf(text) ?? '', call: String(call) },
    }));
  }

  #set(member: string, to: { plan: PlanState; text: string | null; call: string | null }): void {
    const sql = 'UPDATE members SET plan = ?, plan_text = ?, plan_call = ? WHERE team = ? AND key = ?';
    this.#db.row(sql, to.plan, to.text, to.call, this.#team, keyOf(member));
  }
}

const NOT_WAITING = {
  none: 'needs no plan',
  required: 'has sent no plan yet',
  approved: 'has an approved plan already',
};
