/** What a session that is opened with these options would begin with. */
import { isEmbedded } from '../../model/catalog.ts';
import { withRecipe } from '../../model/recipe/recipe.ts';
import { selectProvider } from '../../model/select-provider.ts';
import type { SessionMode } from '../../schema/status.ts';
import { trustStamp } from '../../system/trust.ts';
import { newSessionMode, newSessionModel, resolveOptions, type SessionOptions } from '../options.ts';
import { findPlace } from '../place.ts';
import { sessionSettings, settingsPlace } from '../session/setup/session-settings.ts';

export interface SessionDefaults {
  readonly model: string;
  readonly permissionMode: SessionMode;
  /** The model needs no key, and nobody chose it: no key is set. */
  readonly isKeyless: boolean;
}

/** Rejects with what opening the session would say. */
export async function sessionDefaults(options: SessionOptions): Promise<SessionDefaults> {
  const settings = resolveOptions(options, await sessionSettings(options));
  const { env } = settings;
  const provider = options.provider ?? withRecipe(await selectProvider(env, settings.settings.provider));
  try {
    const model = newSessionModel(settings, provider);
    const isChosen = settings.model !== null || Boolean(env.RAMET_PROVIDER);
    return {
      model,
      permissionMode: newSessionMode(settings),
      isKeyless: isEmbedded(model) && !isChosen,
    };
  } finally {
    if (options.provider === undefined) provider.close();
  }
}

/** Throws if a session with these options would have no memory. */
export async function refuseNotes(options: SessionOptions): Promise<void> {
  const { refuseWhereOff } = await import('../memory/memory-calls.ts');
  refuseWhereOff(resolveOptions(options, await sessionSettings(options)).settings);
}

/** Whether the user has trusted the folder, and not only for this once. */
export function isTrustRecorded({ cwd = process.cwd(), env = process.env }: SessionOptions): boolean {
  const place = settingsPlace(findPlace({ cwd, env }), env);
  return place.isGiven !== true && trustStamp(place).trim() !== '';
}

/** Throws if nobody has defined this type, as opening a session would. Why another cannot be used is told then. */
export async function refuseUnknownType(options: SessionOptions, name: string): Promise<void> {
  const settings = resolveOptions(options, await sessionSettings(options));
  const place = findPlace(settings);
  const [{ findPlugins }, { openAgentTypes }, { definitionNamed }] = await Promise.all([
    import('../extensions/plugins.ts'),
    import('../agent-types/agent-types.ts'),
    import('../session/main/main-type.ts'),
  ]);
  if (Object.hasOwn(settings.agentTypes, name)) return;
  const { plugins } = await findPlugins(place, settings);
  using types = await openAgentTypes(place, settings.env, { plugins });
  if (types.whyWithheld(name) === null) definitionNamed(name, types);
}
