/**
 * WebSearch as a source of a session's tools. The provider searches without asking us, so permission is settled before
 * the first request: an allow rule brings the tool, a deny rule keeps it away, and domains in rules become its limits.
 */
import type { ModelProvider } from '../../../model/provider.ts';
import { parseRules } from '../../../permission/policy.ts';
import type { PermissionRule } from '../../../permission/rule.ts';
import { webSearchTool } from '../../../tools/web-search.ts';
import type { ResolvedOptions } from '../../options.ts';
import type { Place } from '../../place.ts';
import type { ToolSource } from './tool-source.ts';

const NAME = 'WebSearch';

export function webSearchSource(
  { permissions, env, others = [] }: ResolvedOptions,
  { cwd, repository }: Place,
  provider: ModelProvider,
): ToolSource {
  const origin = { base: repository?.root ?? cwd, home: env.HOME || null, place: 'the options' };
  const sets = [permissions, ...others.map(({ texts }) => texts)].map(
    (texts) => parseRules(texts, origin).rules,
  );
  const about = (list: 'allow' | 'ask' | 'deny'): PermissionRule[] =>
    sets.flatMap((rules) => rules[list].filter(({ tool }) => tool.matches(NAME)));
  const [allow, ask, deny] = [about('allow'), about('ask'), about('deny')];
  const isWhole = ({ scope }: PermissionRule): boolean => scope.kind === 'every call';
  if (allow.length === 0 || deny.some(isWhole)) return { tools: [] };
  if (ask.length > 0)
    return none(`the rule ${ask[0]?.text} would have every search asked about, and the provider asks nobody`);
  if (provider.searchesWeb !== true) return none(`the provider ${provider.name} does not search the web`);
  const blocked = domainsOf(deny);
  const named = allow.some(isWhole) ? [] : domainsOf(allow);
  const isBelow = (domain: string, other: string): boolean =>
    domain === other || domain.endsWith(`.${other}`);
  const open = named.filter((domain) => !blocked.some((one) => isBelow(domain, one)));
  // The provider takes one of the two lists: a domain with a denied one below it cannot be allowed in part.
  const parted = open.filter((domain) => blocked.some((one) => isBelow(one, domain)));
  const allowed = open.filter((domain) => !parted.includes(domain));
  if (named.length > 0 && open.length === 0) return none('rules deny every domain that rules allow');
  const why = `rules deny a domain below ${parted.join(', ')}, and the provider cannot leave out a part of a domain`;
  if (named.length > 0 && allowed.length === 0) return none(why);
  const notices = parted.length === 0 ? [] : [`${NAME} does not search ${parted.join(', ')}: ${why}`];
  return { tools: [webSearchTool({ allowed, blocked })], notices: [...notices, ...wideOnes(allow, allowed)] };
}

/** A domain without its subdomains, or these without it, is not available from the provider. */
function wideOnes(allow: readonly PermissionRule[], allowed: readonly string[]): string[] {
  const wide = allow.flatMap(({ text, scope }) =>
    scope.kind === 'domain' && scope.domain.startsWith('*.') && allowed.includes(scope.domain.slice(2))
      ? [
          `${NAME} searches ${scope.domain.slice(2)} too, not only what is below it: the provider has no rule like ${text}`,
        ]
      : [],
  );
  return [...new Set(wide)];
}

function none(why: string): ToolSource {
  return { tools: [], notices: [`${NAME} is not offered: ${why}`] };
}

/** The provider counts what is below a domain to it. Sorted: they are part of the prompt. */
function domainsOf(rules: readonly PermissionRule[]): string[] {
  const domains = rules.flatMap(({ scope }) =>
    scope.kind === 'domain' ? [scope.domain.replace(/^\*\./, '')] : [],
  );
  return [...new Set(domains)].sort();
}
