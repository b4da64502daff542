/** The grammar of `ramet team`. */
import type { Command } from 'commander';
import type { CommandIo } from '../io.ts';
import { addRunOptions } from '../run-options.ts';

const WHICH = 'its name or session (default: the only one)';

export function addTeam(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const team = program
    .command('team')
    .description('teams of this repository: make one, look at its members, messages and tasks');
  const commands = (): Promise<typeof import('./team.ts')> => import('./team.ts');
  const opening = (): Promise<typeof import('./open-team.ts')> => import('./open-team.ts');
  const create = team
    .command('create')
    .description('make a team; a goal is given to its lead at once')
    .argument('<name>', 'what the team is called')
    .argument('[goal...]', 'what it is to do: on a terminal in a conversation, elsewhere as ramet -p')
    .option(
      '--member <name[:type]>',
      'add a member that begins when there is work for it; may be repeated',
      (member: string, before: string[] = []) => [...before, member],
    )
    .option('--json', 'print the team as JSON; with a goal the same as --output-format json');
  addRunOptions(create).action(async (name, goal, options) => {
    setExitCode(await (await opening()).create(name, goal, options, io));
  });
  team
    .command('attach')
    .description("open the lead's conversation; if another process hosts the team, follow it and write to it")
    .argument('[team]', WHICH)
    .option('--json', 'print what is recorded from now on, one event per line')
    .action(async (name, options) => setExitCode(await (await opening()).attach(name, options, io)));
  team
    .command('ls', { isDefault: true })
    .description('list the teams of this repository')
    .option('--json', 'print JSON')
    .action(async (options) => (await commands()).listAll(options, io));
  team
    .command('show')
    .description('show the members of a team, what each does, and its tasks')
    .argument('[team]', WHICH)
    .option('--watch', 'show every change, until no process hosts the team')
    .option('--json', 'print JSON; with --watch a line for every change')
    .action(async (name, options) => {
      if (options.watch !== true) (await commands()).showOne(name, options, io);
      else setExitCode(await (await import('./live-team.ts')).followTeam(name, options, io));
    });
  team
    .command('tasks')
    .description("show a team's tasks: who works on what, what waits for what, what proves it")
    .argument('[team]', WHICH)
    .option('--json', 'print JSON')
    .action(async (name, options) => (await commands()).showTasks(name, options, io));
  team
    .command('send')
    .description('write to a member; it is read after the current tool call, and permits nothing')
    .argument('<to>', 'a name, lead, or "*" for everybody')
    .argument('<message...>', 'what to say')
    .option('--team <team>', WHICH)
    .option('--json', 'print JSON')
    .action(async (to, words, options) => (await commands()).send(to, words, options, io));
  team
    .command('approve')
    .description("approve a member's plan: it carries it out; ramet team show prints plans that wait")
    .argument('<member>', 'its name')
    .option('--reason <text>', 'what to tell it with that')
    .option('--team <team>', WHICH)
    .option('--json', 'print JSON')
    .action(async (member, options) => (await commands()).answer(member, true, options, io));
  team
    .command('reject')
    .description("reject a member's plan: it plans again with your reason")
    .argument('<member>', 'its name')
    .option('--reason <text>', 'what is to be different')
    .option('--team <team>', WHICH)
    .option('--json', 'print JSON')
    .action(async (member, options) => (await commands()).answer(member, false, options, io));
  team
    .command('stop')
    .description('end a team: its members are asked, and ended within 30 seconds; then its lead')
    .argument('[team]', WHICH)
    .option('--member <name>', 'only this member; the others and the lead continue')
    .option('--json', 'print JSON')
    .action(async (name, options) => setExitCode(await (await commands()).stopMembers(name, options, io)));
  const resume = team
    .command('resume')
    .description('resume a team that was interrupted, with all its members')
    .argument('[team]', WHICH)
    .option('--json', 'the same as --output-format json');
  addRunOptions(resume).action(async (name, options) =>
    setExitCode(await (await commands()).resumeTeam(name, options, io)),
  );
}
