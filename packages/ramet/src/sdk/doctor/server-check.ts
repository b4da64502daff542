/** The MCP servers that are set up here: which of them do not start, and why. */

import { namesWithin } from '../../extensions/mcp/find-tools.ts';
import { POLICY_SERVERS } from '../../settings/setting-value.ts';
import type { DoctorContext, HealthCheck } from './health-check.ts';
import { limited, ok } from './health-check.ts';

const START_MS = 10_000;

export async function checkServers({ caller }: DoctorContext): Promise<HealthCheck> {
  const { listServers, tryServers } = await import('../mcp/manage-servers.ts');
  const { servers, problems } = await listServers(caller);
  if (servers.length === 0 && problems.length === 0) return ok('mcp', 'no MCP server is set up here');
  const tried = await tryServers([], { ...caller, startMs: START_MS });
  const bad = [
    ...problems,
    ...tried.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`])),
    ...tried.flatMap(({ name, leftOut }) =>
      leftOut.length === 0 ? [] : [`${name} works without ${namesWithin(leftOut, 600)}`],
    ),
  ];
  const withheld = servers.filter(({ isWithheld }) => isWithheld).map(({ name }) => name);
  const forbidden = servers.filter(({ unused }) => unused === POLICY_SERVERS).map(({ name }) => name);
  const found = [
    `${tried.filter((one) => one.ok).length} of ${tried.length} servers start`,
    ...bad,
    ...(forbidden.length === 0 ? [] : [`${POLICY_SERVERS}; not started: ${forbidden.join(', ')}`]),
    ...(withheld.length === 0
      ? []
      : [`not started, since this folder is not trusted as it is: ${withheld.join(', ')}`]),
  ].join('; ');
  if (bad.length > 0)
    return limited('mcp', found, 'ramet mcp ls shows where they are set up, ramet mcp test NAME tries one');
  if (forbidden.length > 0)
    return limited('mcp', found, 'remove them (ramet mcp ls names their files), or ask your administrator');
  return withheld.length > 0
    ? limited('mcp', found, 'look at them with ramet mcp ls, then ramet trust')
    : ok('mcp', found);
}
