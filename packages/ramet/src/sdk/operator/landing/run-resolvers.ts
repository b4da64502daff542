/**
 * What agents that resolve conflicts have cost, also if the process was killed before that was on record. Each has a session of
 * its own: a note says which task it works for, until the operator has its cost.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentStatuses, statusBoardOf } from '../../../journal/projections/status.ts';
import { openReader } from '../../../journal/sessions.ts';
import type { Operator } from '../../../operator/run/operator.ts';
import { taskName } from '../../../operator/run/operator-state.ts';
import { PRIVATE_FILE } from '../../../system/home.ts';
import { agentResolver } from '../../merge/agent-resolver.ts';
import { type OpenTarget, projectOf } from '../../merge/open-target.ts';
import { operatorDirectory } from '../../place.ts';
import type { OpenSession } from '../../session/session-type.ts';
import { addCostTo, addResolvedTo, type ResolverCosts } from '../merge-offers.ts';

export interface ResolverSettings {
  open: OpenSession;
  resolveModel?: string | undefined;
  resolveBudgetUsd?: number | undefined;
  session: string;
}

export type OnResolverWait = Operator['agentWaits'];

/** Agents that resolve conflicts of a run. None wrote one of the sides. */
export class RunResolvers {
  readonly #target: OpenTarget;
  readonly #settings: ResolverSettings;
  readonly #project: string;
  readonly #notes: ResolverNotes;
  /** Told which of them wait for their provider. */
  onWait: OnResolverWait = () => {};

  constructor(target: OpenTarget, settings: ResolverSettings) {
    [this.#target, this.#settings] = [target, settings];
    this.#project = projectOf(target.repository, target.caller);
    this.#notes = new ResolverNotes({ project: this.#project, session: settings.session });
  }

  /** What an earlier process has spent on them and could not say. What was said before this is on record by now. */
  spentOn(work: readonly { readonly task: { readonly id: string } }[]): ResolverCosts {
    const spent: ResolverCosts = new Map();
    const ids = work.map(({ task }) => task.id);
    this.#notes.settle();
    this.#notes.addEarlier(ids, spent);
    return spent;
  }

  /** It never spends more than the run has left. `idOf` finds the task of a branch. */
  resolver(
    maxBudgetUsd: number | undefined,
    spent: ResolverCosts,
    idOf: (branch: string) => string | undefined = (id) => id,
  ): ReturnType<typeof agentResolver> {
    const { repository, caller } = this.#target;
    const { open, resolveModel: model, resolveBudgetUsd: budgetUsd } = this.#settings;
    // Conflicts are resolved one after the other.
    let last: number | null = 0;
    const resolve = agentResolver({
      ...{ repository, project: this.#project, caller, open, model, budgetUsd, maxBudgetUsd },
      onBegin: (branch, session) => this.#notes.begin(idOf(branch) ?? branch, session),
      onWait: (branch, id, wait) =>
        this.onWait({ id, top: id, name: null, task: idOf(branch) ?? branch }, wait),
      onSpent: (branch, cost) => {
        last = cost.costUsd;
        addCostTo(spent, idOf(branch) ?? branch, cost);
      },
    });
    return async (conflict) => {
      const { branch, files } = conflict;
      const resolution = await resolve(conflict);
      if (resolution.tree === null) return resolution;
      const { agent, session } = resolution.by;
      const by = { agent: agent ?? '', session: session ?? '', costUsd: last };
      addResolvedTo(spent, idOf(branch) ?? branch, { files, by });
      return resolution;
    };
  }

  /** The run is over, and on record. */
  close(): void {
    this.#notes.settle();
  }
}

interface NotesPlace {
  project: string;
  session: string;
}

class ResolverNotes {
  readonly #project: string;
  readonly #directory: string;
  /** Files of this process, and those of earlier ones that were counted. */
  readonly #known: Set<string> = new Set();

  constructor(place: NotesPlace) {
    this.#project = place.project;
    this.#directory = join(operatorDirectory(place), 'resolvers');
  }

  begin(task: string, session: string): void {
    mkdirSync(this.#directory, { recursive: true });
    const name = `${taskName(task)} ${session}`;
    this.#known.add(name);
    writeFileSync(join(this.#directory, name), '', { mode: PRIVATE_FILE });
  }

  /** Adds what resolvers of an earlier process have cost for one of these tasks. */
  addEarlier(tasks: readonly string[], costs: ResolverCosts): void {
    if (!existsSync(this.#directory)) return;
    const ids = new Map(tasks.map((id) => [taskName(id), id]));
    for (const name of readdirSync(this.#directory)) {
      const [task = '', session = ''] = name.split(' ');
      const id = ids.get(task);
      if (id === undefined || this.#known.has(name)) continue;
      this.#known.add(name);
      for (const cost of costsOf(this.#project, session)) addCostTo(costs, id, cost);
    }
  }

  /** The operator has what it was told: nothing of that is counted again. */
  settle(): void {
    for (const name of this.#known) rmSync(join(this.#directory, name), { force: true });
    this.#known.clear();
  }
}

function costsOf(project: string, session: string): ReturnType<typeof agentStatuses> {
  try {
    const reader = openReader({ project, session, forgiving: true });
    try {
      return agentStatuses(statusBoardOf(reader.events()), { writerAlive: false });
    } finally {
      reader.close();
    }
  } catch {
    return []; // it was killed before its session had a file, and so before it cost anything
  }
}
