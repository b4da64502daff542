/** The grammar of `ramet sessions`. */
import { type Command, Option } from 'commander';
import type { CommandIo } from './io.ts';
import { wholeNumber } from './run-options.ts';

const SESSION = 'a session id or the beginning of one';

export function addSessions(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const load = (): Promise<typeof import('./commands/sessions.ts')> => import('./commands/sessions.ts');
  const sessions = program
    .command('sessions')
    .description('list, rename, remove or export the sessions of this repository');
  sessions
    .command('ls', { isDefault: true })
    .description('list sessions, newest first: time, branch, cost, status, title')
    .option('-n, --limit <number>', 'how many sessions', wholeNumber, 20)
    .option('--json', 'print JSON')
    .action(async (options) => (await load()).listed(options, io));
  sessions
    .command('rename')
    .description('give a session another title')
    .argument('<session>', SESSION)
    .argument('<title...>', 'the new title')
    .action(async (session, title) => (await load()).renamed(session, title, io));
  sessions
    .command('rm')
    .description('remove sessions for good: conversation, bill and what undo needs')
    .argument('<sessions...>', SESSION)
    .option('--force', 'also remove sessions that were interrupted and could be resumed')
    .action(async (names, options) => setExitCode((await load()).removed(names, options, io)));
  sessions
    .command('export')
    .description('print a session as a Markdown page or as JSON')
    .argument('[session]', `${SESSION} (default: the latest)`)
    .addOption(
      new Option('--format <format>', 'what to write').choices(['markdown', 'json']).default('markdown'),
    )
    .option('-o, --output <file>', 'write it to a new file')
    .option('--force', 'overwrite the file')
    .action(async (session, options) => (await load()).exported(session, options, io));
}
