/**
 * The team of a session, in the process that hosts it: its members are agents of the session that belong to the roster.
 * A member that has nothing to do is in no memory; a message, or a task that became free, resumes it from the journal,
 * for the lead and not for the sender.
 *
 * Invariants
 * 1. A message is received when the receiver's record has it, and read when it was in a request: then its cursor moves.
 *    After a kill in between, the record says what it already has.
 * 2. Going idle is a status: it tells nobody anything.
 * 3. One member is resumed at a time once: who wakes it twice wakes it once.
 */
import { describeError } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { LEAD, type TeamMember } from '../../schema/team.ts';
import { type ProcessIdentity, thisProcess } from '../../system/processes/process-identity.ts';
import type { StoredTeam } from '../../team/store/team-store.ts';
import type { PlanDesk, TaskDesk } from '../../tools/agent-desk.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentResult } from '../agent/agent-event.ts';
import type { AgentFamily } from '../children/family.ts';
import { continueEnded } from '../resume/resume-ended.ts';
import { CutShort } from './cut-short.ts';
import type { FamilyTeam, JoiningMember, MemberRun } from './family-team.ts';
import { KeptWorktrees } from './kept-worktrees.ts';
import { noteRead, receiveMail, sayInbox, sendMail } from './member-mail.ts';
import { PlanQuestions } from './plan-desk.ts';
import { ShutDowns, worksAgain } from './shut-down.ts';
import { TaskNews, WAS_STOPPED } from './task-news.ts';
import { TeamDesks } from './team-desks.ts';
import { TeamNow } from './team-now.ts';
import { AskedMembers, addWaiting, beginWaiting, JoiningMembers, warnOfMany } from './waiting-member.ts';

interface TeamHostParts {
  readonly family: AgentFamily;
  readonly lead: Agent;
  readonly team: StoredTeam;
  /** Tells other processes that the record has changed. */
  hint(): void;
}

export class TeamHost implements FamilyTeam, Disposable {
  readonly team: StoredTeam;
  readonly process: ProcessIdentity = thisProcess();
  readonly #family: AgentFamily;
  readonly #lead: Agent;
  readonly #hint: () => void;
  readonly #plans: PlanQuestions;
  readonly #desks: TeamDesks;
  /** Members at work, by name. */
  readonly #living = new Map<string, Agent>();
  readonly #joining: JoiningMembers;
  readonly asked: AskedMembers = new AskedMembers();
  readonly now: TeamNow;
  readonly #ends = new ShutDowns();
  readonly #waking = new Map<string, Promise<void>>();
  readonly news: TaskNews;
  readonly cutShort: CutShort;
  readonly worktrees: KeptWorktrees;
  /** Nobody is woken while agents of an earlier process resume: a member must not run twice. */
  isHeld = false;
  #isClosed = false;

  constructor({ family, lead, team, hint }: TeamHostParts) {
    this.#family = family;
    this.#lead = lead;
    this.team = team;
    this.#hint = hint;
    this.#joining = new JoiningMembers(team, lead);
    this.cutShort = new CutShort(team);
    this.news = new TaskNews(this);
    this.worktrees = new KeptWorktrees(lead);
    this.#plans = new PlanQuestions({ team, changed: () => this.changed() }, lead);
    this.#desks = new TeamDesks({ host: this, family, lead, plans: this.#plans });
    lead.here.onRequest = () => {
      noteRead(team, lead, LEAD);
      if (this.asked.release()) queueMicrotask(() => this.look());
    };
    this.now = new TeamNow(team, family);
    lead.here.teamNow = () => this.now.text();
  }

  join(member: JoiningMember): string | null {
    return this.#joining.add(member);
  }

  leave(name: string): void {
    this.#joining.remove(name);
  }

  /** Adds one that begins when there is work for it; says why not. */
  addWaiting(member: { name: string; type: string }): string | null {
    const problem = addWaiting(this.team, this.#family, member);
    if (problem === null) warnOfMany(this.team, this.#lead);
    return problem;
  }

  has(agent: AgentId): boolean {
    return [...this.#living.values()].some(({ spec }) => spec.id === agent);
  }

  /** A member's name, or the id of an agent that is none. */
  nameOf(agent: AgentId): string {
    if (agent === this.#lead.spec.id) return LEAD;
    const spec = this.#family.find(agent)?.spec;
    return spec?.origin?.member === true && spec.name !== null ? spec.name : agent;
  }

  begin(agent: Agent): MemberRun | null {
    const { name, origin } = agent.spec;
    if (origin?.member !== true || name === null) return null;
    this.#living.set(name, agent);
    this.cutShort.begins(name);
    this.worktrees.taken(agent.spec.id);
    if (this.team.roster.find(name)?.state !== 'stopping') worksAgain(agent);
    // What was sent to it before it began.
    if (this.#joining.begins(name)) {
      queueMicrotask(() => {
        // A session that ended at once: what waits for the member stays on record.
        if (!this.#isClosed) this.news.tell(agent, name);
        this.look();
      });
    }
    agent.here.onRequest = () => noteRead(this.team, agent, name);
    if (this.team.roster.find(name)?.state === 'idle') this.team.roster.setState(name, 'working');
    this.team.tasks.adopt(name, this.process);
    return { ended: (result) => this.#rest(name, agent, result) };
  }

  left(agent: AgentId): void {
    // Most have claimed nothing.
    if (this.team.tasks.heldBy(agent).length > 0) this.#release(agent, `${agent} has ended`);
  }

  /** Its conversation is in the journal, and in no memory. */
  #rest(name: string, agent: Agent, result: AgentResult): void {
    this.#living.delete(name);
    this.cutShort.ended(name, agent, result);
    // A hook that ends a member ends it for good.
    if (result.cause === 'hook' || this.team.roster.find(name)?.state === 'stopping') this.#stopped(name);
    else {
      this.team.roster.setState(name, 'idle');
      if (result.status === 'failed') this.#release(name, `${name} failed`);
    }
    if (this.#isClosed) return;
    if (result.status === 'done') this.news.tellOfFree(name);
    else this.news.passOn(name);
    // What arrived while it ended.
    this.look();
  }

  /** What it had claimed is free again, for others. */
  #release(owner: string, why: string): void {
    const { released } = this.team.tasks.releaseOf(owner, why);
    if (!this.#isClosed) this.news.tellFree(released, owner);
  }

  async send(from: Agent, to: string, text: string, call: string): Promise<ToolOutcome | null> {
    const isAtWork = (name: string): boolean => this.#living.has(name);
    const sender = { agent: from, name: this.nameOf(from.spec.id) };
    const outcome = await sendMail({ team: this.team, isAtWork }, sender, { to, text, call });
    if (outcome !== null && outcome.isError !== true) this.changed();
    return outcome;
  }

  receivers(from: AgentId): string[] {
    return this.team.mail.receiversFor(this.nameOf(from));
  }

  tasksFor(agent: AgentId, call: string, signal: AbortSignal): TaskDesk {
    return this.#desks.tasksFor(agent, call, signal);
  }

  plansFor(agent: AgentId, call: string): PlanDesk {
    return this.#desks.plansFor(agent, call);
  }

  /** Members of an earlier process have resumed: from now on members with something to do are woken. */
  begun(): void {
    this.isHeld = false;
    this.cutShort.forget();
    if (!this.#plans.hasPerson) this.team.plans.passToLead();
    this.lookForAll();
  }

  /** Also for what no change has told of: a wake-up that was lost heals. */
  lookForAll(): void {
    this.look();
    if (!this.#isClosed && !this.isHeld) this.news.tellLeft();
  }

  /** The record has changed: here, and for other processes. */
  changed(): void {
    this.look();
    this.#hint();
  }

  /** Gives members what waits for them. Called after every change of the record that others may have made. */
  look(): void {
    if (this.#isClosed) return;
    this.#plans.look();
    this.news.tellFree(this.team.tasks.releaseDead(LEAD).released);
    for (const name of this.news.waiting) if (!this.#living.has(name)) void this.wake(name);
    for (const { name, state, unread } of this.team.roster.pending()) {
      if (state === 'stopping') this.#shutDown(name);
      if (state === 'stopping' || state === 'stopped' || unread === 0) continue;
      const reader = name === LEAD ? this.#lead : this.reader(name);
      if (reader !== null) receiveMail(this.team, reader, name);
      else if (!this.#living.has(name) && this.cutShort.isWrittenTo(name)) void this.wake(name);
    }
  }

  #shutDown(name: string): void {
    const living = this.#living.get(name);
    if (living === undefined) this.#stopped(name);
    else this.#ends.begin(name, living, this.#family.findHandle(living.spec.id));
  }

  #stopped(name: string): void {
    this.team.roster.setState(name, 'stopped');
    this.worktrees.leave(this.team.roster.find(name)?.agent ?? null);
    this.#release(name, `${name}${WAS_STOPPED}`);
    if (!this.#isClosed) this.news.passOn(name);
  }

  /** A member at work that still reads; null for one that is just ending, and for one that is idle. */
  reader(name: string): Agent | null {
    const living = this.#living.get(name);
    return living !== undefined && this.#family.find(living.spec.id) === living ? living : null;
  }

  /** Resumes a member that is idle, or begins one that waits. */
  wake(name: string): Promise<void> {
    const isAbout = this.#waking.has(name) || this.#joining.has(name) || this.asked.has(name);
    if (this.isHeld || isAbout) return Promise.resolve();
    // The lead does not end before those that are about to work.
    const isThere = this.#lead.children.expect();
    const waking = this.#resume(name)
      .catch((error: unknown) =>
        this.#lead.warn('member_not_resumed', `${name} was not resumed: ${describeError(error)}`),
      )
      .finally(() => {
        this.#waking.delete(name);
        isThere();
        this.#lead.inbox.stir();
      });
    this.#waking.set(name, waking);
    return waking;
  }

  async #resume(name: string): Promise<void> {
    const member = this.team.roster.find(name);
    // One that is just ending wakes when it has ended.
    if (member?.state !== 'idle' || this.#living.has(name) || this.#isClosed) return;
    if (member.agent === null) {
      const begun = await beginWaiting(this.#family, this.#lead, member);
      if ('problem' in begun) this.#lost(member, begun.problem);
      return;
    }
    const done = await continueEnded(this.#family, this.#lead, member.agent, (agent) => {
      receiveMail(this.team, agent, name);
      this.news.tell(agent, name);
      worksAgain(agent);
      sayInbox(agent);
    });
    if ('problem' in done) this.#lost(member, done.problem);
  }

  #lost({ name, agent }: TeamMember, problem: string): void {
    if (this.#isClosed) return;
    this.team.roster.setState(name, 'stopped');
    this.worktrees.leave(agent);
    this.news.passOn(name);
    const text = `The member ${name} is lost: ${problem} Its messages stay unread.`;
    this.#lead.receive('notification', agent, text);
  }

  /** The session ends: nobody is woken any more. */
  closing(): void {
    this.#isClosed = true;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#plans[Symbol.dispose]();
    this.#lead.here.onRequest = null;
    this.#lead.here.teamNow = null;
    this.team.roster.leave(this.process);
  }
}
