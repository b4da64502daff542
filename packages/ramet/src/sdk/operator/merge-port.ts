/**
 * Merges and lands for the operator, with the merge queue (WORK-5): finished work goes onto a private ref, and from there to
 * the target by fast forward, or by a merge if the target has moved. Nothing else moves a ref.
 */
import {
  callIn,
  checkCommit,
  isAncestor,
  openMergeEntries,
  readCommit,
  removeDeadLocks,
  runMergeQueue,
  updateRefs,
} from '../../git/merges.ts';
import { gitText } from '../../git/run-git.ts';
import type { CheckOutcome, MergePorts, MergeReport } from '../../git/shapes.ts';
import type {
  BatchReport,
  LandingOrder,
  MergeBatch,
  MergeOffer,
  MergeOutcome,
  RebasedResult,
} from '../../operator/run/ports.ts';
import type { OperatorRun, RecordedCheck } from '../../schema/operator-events.ts';
import { mergePorts, type OpenTarget, projectOf } from '../merge/open-target.ts';
import { failedCheck, forgetFailures, recordedCheck } from './check-output.ts';
import { type WholeLanding, wholeLanding } from './landing/land-on-target.ts';
import { moveOffers } from './landing/move-offers.ts';
import { rebaseResult } from './landing/rebase-result.ts';
import { type OnResolverWait, type ResolverSettings, RunResolvers } from './landing/run-resolvers.ts';
import {
  type CheckWatch,
  conflictOf,
  hasWork,
  isOfWork,
  missingWork,
  nameIn,
  nullIfGone,
  onlyAsked,
  type ResolverCosts,
  storyOf,
  targetGone,
  taskOf,
  tipOf,
  watchChecks,
} from './merge-offers.ts';

type Check = OperatorRun['check'];
const PASSES: CheckOutcome = { passed: true, ending: 'not checked', output: '' };

export class OperatorMerges {
  readonly #target: OpenTarget;
  readonly #settings: ResolverSettings;
  readonly #resolvers: RunResolvers;
  /** How checks of this run ended, by command and tree. */
  readonly #outcomes: Map<string, Map<string, CheckOutcome>> = new Map();

  /** Settles when the check without any task has ended; null if it has or was not asked for. */
  #base: Promise<void> | null = null;

  constructor(target: OpenTarget, settings: ResolverSettings) {
    this.#target = target;
    this.#settings = settings;
    this.#resolvers = new RunResolvers(target, settings);
  }

  /** `onWait` is told which agents that resolve conflicts wait for their provider. */
  watchResolvers(onWait: OnResolverWait): void {
    this.#resolvers.onWait = onWait;
  }

  /** Makes the private ref, if it is missing, or as the record has it, if that was put on another base. */
  async open(run: OperatorRun, commit: string): Promise<void> {
    const { repository } = this.#target;
    await removeDeadLocks(repository.commonDirectory);
    const now = await this.#read(run.integration);
    if (now === null || now === commit || !(await isAncestor(commit, now, repository)))
      await this.reset(run, commit);
  }

  /** Without any task; for the first batch its outcome is then known. */
  checkBase({ base, check, integration }: OperatorRun, signal: AbortSignal): Promise<RecordedCheck | null> {
    if (check === null) return Promise.resolve(null);
    const ports = this.#ports(check);
    const checked = checkCommit(base, check, {
      ...{ ...ports, target: integration, outcomes: this.#known(check) },
      repository: { ...ports.repository, signal },
    });
    // Both would work in one directory, and checks of one repository may share ports or databases.
    this.#base = checked.then(
      () => {},
      () => {},
    );
    return checked.then(({ passed, ending, output }) => ({ command: check.command, passed, ending, output }));
  }

  async integrate(batch: MergeBatch): Promise<BatchReport> {
    const spent = this.#resolvers.spentOn(batch.offers);
    try {
      return await this.#integrated(batch, spent);
    } catch (error) {
      if (!isOfWork(error)) throw error;
      return { head: batch.run.base, outcomes: new Map(), spent, check: null, failure: error.message };
    }
  }

  async #integrated(batch: MergeBatch, spent: ResolverCosts): Promise<BatchReport> {
    const { run, offers, check, leftUsd, onChecked, onWaiting } = batch;
    const unchanged = offers.filter((offer) => !hasWork(offer));
    const watch = watchChecks(onWaiting);
    await this.#afterBase(onWaiting);
    if (check !== null) forgetFailures(this.#known(check));
    const { changed, outcomes } = await this.#moved(batch, spent);
    if (changed.length > 0) {
      const report = await this.#queue(
        {
          ...{ target: run.integration, targetName: run.target, strategy: run.strategy, check },
          ...{ branches: changed.map(({ attempt }) => nameIn(attempt)), onConflict: run.onConflict },
        },
        {
          tipOf: (branch) => tipOf(branch, changed),
          storyOf: (branch) => storyOf(branch, changed, this.#settings.session),
          resolveConflict: this.#resolvers.resolver(leftUsd, spent, (branch) => taskOf(branch, changed)),
          ...watch,
          onStep: (step) => (step === 'recorded' ? onChecked() : undefined),
        },
      );
      for (const offer of changed)
        outcomes.set(offer.task.id, await this.#outcomeOf(offer, report, { run, check }));
    }
    const head = (await this.#read(run.integration)) ?? run.base;
    for (const offer of unchanged)
      outcomes.set(
        offer.task.id,
        (await missingWork(offer, head, this.#target.repository)) ??
          (await this.#unchanged(head, { run, check, watch })),
      );
    return { head, outcomes, spent, check: await this.#checkOn(head, check) };
  }

  async #afterBase(onWaiting: MergeBatch['onWaiting']): Promise<void> {
    if (this.#base === null) return;
    onWaiting?.('the check runs without any task first');
    await this.#base;
    this.#base = null;
    onWaiting?.(null);
  }

  async #outcomeOf(
    { attempt }: MergeOffer,
    report: MergeReport,
    { run, check }: { run: OperatorRun; check: Check },
  ): Promise<MergeOutcome> {
    const entry = report.entries.findLast(({ branch }) => branch === nameIn(attempt));
    const message = entry?.reason ?? 'the merge queue does not tell';
    switch (entry?.state) {
      case 'landed':
      case 'integrated':
        return { kind: 'merged', result: entry.result ?? report.after, isNothing: false };
      case 'nothing':
        // Its work is on the ref: another process put it there, and died before it could say so.
        return { kind: 'merged', result: report.after, isNothing: false };
      case 'conflicted':
        return conflictOf({ ...entry, reason: message }, run, this.#target.repository);
      case 'waiting':
        return { kind: 'base_check', message, check: this.#blamed(message, check) };
      default:
        return /^the check failed/.test(message)
          ? { kind: 'check', message, check: this.#blamed(message, check) }
          : { kind: 'refused', message };
    }
  }

  #blamed(reason: string, check: Check): RecordedCheck | null {
    return check === null ? null : failedCheck(reason, check, this.#known(check).values());
  }

  /** A task that changed nothing is done if its check passes as things are. */
  async #unchanged(
    head: string,
    { run, check, watch }: { run: OperatorRun; check: Check; watch: CheckWatch },
  ): Promise<MergeOutcome> {
    if (check === null) return { kind: 'merged', result: head, isNothing: true };
    const outcome = await this.#checked(head, check, run, watch);
    if (outcome.passed) return { kind: 'merged', result: head, isNothing: true };
    return {
      kind: 'check',
      message: `it changed nothing, and the check fails (${outcome.ending}); its output: ${outcome.output}`,
      check: recordedCheck(check, outcome),
    };
  }

  #checked(
    commit: string,
    check: NonNullable<Check>,
    { integration: target }: OperatorRun,
    watch: CheckWatch = {},
  ): Promise<CheckOutcome> {
    const outcomes = this.#known(check);
    return checkCommit(commit, check, { ...this.#ports(check), ...watch, target, outcomes });
  }

  async #checkOn(head: string, check: Check): Promise<RecordedCheck | null> {
    if (check === null) return null;
    const { repository } = this.#target;
    const tree = await gitText(['rev-parse', '--verify', `${head}^{tree}`], callIn(repository));
    const outcome = this.#known(check).get(tree);
    return outcome === undefined ? null : recordedCheck(check, outcome);
  }

  async land(run: OperatorRun, { commit, onMissed }: LandingOrder): Promise<WholeLanding> {
    const { target, check, updateCheckout } = run;
    const wishes = { check, updateCheckout, onConflict: 'person' } as const;
    const order = { ...wishes, target, strategy: 'fast-forward', branches: [commit] } as const;
    const report = await this.#queue(order, onMissed && { onMissed }).catch(nullIfGone);
    if (report === null) return targetGone(run, commit);
    const whole = wholeLanding(commit, report);
    if (whole.state !== 'failed') await this.#follow(run, whole.commit);
    return whole;
  }

  /** The same work on top of another commit, as far as it fits. */
  async rebase(run: OperatorRun, order: LandingOrder, onto: string): Promise<RebasedResult | string> {
    const { check } = run;
    const spent = this.#resolvers.spentOn(order.work);
    return rebaseResult(order, {
      ...{ repository: this.#target.repository, run, onto, spent },
      check: async (commit) => (check === null ? PASSES : this.#checked(commit, check, run)),
      resolve: this.#resolvers.resolver(order.leftUsd, spent),
    });
  }

  /** The run is over, and on record. */
  close(): void {
    this.#resolvers.close();
  }

  /** The private ref is that from now on. */
  async reset({ integration }: OperatorRun, commit: string): Promise<void> {
    const now = await this.#read(integration);
    if (now === commit) return;
    const line = now === null ? `create ${integration} ${commit}` : `update ${integration} ${commit} ${now}`;
    await updateRefs([`${line}\n`], { reason: 'operator' }, this.#target.repository);
  }

  /** Work that began with what is no longer on the private ref comes without that. */
  async #moved(
    { run, offers, isRebased = false, leftUsd }: MergeBatch,
    spent: ResolverCosts,
  ): Promise<{ changed: MergeOffer[]; outcomes: Map<string, MergeOutcome> }> {
    const all = offers.filter(hasWork);
    const head = isRebased ? await this.#read(run.integration) : null;
    if (head === null) return { changed: all, outcomes: new Map() };
    return moveOffers(all, {
      ...{ repository: this.#target.repository, run, head },
      resolve: this.#resolvers.resolver(leftUsd, spent),
    });
  }

  /** What starts next begins with what others have put on the target. */
  async #follow(run: OperatorRun, commit: string): Promise<void> {
    if ((await this.#read(run.integration)) !== null) await this.reset(run, commit);
  }

  #known(check: NonNullable<Check>): Map<string, CheckOutcome> {
    const known = this.#outcomes.get(check.command) ?? new Map<string, CheckOutcome>();
    this.#outcomes.set(check.command, known);
    return known;
  }

  #ports(check: Check): Omit<MergePorts, 'entries'> {
    const { repository, caller } = this.#target;
    const project = projectOf(repository, caller);
    return { ...mergePorts(this.#target, project, { check }), onCheck() {} };
  }

  async #queue(
    request: Omit<Parameters<typeof runMergeQueue>[0], 'updateCheckout'> & { updateCheckout?: boolean },
    more: Partial<MergePorts> = {},
  ): Promise<MergeReport> {
    const ports = this.#ports(request.check);
    using entries = openMergeEntries(ports.project);
    const outcomes = request.check === null ? undefined : this.#known(request.check);
    // Awaited here: the entries are closed when this returns.
    return await onlyAsked(request, { entries, clock: ports.clock }, () =>
      runMergeQueue(
        { updateCheckout: false, ...request },
        { ...ports, entries, outcomes, isAdvised: false, ...more },
      ),
    );
  }

  #read(ref: string): Promise<string | null> {
    return readCommit(ref, this.#target.repository);
  }
}
