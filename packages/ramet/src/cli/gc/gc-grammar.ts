import { type Command, InvalidArgumentError } from 'commander';
import type { CommandIo } from '../io.ts';

export function addGc(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('gc')
    .description('list what sessions, outputs, logs and worktrees take here, and remove what is old')
    .option('--older-than <days>', 'remove what was not used for so many days (default: 30)', days)
    .option('--interrupted', 'also sessions that were interrupted and could be resumed')
    .option('--work', 'also work of agents that nothing else has: wip refs, folders of removed worktrees')
    .option('--dry-run', 'only list')
    .option('-y, --yes', 'remove without asking')
    .option('--json', 'as JSON')
    .action(async (options) => setExitCode(await (await import('../commands/gc.ts')).gc(options, io)));
}

function days(text: string): number {
  const value = Number(text.replace(/d(ays)?$/, ''));
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('It must be a number of days, 0 or more.');
}
