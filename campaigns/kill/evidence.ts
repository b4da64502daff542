/** Everything a round leaves to be checked, as plain values, so that checks can be shown to find what is wrong. */
import type { UnmatchedRequest } from 'ramet/emulator';
import { effectLines } from './aim.ts';
import type { RoundPlan } from './plan.ts';
import { begunRound, type RecordedRound } from './recorded.ts';
import type { Asked, Stage } from './stage.ts';
import type { RunEnd, World } from './world.ts';

export interface ShownAgent {
  id: string;
  status: string;
  cause: string | null;
}

export interface Evidence {
  plan: RoundPlan;
  /** The last process of the round: it ran to its end. */
  end: RunEnd;
  /** Whether the user was given the answer by a process that was killed right after. */
  alreadyEnded: boolean;
  sessions: readonly string[];
  recorded: RecordedRound;
  asked: readonly Asked[];
  unmatched: readonly Pick<UnmatchedRequest, 'message'>[];
  files: Readonly<Record<string, string>>;
  effects: readonly string[];
  processes: readonly string[];
  temporary: readonly string[];
  shown: readonly ShownAgent[];
  /** Output tokens of the whole session as `ramet cost` has them. */
  billed: number;
  /** What views said when they could not be shown. */
  viewFailures: readonly string[];
}

export async function collect(
  { plan, stage, world }: { plan: RoundPlan; stage: Stage; world: World },
  end: RunEnd,
  alreadyEnded: boolean,
): Promise<Evidence> {
  const processes = await world.leftProcesses();
  // Who was killed before it had written its prompt has left a file without one, which is nobody's session.
  const sessions = world.sessions().flatMap((session) => begunRound(world.project, session) ?? []);
  const [recorded] = sessions;
  if (recorded === undefined) throw new Error('the round has left no session');
  const views = await lookAtViews(world);
  return {
    plan,
    end,
    alreadyEnded,
    sessions: sessions.map(({ session }) => session),
    recorded,
    asked: stage.asked,
    unmatched: stage.emulator.unmatched,
    files: world.files(),
    effects: effectLines(world),
    processes,
    temporary: world.leftTemporary(),
    ...views,
  };
}

type Views = Pick<Evidence, 'shown' | 'billed' | 'viewFailures'>;

async function lookAtViews(world: World): Promise<Views> {
  const [ps, show, cost] = await Promise.all(
    [
      ['ps', '--json'],
      ['show', '--json'],
      ['cost', '--json'],
    ].map((args) => world.look(...args)),
  );
  const failures = [ps, show, cost].flatMap((view) => (view?.code === 0 ? [] : [view?.text ?? '']));
  if (failures.length > 0) return { shown: [], billed: Number.NaN, viewFailures: failures };
  return {
    shown: JSON.parse(ps?.text ?? '[]'),
    billed: JSON.parse(cost?.text ?? '{}').total.usage.output_tokens,
    viewFailures: [],
  };
}
