/** What to tell people about rules and lists of agent types that nearly name a server, where the servers are known. */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { fileProblemText } from '../../extensions/front-matter/field-problem.ts';
import type { ServerReport } from '../../extensions/mcp/configured-servers.ts';
import { knownOffer, MOST_NAMES } from '../../extensions/mcp/known-tools.ts';
import { usableServers } from '../../extensions/mcp/server-set.ts';
import { type NamedServer, PREFIX, serverKeys, toolKeys } from '../../extensions/mcp/tool-names.ts';
import { describeProblem, type RuleTexts } from '../../permission/policy.ts';
import type { SettingsInForce } from '../../settings/settings.ts';
import { type CallOptions, callerOf } from '../calls/caller.ts';
import { findPlace, type Place } from '../place.ts';
import { rulesByPlace } from '../session/setup/session-rules.ts';
import { type AstrayGround, whyAstray } from './astray-names.ts';

interface WrittenRules extends Pick<SettingsInForce, 'others' | 'ruleOrigins'> {
  readonly permissions: RuleTexts;
}

/** Also of those that do not count here. */
export function serverNames({ servers }: ServerReport): NamedServer[] {
  return [...new Map(servers.map(({ name, key }) => [name, { name, key }])).values()];
}

export function astrayGround(report: ServerReport, { home, cwd }: Pick<Place, 'home' | 'cwd'>): AstrayGround {
  const usable = usableServers(report.servers);
  return {
    servers: serverNames(report),
    toolsOf(key) {
      const { config } = usable.find((one) => one.key === key) ?? {};
      const names = config === undefined ? [] : knownOffer(home, config, cwd).tools;
      // No more of them were noted.
      return names.length < MOST_NAMES ? [...toolKeys(key, names).values()] : [];
    },
  };
}

export function ruleNotices(
  { permissions, ruleOrigins = [], others = [] }: WrittenRules,
  ground: AstrayGround,
): string[] {
  const all = [
    ...rulesByPlace(permissions, ruleOrigins),
    ...others.map(({ place, texts }) => [place, texts] as const),
  ];
  return all.flatMap(([place, texts]) =>
    (['deny', 'ask', 'allow'] as const).flatMap((list) =>
      (texts[list] ?? []).flatMap((text) => {
        const reason = whyAstray(text.trim(), ground, list === 'allow');
        return reason === null ? [] : [describeProblem({ text, place, list, reason })];
      }),
    ),
  );
}

/** A type may have servers of its own. */
export function typeNotices(definitions: readonly AgentDefinition[], ground: AstrayGround): string[] {
  return definitions.flatMap((type) => {
    const own = (type.mcpServers ?? []).flatMap((one) => (typeof one === 'string' ? [] : Object.keys(one)));
    const keys = serverKeys([...ground.servers.map(({ name }) => name), ...own]);
    const servers = [...ground.servers, ...own.map((name) => ({ name, key: keys.get(name) ?? name }))];
    const listed = (['tools', 'disallowedTools'] as const).flatMap((field) => {
      const names = type[field] ?? [];
      return names === 'all' ? [] : names.map((name) => ({ field, name }));
    });
    return listed.flatMap(({ field, name }) => {
      const why = whyAstray(name, { ...ground, servers }, field === 'tools');
      const path = type.path ?? `agentTypes.${type.name}`;
      const message = `${JSON.stringify(name)} ${why}`;
      return why === null ? [] : [fileProblemText({ path, line: null, field, level: 'warning', message })];
    });
  });
}

/** The same for a place, in which no session is open. */
export async function ruleNoticesHere(options: CallOptions = {}): Promise<string[]> {
  const { cwd, env } = callerOf(options);
  const { sessionSettings } = await import('../session/setup/session-settings.ts');
  const { settings, others = [], ruleOrigins = [] } = await sessionSettings({ cwd, env });
  const rules = { permissions: settings.permissions ?? {}, others, ruleOrigins };
  const place = findPlace({ cwd, env });
  const { openStore } = await import('../agent-types/agent-types.ts');
  using store = await openStore(place, env);
  await store.refresh();
  const { definitions } = store.catalog;
  if (
    !JSON.stringify([
      rules,
      definitions.map(({ tools, disallowedTools }) => [tools, disallowedTools]),
    ]).includes(PREFIX)
  )
    return [];
  const { listServers } = await import('./manage-servers.ts');
  const ground = astrayGround(await listServers({ cwd, env }), place);
  return [...ruleNotices(rules, ground), ...typeNotices(definitions, ground)];
}
