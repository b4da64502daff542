/** Where the agents of a new run work: as it was asked for, or by rule. */
import { findDefinition } from '../../../../agents/prompts/built-in.ts';
import { RECIPE_MODEL } from '../../../../model/catalog.ts';
import { chooseIsolation } from '../../../../operator/run/isolation.ts';
import { UserMistake } from '../../../../schema/errors.ts';
import type { OperatorRun, RunTask } from '../../../../schema/operator-events.ts';
import type { LiveParts } from '../../../session/live-parts.ts';
import type { OperateOrder } from '../../operate-order.ts';

interface IsolationParts extends Pick<LiveParts, 'team'> {
  types: Pick<LiveParts['types'], 'definitions'>;
}

export function isolationFor(
  { isolation = 'auto' }: Pick<OperateOrder, 'isolation'>,
  { policy, check }: Pick<OperatorRun, 'policy' | 'check'>,
  { tasks, parts, model }: { tasks: readonly RunTask[]; parts: IsolationParts; model: string },
): Pick<OperatorRun, 'isolation' | 'isolationWhy'> {
  const asked = [isolation, ...tasks.map(({ settings }) => settings.isolation)];
  if (model === RECIPE_MODEL && asked.includes('propose'))
    throw new UserMistake(
      'bad_isolation',
      'the recipe model writes no patches: set ANTHROPIC_API_KEY or --model, or use another --isolation than propose',
    );
  if (model === RECIPE_MODEL && asked.includes('team'))
    throw new UserMistake(
      'bad_isolation',
      'the recipe model claims no tasks: set ANTHROPIC_API_KEY or --model, or use another --isolation than team',
    );
  if (policy === 'first' && asked.some((one) => one === 'partition' || one === 'none' || one === 'team'))
    throw new UserMistake(
      'bad_isolation',
      'agents that compete for a task cannot share a checkout or a list: use --isolation worktree, clone or propose',
    );
  if (asked.includes('team') && parts.team === undefined) throw noTeam(isolation === 'team');
  if (isolation !== 'auto') return { isolation };
  const readsOnly = ({ settings: { type } }: RunTask): boolean =>
    type !== undefined && findDefinition(parts.types.definitions, type)?.readOnly === true;
  const chosen = chooseIsolation({ tasks, policy, hasCheck: check !== null, readsOnly });
  return { isolation: chosen.isolation, isolationWhy: chosen.why };
}

function noTeam(isOfRun: boolean): UserMistake {
  return new UserMistake(
    'no_team',
    isOfRun
      ? 'the pattern team needs a session with a team: open it with { team: true }'
      : 'a task is for a team, and the run has none: use --isolation team for the run',
  );
}
