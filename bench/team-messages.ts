/** 100,000 messages among 50 members of a team in ten processes, one of which is killed every second. */
import { exchangeMail } from '../packages/ramet/test/fixtures/team-mail.ts';
import { verdict } from './statistics.ts';
import { teamFolder } from './team-place.ts';

const MEMBERS = 50;
const EACH = 2_000;
const PROCESSES = 10;

export async function run(): Promise<void> {
  using folder = teamFolder();
  const order = {
    project: folder.path,
    members: MEMBERS,
    each: EACH,
    processes: PROCESSES,
    killEveryMs: 1_000,
  };
  const { letters, kills, ms, lost, doubled, outOfOrder } = await exchangeMail(order);
  console.log(`\n${letters} messages among ${MEMBERS} members in ${PROCESSES} processes, ${kills} killed`);
  console.log(`  ${Math.round((letters / ms) * 1_000)} messages/s from sender to the receiver's record`);
  console.log(`  ${verdict('lost', lost, 0, 'messages')}`);
  console.log(`  ${verdict('delivered again', doubled, 0, 'messages')}`);
  console.log(`  ${verdict('out of the order of their pair', outOfOrder, 0, 'messages')}`);
}
