/** The grammar of `ramet team`. */
import type { Command } from 'commander';
import type { CommandIo } from '../io.ts';

const WHICH = 'its name or session (default: the only one)';

export function addTeam(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const team = program
    .command('team')
    .description('teams of this repository: members, messages and tasks; ramet --team NAME begins one');
  const commands = (): Promise<typeof import('./team.ts')> => import('./team.ts');
  team
    .command('ls', { isDefault: true })
    .description('list the teams of this repository')
    .option('--json', 'print JSON')
    .action(async (options) => (await commands()).listAll(options, io));
  team
    .command('show')
    .description('show the members of a team, what each does, and its tasks')
    .argument('[team]', WHICH)
    .option('--json', 'print JSON')
    .action(async (name, options) => (await commands()).showOne(name, options, io));
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
    .command('stop')
    .description('end a team: its members are asked, and ended within 30 seconds; then its lead')
    .argument('[team]', WHICH)
    .option('--member <name>', 'only this member; the others and the lead continue')
    .option('--json', 'print JSON')
    .action(async (name, options) => setExitCode(await (await commands()).stopMembers(name, options, io)));
  team
    .command('resume')
    .description('resume a team that was interrupted, with all its members')
    .argument('[team]', WHICH)
    .option('--json', 'print the result as JSON')
    .action(async (name, options) => setExitCode(await (await commands()).resumeTeam(name, options, io)));
}
