/** A process that writes to a member of a team that another process hosts, each time that it is told to. */
import { sendToTeam } from '../packages/ramet/src/sdk/calls/teams.ts';

const options: { cwd: string; env: NodeJS.ProcessEnv } = JSON.parse(process.argv[2] ?? '{}');

process.on('message', () => {
  const at = process.hrtime.bigint();
  sendToTeam({ team: 'bench', to: 'ada', text: 'Do a part.' }, options);
  process.send?.(String(at));
});
process.send?.('ready');
