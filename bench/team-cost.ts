/**
 * What a team of five costs beside five forks that do the same, in input-token equivalents of the whole run (write 1.25, read
 * 0.1, output left out): each makes one Bash call and reports. A fork's report is the result of its call; a member sends it to
 * the lead, whom each message wakes.
 */
import { type BenchPlace, benchPlace, runPrint } from './command.ts';
import { costOf, ofChildren, type PlayRecord } from './play-record.ts';
import { type CacheServer, startCacheServer } from './start-cache-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';
import { commitAll } from './team-place.ts';

const ROUNDS = 3;
const GOAL = 1.5;
/** Without it an answer would have begun before the next sibling asks. */
const FIRST_TOKEN_MS = 300;

export async function run(): Promise<void> {
  using place = benchPlace();
  commitAll(place.repository);
  using server = await startCacheServer();
  const ratios: number[] = [];
  const own: number[] = [];
  console.log(`\na team of five beside five forks, input-token equivalents, ${ROUNDS} rounds`);
  for (let round = 0; round < ROUNDS; round++) {
    const forks = await records(place, server, false);
    const team = await records(place, server, true);
    console.log(`  five forks    ${shown(forks)}`);
    console.log(`  team of five  ${shown(team)}`);
    ratios.push(costOf(team) / costOf(forks));
    own.push(costOf(ofChildren(team)) / costOf(ofChildren(forks)));
  }
  console.log(`  the whole run  ${showSpread(spreadOf(ratios), 'times')}`);
  console.log(`  children only  ${showSpread(spreadOf(own), 'times')}`);
  console.log(`  ${verdict('a team beside forks', spreadOf(ratios).median, GOAL, 'times')}`);
}

function shown(all: readonly PlayRecord[]): string {
  const children = ofChildren(all);
  const lead = all.length - children.length;
  return `${costOf(all).toFixed(0)} (${children.length} requests of children, ${lead} of the main agent)`;
}

async function records(place: BenchPlace, server: CacheServer, team: boolean): Promise<PlayRecord[]> {
  await server.play({ firstTokenMs: FIRST_TOKEN_MS, team });
  await runPrint(place, server.url, { prompt: 'Go.', args: team ? ['--team', 'bench'] : [] });
  return server.records();
}
