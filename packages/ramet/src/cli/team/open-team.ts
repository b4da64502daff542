/** `ramet team create` and `ramet team attach`: a team is made, and its lead is spoken to. */
import { UserMistake } from '../../schema/errors.ts';
import { createTeam, sendToTeam, showTeam, type TeamPlan, watchTeam } from '../../sdk/calls/teams.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { teamText } from '../../views/team-text.ts';
import { isAttended } from '../commands/chat.ts';
import { print } from '../commands/print.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { paintGroups, styleFor } from '../output/painted.ts';
import { isKeyless, NO_KEY } from '../output/result-output.ts';
import { type PrintOptions, sessionOptions } from '../print-options.ts';

export interface CreateFlags extends PrintOptions {
  member?: string[];
  json?: boolean;
}

/** A goal is carried out at once: in a conversation on a terminal, elsewhere as `ramet -p` does. */
export async function create(
  name: string,
  words: readonly string[],
  { member = [], json, ...options }: CreateFlags,
  io: CommandIo,
): Promise<number> {
  const outputFormat = json ? 'json' : options.outputFormat;
  const members = member.map(memberFrom);
  const team = await createTeam(
    { name, members },
    sessionOptions({ ...options, outputFormat }, undefined, io),
  );
  if (members.length > MOST_ADVISED) io.note(MANY);
  if (words.length === 0) {
    io.out(json ? jsonLine(team) : paintGroups(teamText(team), styleFor(io)));
    if (json) return EXIT.done;
    io.note(`made: ramet team attach ${name} opens its lead, ramet team send lead "..." writes to it`);
    if (await isKeyless(options, io)) io.note(`${NO_KEY}, and --model with ramet team resume ${name}`);
    return EXIT.done;
  }
  const runs = {
    ...options,
    outputFormat,
    resume: team.session,
    print: outputFormat !== 'text' || !isAttended(io),
  };
  return print(words.join(' '), runs, io, []);
}

const MOST_ADVISED = 5;
const MANY = `more than ${MOST_ADVISED} members seldom pay: three to five do for most work (ramet help parallel)`;

/** `ada` or `ada:reviewer`. */
function memberFrom(given: string): NonNullable<TeamPlan['members']>[number] {
  const at = given.lastIndexOf(':');
  if (at === -1) return { name: given };
  const [name, type] = [given.slice(0, at), given.slice(at + 1)];
  if (type === '')
    throw new UserMistake('bad_member', `--member ${name}: has no type after the colon: leave the colon out`);
  return { name, type };
}

/** Its lead's conversation. Where another process hosts it, that is followed, and a person can write to the team. */
export async function attach(
  wanted: string | undefined,
  { json }: { json?: boolean },
  io: CommandIo,
): Promise<number> {
  const { name, session, host } = showTeam(wanted, callFrom(io));
  if (host !== null) {
    const watched = watchTeam(name, callFrom(io));
    const { watchSession } = await import('../commands/watch.ts');
    return watchSession(session, { json }, io, {
      look: () => watched.look(),
      send: (message) => sendToTeam({ ...message, team: name }, callFrom(io)).to,
    });
  }
  if (json || !isAttended(io)) throw notHosted(name, session, json === true);
  const { chat } = await import('../commands/chat.ts');
  return chat({ ...sessionOptions({ outputFormat: 'text' }, session, io), attended: true }, io);
}

function notHosted(name: string, session: string, json: boolean): UserMistake {
  const why = json ? 'there are no events to print' : 'to open its lead here takes a terminal';
  return new UserMistake(
    'not_hosted',
    `no process hosts the team "${name}", and ${why}: ramet team resume ${name} resumes it, ramet -p --resume ${session} "..." gives its lead a prompt`,
  );
}
