/** The grammar of `ramet agents` and what stands below it. */
import type { Command } from 'commander';
import type { CommandIo } from './io.ts';

export function addAgents(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const agents = program
    .command('agents')
    .description('list agent types: where each comes from, what shadows what, what is wrong with files')
    .option('--json', 'as JSON')
    .action(async (options) => (await import('./commands/agents.ts')).agents(options, io));
  agents
    .command('validate')
    .description('check definition files; exits with 1 when one cannot be used')
    .argument('[path...]', 'files and folders, wherever they are; those of this place when absent')
    .option('--json', 'as JSON')
    .action(async (paths, options) => {
      const { validateAgents } = await import('./commands/agents.ts');
      setExitCode(await validateAgents(paths, options, io));
    });
  agents
    .command('show')
    .description('show what a child of this type will see: prompt, tools, model, what it is told')
    .argument('<type>', 'its name')
    .option('--json', 'as JSON')
    .action(async (name, options) => (await import('./commands/agents.ts')).showAgentType(name, options, io));
}
