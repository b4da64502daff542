/**
 * Merges and lands for the operator, with the merge queue (WORK-5): finished work goes onto a private ref, and from there to
 * the target by fast forward, or by a merge if the target has moved. Nothing else moves a ref.
 */
import {
  callIn,
  checkCommit,
  mergeTrees,
  openMergeEntries,
  removeDeadLocks,
  runMergeQueue,
  updateRefs,
} from '../../git/merges.ts';
import { gitText, runGit } from '../../git/run-git.ts';
import type { CheckOutcome, MergeEntry, MergePorts, MergeReport } from '../../git/shapes.ts';
import type {
  BatchReport,
  LandingReport,
  MergeBatch,
  MergeOffer,
  MergeOutcome,
} from '../../operator/run/ports.ts';
import type { OperatorRun, RecordedCheck } from '../../schema/operator-events.ts';
import { agentResolver, type ResolverPlace } from '../merge/agent-resolver.ts';
import { mergePorts, type OpenTarget, projectOf } from '../merge/open-target.ts';
import type { OpenSession } from '../session/session-type.ts';
import { failedCheck, recordedCheck } from './check-output.ts';
import {
  addCostOf,
  type CheckWatch,
  hasWork,
  nameIn,
  nullIfGone,
  type ResolverCosts,
  targetGone,
  watchChecks,
} from './merge-offers.ts';

export interface OperatorMergeSettings {
  open: OpenSession;
  resolveModel?: string | undefined;
  resolveBudgetUsd?: number | undefined;
  session: string;
}

type Check = OperatorRun['check'];
type ConflictResolver = ReturnType<typeof agentResolver>;

export class OperatorMerges {
  readonly #target: OpenTarget;
  readonly #settings: OperatorMergeSettings;
  /** How checks of this run ended, by command and tree. */
  readonly #outcomes: Map<string, Map<string, CheckOutcome>> = new Map();

  /** Settles when the check without any task has ended; null if it has or was not asked for. */
  #base: Promise<void> | null = null;

  constructor(target: OpenTarget, settings: OperatorMergeSettings) {
    this.#target = target;
    this.#settings = settings;
  }

  /** Makes the private ref, if it is missing. */
  async open({ integration }: OperatorRun, commit: string): Promise<void> {
    await removeDeadLocks(this.#target.repository.commonDirectory);
    if ((await this.#read(integration)) === null)
      await updateRefs(
        [`create ${integration} ${commit}\n`],
        { reason: 'operator' },
        this.#target.repository,
      );
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

  async integrate({ run, offers, check, leftUsd, onChecked, onWaiting }: MergeBatch): Promise<BatchReport> {
    const [changed, unchanged] = [offers.filter(hasWork), offers.filter((offer) => !hasWork(offer))];
    const outcomes = new Map<string, MergeOutcome>();
    const watch = watchChecks(onWaiting);
    const spent: ResolverCosts = new Map();
    await this.#afterBase(onWaiting);
    if (changed.length > 0) {
      const report = await this.#queue(
        {
          ...{ target: run.integration, targetName: run.target, strategy: run.strategy, check },
          ...{ branches: changed.map(({ attempt }) => nameIn(attempt)), onConflict: run.onConflict },
        },
        {
          storyOf: (branch) => this.#storyOf(branch, changed),
          resolveConflict: this.#resolver(leftUsd, (branch, cost) => {
            addCostOf(changed, branch, cost, spent);
          }),
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
        (await this.#missing(offer, head)) ?? (await this.#unchanged(head, { run, check, watch })),
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

  #storyOf(
    branch: string,
    offers: readonly MergeOffer[],
  ): { subject?: string; task?: string; agent?: string; session?: string } {
    const offer = offers.find(({ attempt }) => nameIn(attempt) === branch);
    if (offer === undefined) return {};
    const { task, attempt } = offer;
    return {
      ...{ subject: task.title, task: `${task.id} ${task.title}`, session: this.#settings.session },
      ...(attempt.agent !== null && { agent: attempt.agent }),
    };
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
        return { kind: 'conflict', files: await this.#conflicts(entry, run), message };
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

  async #conflicts({ tip }: MergeEntry, run: OperatorRun): Promise<string[]> {
    const head = await this.#read(run.integration);
    if (head === null) return [];
    const merged = await mergeTrees([head, tip], callIn(this.#target.repository));
    return merged.clean ? [] : merged.files;
  }

  /** Why a task that changed nothing cannot be done: what it did before was not taken, and nothing else brought it. */
  async #missing({ rejected }: MergeOffer, head: string): Promise<MergeOutcome | null> {
    const commit = rejected?.commit ?? null;
    if (rejected === null || commit === null || (await this.#holds(head, commit))) return null;
    const why = (rejected.cause ?? 'failed').replaceAll('_', ' ');
    const message = `its agent is done and has changed nothing, and its earlier work (${why}) is not in the result: ${commit.slice(0, 10)}`;
    return { kind: 'no_changes', message };
  }

  /** Whether merging a commit would change nothing. */
  async #holds(head: string, commit: string): Promise<boolean> {
    if ((await this.#read(commit)) === null) return false;
    const call = callIn(this.#target.repository);
    const merged = await mergeTrees([head, commit], call);
    return merged.clean && merged.tree === (await gitText(['rev-parse', `${head}^{tree}`], call));
  }

  /** A task that changed nothing is done if its check passes as things are. */
  async #unchanged(
    head: string,
    { run, check, watch }: { run: OperatorRun; check: Check; watch: CheckWatch },
  ): Promise<MergeOutcome> {
    if (check === null) return { kind: 'merged', result: head, isNothing: true };
    const ports = this.#ports(check);
    const outcome = await checkCommit(head, check, {
      ...{ ...ports, ...watch },
      target: run.integration,
      outcomes: this.#known(check),
    });
    if (outcome.passed) return { kind: 'merged', result: head, isNothing: true };
    return {
      kind: 'check',
      message: `it changed nothing, and the check fails (${outcome.ending}); its output: ${outcome.output}`,
      check: recordedCheck(check, outcome),
    };
  }

  async #checkOn(head: string, check: Check): Promise<RecordedCheck | null> {
    if (check === null) return null;
    const { repository } = this.#target;
    const tree = await gitText(['rev-parse', '--verify', `${head}^{tree}`], callIn(repository));
    const outcome = this.#known(check).get(tree);
    return outcome === undefined ? null : recordedCheck(check, outcome);
  }

  async land(run: OperatorRun, commit: string): Promise<LandingReport> {
    const report = await this.#queue({
      ...{ target: run.target, strategy: 'fast-forward', check: run.check, branches: [commit] },
      ...{ onConflict: 'person', updateCheckout: run.updateCheckout },
    }).catch(nullIfGone);
    if (report === null) return targetGone(run, commit);
    const entry = report.entries.findLast(({ branch }) => branch === commit);
    const isIn = entry?.state === 'landed' || entry?.state === 'integrated' || entry?.state === 'nothing';
    const { before, after, kept } = report;
    if (!isIn) return { state: 'failed', before, after: before, commit, message: entry?.reason ?? null };
    const landed = kept === null ? after : kept.commit;
    await this.#follow(run, landed);
    return kept === null
      ? { state: 'moved', before, after, commit: landed, message: null }
      : { state: 'kept', before, after, commit: landed, message: kept.take };
  }

  /** What starts next begins with what others have put on the target. */
  async #follow({ integration }: OperatorRun, commit: string): Promise<void> {
    const now = await this.#read(integration);
    if (now === null || now === commit) return;
    await updateRefs(
      [`update ${integration} ${commit} ${now}\n`],
      { reason: 'operator' },
      this.#target.repository,
    );
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

  /** An agent that wrote neither side. It never spends more than the run has left. */
  #resolver(maxBudgetUsd: number | undefined, onSpent: ResolverPlace['onSpent']): ConflictResolver {
    const { repository, caller } = this.#target;
    const { open, resolveModel: model, resolveBudgetUsd: budgetUsd } = this.#settings;
    const project = projectOf(repository, caller);
    return agentResolver({ repository, project, caller, open, model, budgetUsd, maxBudgetUsd, onSpent });
  }

  async #queue(
    request: Omit<Parameters<typeof runMergeQueue>[0], 'updateCheckout'> & { updateCheckout?: boolean },
    more: Partial<MergePorts> = {},
  ): Promise<MergeReport> {
    const ports = this.#ports(request.check);
    using entries = openMergeEntries(ports.project);
    const outcomes = request.check === null ? undefined : this.#known(request.check);
    const report = await runMergeQueue(
      { updateCheckout: false, ...request },
      { ...ports, entries, outcomes, ...more },
    );
    // What is not to blame would be merged with the next batch, whatever its task is by then.
    const left = report.entries.filter(({ state }) => state === 'waiting');
    entries.change(
      left.map(({ id }) => ({ id, state: 'failed' })),
      ports.clock.now(),
    );
    return report;
  }

  async #read(ref: string): Promise<string | null> {
    const call = callIn(this.#target.repository);
    const { code, stdout } = await runGit(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], call);
    return code === 0 ? stdout.trim() : null;
  }
}
