/** A run of an agent or of task files as a program sees it, out of its journal and what this process knows besides. */
import { existsSync } from 'node:fs';
import type { AgentResult } from '../../engine/shapes.ts';
import type { AgentOverview } from '../../journal/projections/status.ts';
import type { LastAnswers } from '../../views/exchanges.ts';
import { summaryOf } from '../../views/operator/run-summary.ts';
import type { SessionView } from '../../views/session-view.ts';
import { recordedRun } from '../operator/recorded-runs.ts';
import { operatorDirectory } from '../place.ts';

/** A run as a program sees it. */
export interface ServedRun {
  session: string;
  running: boolean;
  /** `running`, `succeeded`, `failed` and so on. */
  status: string;
  /** Why it ended so; null while it runs and where nothing is to be said. */
  cause: string | null;
  /** The last answer; null before there is one. */
  text: string | null;
  cost_usd: number | null;
  turns: number;
  agents: { id: string; type: string; status: string; description: string | null; progress: string | null }[];
  /** Of a run of tasks. */
  tasks?: Record<string, number>;
  /** What to do next, in words. */
  next: string;
}

/** A run of this process. */
export interface OwnRun {
  readonly session: string;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  isOver: boolean;
  result: AgentResult | null;
  problem: string | null;
}

export function describeRun(
  { project, entry, agents, reader }: SessionView,
  answers: LastAnswers,
  own: OwnRun | undefined,
): ServedRun {
  const id = entry.session;
  const main = speakerOf(agents);
  const running = own === undefined ? entry.live && agents.some(isWorking) : !own.isOver;
  const tasks = tasksOf(project, id);
  const costs = agents.map(({ costUsd }) => costUsd);
  const said = tasks === null && main !== undefined ? answers.of(reader, main.id) : null;
  return {
    session: id,
    running,
    status: own?.problem ? 'failed' : (own?.result?.status ?? statusOf(main, running)),
    cause: own?.problem ?? (own?.result ?? main)?.message ?? (own?.result ?? main)?.cause ?? null,
    text: own?.result?.text ?? (running ? null : said),
    cost_usd: costs.includes(null) ? null : costs.reduce<number>((sum, one) => sum + (one ?? 0), 0),
    turns: agents.reduce((sum, { turns }) => sum + turns, 0),
    agents: agents.map(({ id: agent, type, status: how, description, progress }) => ({
      ...{ id: agent, type, status: how, description, progress },
    })),
    ...(tasks !== null && { tasks }),
    next: running
      ? 'it runs: wait_for_run waits for it, stop_run ends it'
      : `it does not run now: ramet show ${id} shows it${main?.turns === 0 ? '' : ', and it can be continued by its session'}`,
  };
}

/** An agent of a type answers in place of the main agent, which has no turn then. */
function speakerOf([main, child]: readonly AgentOverview[]): AgentOverview | undefined {
  return main?.turns === 0 && child !== undefined ? child : main;
}

/** A session that is continued has the status of its last prompt until the next one is recorded. */
function statusOf(main: AgentOverview | undefined, running: boolean): string {
  return main === undefined || (running && !isWorking(main)) ? 'starting' : main.status;
}

function isWorking({ status }: AgentOverview): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting' || status === 'blocked';
}

/** Most sessions hold no run of tasks: those are not read again. */
function tasksOf(project: string, session: string): Record<string, number> | null {
  if (!existsSync(operatorDirectory({ project, session }))) return null;
  const state = recordedRun(project, session);
  return state.run === null ? null : Object.fromEntries(summaryOf(state).counts);
}
