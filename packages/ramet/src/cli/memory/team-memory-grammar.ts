/** The grammar of `ramet memory sync`, `serve` and `token`: memory that a team shares. */
import type { Command } from 'commander';
import type { CommandIo } from '../io.ts';
import { portNumber, wholeNumber } from '../run-options.ts';

const DATA = [
  '--data <directory>',
  "where the server keeps its file (default: memory-server in Ramet's home)",
] as const;

export function addTeamMemory(memory: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const commands = (): Promise<typeof import('./team-memory.ts')> => import('./team-memory.ts');
  memory
    .command('sync')
    .description(
      'bring a folder and the memory of a team to the same state; exit with 1 if something was left out',
    )
    .argument('[folder]', 'the folder (default: the team memory of this repository)')
    .option('--server <url>', 'address of the server (default: RAMET_MEMORY_SERVER)')
    .option('--token-file <file>', 'file with the token (default: RAMET_MEMORY_TOKEN has it)')
    .option('--any-folder', 'also a folder that has more than notes, such as the root of a repository')
    .option('--json', 'print JSON')
    .action(async (folder, options) => setExitCode(await (await commands()).sync(folder, options, io)));
  memory
    .command('serve')
    .description('serve memory of teams over HTTP until it is stopped; TLS is left to a proxy')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <number>', 'port to listen on; 0 takes a free one (default: 4747)', freeOrPort)
    .option(...DATA)
    .option('--max-value-kb <number>', 'largest value (default: 256)', wholeNumber)
    .option('--max-team-mb <number>', 'all values of a team (default: 64)', wholeNumber)
    .option('--max-keys <number>', 'keys of a team (default: 10000)', wholeNumber)
    .option('--rate <number>', 'requests a second with one token (default: 100)', wholeNumber)
    .action(async (options) => (await commands()).serve(options, io));
  const token = memory
    .command('token')
    .description('make, list and revoke the tokens of teams, on the machine of the server');
  token
    .command('new')
    .description('make a token for a team and print it, once')
    .argument('<team>', 'name of the team; it is made with its first token')
    .option('--note <text>', 'what it is for')
    .option(...DATA)
    .option('--json', 'print JSON')
    .action(async (team, options) => (await commands()).newToken(team, options, io));
  token
    .command('ls', { isDefault: true })
    .description('list tokens: id, team, note; never the token itself')
    .option(...DATA)
    .option('--json', 'print JSON')
    .action(async (options) => (await commands()).listTokens(options, io));
  token
    .command('revoke')
    .description('make a token count no longer, from the next request on')
    .argument('<id>', 'its id, as ls shows it')
    .option(...DATA)
    .option('--json', 'print JSON')
    .action(async (id, options) => (await commands()).revokeToken(id, options, io));
}

function freeOrPort(text: string): number {
  return text === '0' ? 0 : portNumber(text);
}
