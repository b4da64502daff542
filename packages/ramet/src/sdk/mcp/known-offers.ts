/**
 * What the servers of a place offered when they were last asked, for people who write a prompt: prompts as commands,
 * resources as names behind an `@`. No server is started for it.
 */
import { knownOffer } from '../../extensions/mcp/known-tools.ts';
import { usableServers } from '../../extensions/mcp/server-set.ts';
import { toolKeys } from '../../extensions/mcp/tool-names.ts';
import { callerOf } from '../calls/caller.ts';
import { findPlugins, serversOf } from '../extensions/plugins.ts';
import { findPlace } from '../place.ts';
import { sessionSettings } from '../session/setup/session-settings.ts';
import type { SessionOptions } from '../session-options.ts';
import { serversHere } from './session-servers.ts';

export interface OfferedPrompt {
  /** As it is typed behind a slash. */
  readonly name: string;
  readonly usage: string;
  readonly description: string;
}

export interface KnownOffers {
  /** By the names that models, rules and prompts know them by. */
  readonly servers: readonly string[];
  /** By the names that they are configured with. */
  readonly configured: readonly string[];
  readonly prompts: readonly OfferedPrompt[];
  /** `server:uri` */
  readonly resources: readonly string[];
}

export async function knownOffers(options: SessionOptions): Promise<KnownOffers> {
  const { mcpServers, mcpConfig, strictMcpServers } = options;
  const { cwd, env } = callerOf({
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    ...(options.env !== undefined && { env: options.env }),
  });
  const place = findPlace({ cwd, env });
  const settings = await sessionSettings({ cwd, env });
  const { plugins } = await findPlugins(place, { ...settings, env, pluginDirs: options.plugins });
  const pluginServers = await serversOf(plugins, place, env);
  const given = { mcpServers, mcpConfig, strictMcpServers, pluginServers };
  const report = await serversHere(place, { env, ...settings, ...given });
  const known = usableServers(report.servers).map(({ key, name, config }) => ({
    ...{ key, name },
    ...knownOffer(place.home, config, place.cwd),
  }));
  return {
    servers: known.map(({ key }) => key),
    configured: known.map(({ name }) => name),
    prompts: known.flatMap(({ key, prompts }) => promptsOf(key, prompts)),
    resources: known.flatMap(({ key, resources }) => resources.map((uri) => `${key}:${uri}`)),
  };
}

function promptsOf(key: string, prompts: ReturnType<typeof knownOffer>['prompts']): OfferedPrompt[] {
  const names = toolKeys(
    key,
    prompts.map(({ name }) => name),
  );
  return prompts.map((prompt) => {
    const name = names.get(prompt.name) ?? prompt.name;
    const fields = prompt.arguments.map((one) => (one.required ? `<${one.name}>` : `[${one.name}]`));
    return { name, usage: [`/${name}`, ...fields].join(' '), description: prompt.description };
  });
}
