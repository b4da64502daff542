/**
 * What a session stands on before it has a journal, the same for a new and a resumed one: provider, rules, worktrees and
 * the environment of its programs.
 */
import { lazyWorkspaces } from '../../../engine/opening.ts';
import type { LazyWorkspaces, SessionRuntime } from '../../../engine/shapes.ts';
import type { WatchLimits } from '../../../model/connection-watch.ts';
import type { ModelProvider } from '../../../model/provider.ts';
import { withRecipe } from '../../../model/recipe/recipe.ts';
import { selectProvider } from '../../../model/select-provider.ts';
import type { SessionRules } from '../../../permission/policy.ts';
import type { LimitSettings } from '../../../settings/settings.ts';
import { childEnvironment, withoutOwnPrograms } from '../../../system/child-environment.ts';
import type { RunWatch } from '../../operator/control/watch-run.ts';
import type { ResolvedOptions } from '../../options.ts';
import type { Place } from '../../place.ts';
import { sessionRedactor, sessionSecrets } from './session-redactor.ts';

/** What was asked for, and who answers. */
export interface SessionOrder {
  readonly settings: ResolvedOptions;
  readonly provider: ModelProvider;
}

export interface SessionGround
  extends Pick<SessionRuntime, 'provider' | 'redact' | 'permissions' | 'childEnvironment'> {
  readonly workspaces: LazyWorkspaces;
}

export function openGround(
  { settings, provider }: SessionOrder,
  place: Place,
  permissions: SessionRules,
): SessionGround {
  const environment = environmentOfChildren(settings);
  return {
    provider,
    permissions,
    redact: sessionRedactor(sessionSecrets(settings.env, place.home)),
    childEnvironment: environment,
    workspaces: openWorkspaces(settings, place, environment),
  };
}

/** There before the session is: one that is to work in a worktree does not begin without it. */
function openWorkspaces(
  settings: ResolvedOptions,
  place: Place,
  env: Readonly<Record<string, string>>,
): LazyWorkspaces {
  return lazyWorkspaces({
    home: place.home,
    cwd: place.cwd,
    env,
    settings: settings.settings.worktree ?? {},
    now: () => settings.clock.now(),
  });
}

/** Found once for each session: it looks up every folder of the PATH. */
export function environmentOfChildren({
  env,
  settings,
  cwd,
  childEnv,
}: ResolvedOptions): Record<string, string> {
  return withoutOwnPrograms({ ...childEnvironment(env, settings.env?.childVariables), ...childEnv }, cwd);
}

/** The provider that settings and environment choose. */
export async function ownProvider({ env, settings }: ResolvedOptions): Promise<ModelProvider> {
  return withRecipe(await selectProvider(env, settings.provider, watchLimits(settings.limits)));
}

/** How long a request may be silent or without content; what is not set is the provider's own. */
function watchLimits(limits: LimitSettings = {}): Partial<WatchLimits> {
  const { silenceSeconds, stallSeconds } = limits;
  return {
    ...(silenceSeconds !== undefined && { silentMs: silenceSeconds * 1_000 }),
    ...(stallSeconds !== undefined && { stalledMs: stallSeconds * 1_000 }),
  };
}

/** Loaded late: few sessions watch a run. */
export async function watchFor(
  run: string | true | undefined,
  { cwd, env }: ResolvedOptions,
): Promise<RunWatch | undefined> {
  if (run === undefined) return undefined;
  const { watchRun } = await import('../../operator/control/watch-run.ts');
  return watchRun({ cwd, env, session: run === true ? undefined : run });
}
