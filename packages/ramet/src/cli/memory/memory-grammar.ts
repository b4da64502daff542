/** The grammar of `ramet memory`. */
import type { Command } from 'commander';
import type { CommandIo } from '../io.ts';
import { addTeamMemory } from './team-memory-grammar.ts';

const WHICH = 'a scope (project, local, user) or a file as show lists it';

export function addMemory(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const memory = program
    .command('memory')
    .description(
      'what sessions remember: show it, edit it, ask where a line came from, undo; share it with a team',
    );
  const commands = (): Promise<typeof import('./memory.ts')> => import('./memory.ts');
  memory
    .command('show', { isDefault: true })
    .description('show what is remembered here, as agents read it')
    .argument('[which]', `${WHICH} (default: all)`)
    .option('--changes', 'list who changed it, the newest first')
    .option('--json', 'print JSON')
    .action(async (which, options) => (await commands()).show(which, options, io));
  memory
    .command('edit')
    .description('edit memory in your editor, or add a note to it')
    .argument('[which]', WHICH, 'project')
    .option('--add <note>', 'add this note instead of opening an editor')
    .option('--json', 'print JSON')
    .action(async (which, options) => (await commands()).edit(which, options, io));
  memory
    .command('why')
    .description('say where a line came from: session, agent and turn')
    .argument('<line...>', 'a part of its text, or FILE:LINE')
    .option('--json', 'print JSON')
    .action(async (words, options) => (await commands()).why(words, options, io));
  memory
    .command('undo')
    .description('take a change of memory back; what was edited since stays')
    .argument('[change]', 'a change such as p12 (default: the last one)')
    .option('--json', 'print JSON')
    .action(async (change, options) => (await commands()).undo(change, options, io));
  memory
    .command('dream')
    .description(
      'tidy up the memory of this repository if it is time: merge, resolve, drop what is disproved',
    )
    .option('--now', 'also before its time')
    .option('--model <name>', 'model id or tier (default: as sessions have it)')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./dream.ts')).dream(options, io));
  addTeamMemory(memory, io, setExitCode);
}
