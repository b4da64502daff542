/**
 * Plans of members that must plan first (TEAM-4): a member gives one, the lead or a person answers. Until then its mode is
 * `plan`, so it changes nothing whatever anyone tells it; the answer in the team's record ends that.
 */
import { LEAD, type MessageKind } from '../../schema/team.ts';
import type { StoredTeam } from '../../team/store/team-store.ts';
import type { PlanDesk } from '../../tools/agent-desk.ts';
import { failure } from '../../tools/tool.ts';
import { type Agent, hosted } from '../agent/agent.ts';
import type { TeamAsker } from './task-desk.ts';

interface PlanHost {
  readonly team: StoredTeam;
  changed(): void;
}

interface PlanAsker extends TeamAsker {
  /** Whether a person answers, and not the lead. */
  hasPerson(): boolean;
}

export function planDesk(host: PlanHost, asker: PlanAsker): PlanDesk {
  const { plans, calls } = host.team;
  return {
    async submit(text) {
      await asker.recorded();
      const { call } = asker;
      const sent = calls.once(`${call}:plan`, () => plans.submit(asker.name(), text, call));
      if ('problem' in sent) return failure(`Not sent: ${sent.problem}.`);
      if (!asker.hasPerson()) plans.passToLead();
      host.changed();
      const who = asker.hasPerson() ? 'the user' : 'the lead';
      return { content: `Your plan waits for ${who}. End your turn now: the answer wakes you.` };
    },
    async answer({ member, approve, feedback }) {
      if (asker.name() !== LEAD) return failure('Only the lead or the user answers plans.');
      await asker.recorded();
      const { call } = asker;
      if (!asker.hasPerson()) plans.passToLead();
      const sent = calls.once(`${call}:plan`, () =>
        plans.answer({ member, approve, feedback, by: LEAD, call }),
      );
      if ('problem' in sent) return failure(`Nothing was answered: ${sent.problem}.`);
      host.changed();
      return { content: approve ? `${member} carries out its plan.` : `${member} plans again.` };
    },
  };
}

/** What is said with a plan and with its answer; the words of who sent it follow. */
export function planNotice(kind: MessageKind, from: string | null): string {
  if (kind === 'plan') {
    return `${from} waits for your approval of this plan. Answer with TeamPlan: member "${from}", approve, feedback.`;
  }
  const who = from === null ? 'A person' : 'The lead';
  return kind === 'approved'
    ? `${who} approved your plan. You may change things now.`
    : `${who} rejected your plan. Change it, give it again with TeamPlan, and end your turn.`;
}

/** The questions to the person of the session. Who answers first, there or by command, decides. */
export class PlanQuestions implements Disposable {
  readonly #team: StoredTeam;
  readonly #lead: Agent;
  readonly #changed: () => void;
  /** By the call that gave the plan. */
  readonly #open = new Map<string, AbortController>();

  constructor({ team, changed }: PlanHost, lead: Agent) {
    [this.#team, this.#lead, this.#changed] = [team, lead, changed];
  }

  get hasPerson(): boolean {
    return hosted(this.#lead).runtime.broker.approvePlan !== undefined;
  }

  /** Asks what waits and is not asked yet; withdraws what is answered. */
  look(): void {
    if (!this.hasPerson) return;
    const waiting = this.#team.plans.waiting();
    for (const [call, question] of this.#open) {
      if (waiting.some((plan) => plan.call === call)) continue;
      question.abort();
      this.#open.delete(call);
    }
    for (const plan of waiting) if (!this.#open.has(plan.call)) void this.#ask(plan);
  }

  async #ask({ member, text, call }: { member: string; text: string; call: string }): Promise<void> {
    const { broker, redact } = hosted(this.#lead).runtime;
    const question = new AbortController();
    this.#open.set(call, question);
    try {
      const agent = this.#team.roster.find(member)?.agent ?? member;
      const asked = { agent, agentName: member, plan: redact(text) };
      const answer = await broker.approvePlan?.(asked, question.signal);
      if (answer === undefined || question.signal.aborted) return;
      this.#team.plans.answer({ ...answer, member, by: null, call: `${call}:answer`, plan: call });
      this.#changed();
    } catch {
      // Who goes away without an answer leaves the plan waiting.
    }
  }

  [Symbol.dispose](): void {
    for (const question of this.#open.values()) question.abort();
  }
}
