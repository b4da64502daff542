/**
 * Rules that mean no server and no tool, although one with a near name is set up: a slip, or other letters. A rule about a
 * server that is just not here is no mistake, since people write rules for many places at once.
 */

import { fitsName, isMeant, partings, readingsOf } from '../../extensions/mcp/rule-names.ts';
import { type NamedServer, PREFIX, serverForms } from '../../extensions/mcp/tool-names.ts';
import { editDistance } from '../../system/text/close-names.ts';

export interface AstrayGround {
  readonly servers: readonly NamedServer[];
  /** Whole names of the tools that the server of this key is known to have; none where nobody knows. */
  toolsOf(key: string): readonly string[];
}

/** What follows the rule in a line for people; null where nothing is to be said. */
export function whyAstray(written: string, ground: AstrayGround, giving: boolean): string | null {
  if (!written.startsWith(PREFIX)) return null;
  const readings = readingsOf(written, ground.servers, false);
  if (readings.length === 0) return otherServer(written, ground);
  return (giving ? openChoice(written, ground) : null) ?? otherTool(written, ground, giving);
}

function otherServer(written: string, { servers }: AstrayGround): string | null {
  const near = partings(written.slice(PREFIX.length)).flatMap(({ head, rest }) =>
    servers.flatMap((server) => {
      const distance = Math.min(...serverForms(server).map((form) => slips(head, form)));
      return Number.isFinite(distance) ? [{ distance, name: nameOf(server, rest) }] : [];
    }),
  );
  const [best] = near.sort((one, other) => one.distance - other.distance);
  return best ? `names no MCP server that is set up here: did you mean ${best.name}?` : null;
}

/** A server that is written as it is configured, and may be another's tool. */
function openChoice(written: string, { servers }: AstrayGround): string | null {
  if (readingsOf(written, servers, true).length > 0) return null;
  for (const { head, rest } of partings(written.slice(PREFIX.length))) {
    const server = servers.find(({ name, key }) => name === head && key !== head);
    if (server !== undefined)
      return `may mean the MCP server ${server.name} or another, so it does not allow ${server.name}: write ${nameOf(server, rest)}`;
  }
  return null;
}

function otherTool(written: string, { servers, toolsOf }: AstrayGround, giving: boolean): string | null {
  const readings = readingsOf(written, servers, false);
  if (readings.some(({ tool }) => tool === null || tool.includes('*') || OURS.includes(tool))) return null;
  const known = [...new Set(readings.map(({ key }) => key))].map((key) => ({ key, names: toolsOf(key) }));
  if (known.some(({ names }) => names.length === 0)) return null;
  const names = known.flatMap((one) => one.names);
  if (names.some((name) => fitsName(written, name) || isMeant(written, name, servers, giving))) return null;
  const [found] = readings
    .flatMap(({ key, tool }) =>
      (known.find((one) => one.key === key)?.names ?? []).map((name) => {
        const own = name.slice(PREFIX.length + key.length + 2);
        return { key, name, distance: slips(tool ?? '', own) };
      }),
    )
    .filter(({ distance }) => Number.isFinite(distance))
    .sort((one, other) => one.distance - other.distance);
  if (found === undefined) return null;
  const server = servers.find(({ key }) => key === found.key)?.name;
  return `names no tool that the MCP server ${server} had when it was last asked: did you mean ${found.name}?`;
}

/** Of a server with resources. */
const OURS = ['read_resource', 'read_mcp_resource'];

function nameOf({ key }: NamedServer, rest: string | null): string {
  return rest === null ? `${PREFIX}${key}` : `${PREFIX}${key}__${rest}`;
}

/** How many slips lie between two names; infinite for names of different things, such as prod1 and prod2. */
function slips(one: string, other: string): number {
  const [a, b] = [bare(one), bare(other)];
  if (a === '' || one.includes('*') || digits(a) !== digits(b)) return Infinity;
  // Short names are often near; two letters that changed places are a slip.
  const short = a.length === 4 && inOrder(a) === inOrder(b) ? 1 : 0;
  const most = a.length < 5 ? short : a.length < 8 ? 1 : 2;
  const distance = editDistance(a, b);
  return distance <= most ? distance : Infinity;
}

function bare(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

function inOrder(name: string): string {
  return [...name].sort().join('');
}

function digits(name: string): string {
  return name.replace(/\P{N}/gu, '');
}
