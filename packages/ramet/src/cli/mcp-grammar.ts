/** The grammar of `ramet mcp`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandIo } from './io.ts';

const SCOPES = ['user', 'project', 'local'];
const SCOPE_TEXT = 'where it is written down: for you everywhere, for this repository, or for you here';

export function addMcp(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const mcp = program.command('mcp').description('MCP servers: list, add, remove and try them, or be one');
  mcp
    .command('ls', { isDefault: true })
    .description('list the servers that are set up here, where each is from, and what is wrong with it')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./commands/mcp.ts')).listMcp(options, io));
  mcp
    .command('add')
    .description('add a server: a program after --, or an address')
    .argument('<name>', 'what to call it')
    .argument('<target...>', 'the program and its arguments, or an http address')
    .addOption(new Option('--scope <scope>', SCOPE_TEXT).choices(SCOPES).default('local'))
    .addOption(
      new Option('--transport <kind>', 'how it is reached (default: http for an address)').choices([
        'stdio',
        'http',
        'sse',
      ]),
    )
    .option('--env <name=value>', 'a variable for the program; it may be given again', pairs('='))
    .option('--header <name: value>', 'a header for the address; it may be given again', pairs(':'))
    .option('--force', 'replace a server of that name')
    .option('--json', 'print JSON')
    .action(async (name, target, options) =>
      (await import('./commands/mcp.ts')).addMcpServer(name, target, options, io),
    );
  mcp
    .command('rm')
    .description('remove a server that was added')
    .argument('<name>', 'its name')
    .addOption(new Option('--scope <scope>', 'only where it is written down there').choices(SCOPES))
    .option('--json', 'print JSON')
    .action(async (name, options) => (await import('./commands/mcp.ts')).removeMcpServer(name, options, io));
  mcp
    .command('test')
    .description('start servers, list their tools and say how long it took; exit with 1 if one does not work')
    .argument('[name...]', 'their names (default: all)')
    .option('--json', 'print JSON')
    .action(async (names, options) =>
      setExitCode(await (await import('./commands/mcp.ts')).testMcp(names, options, io)),
    );
  mcp
    .command('login')
    .description('log in to a server over HTTP with a browser')
    .argument('<name>', 'its name')
    .action(async (name) => (await import('./commands/mcp.ts')).logInToMcp(name, io));
  mcp
    .command('serve')
    .description(
      'be an MCP server on standard input and output: run agents and task files for other programs',
    )
    .addOption(
      new Option('--permission-mode <mode>', 'what its agents may do (default: as in settings)').choices([
        'default',
        'acceptEdits',
        'plan',
        'dontAsk',
        'bypassPermissions',
      ]),
    )
    .action(async (options) => (await import('./commands/mcp.ts')).serveMcp(options, io));
}

function pairs(separator: string): (text: string, before?: Record<string, string>) => Record<string, string> {
  return (text, before = {}) => {
    const at = text.indexOf(separator);
    if (at < 1)
      throw new InvalidArgumentError(`Write it as name${separator}${separator === ':' ? ' ' : ''}value.`);
    return { ...before, [text.slice(0, at).trim()]: text.slice(at + 1).trim() };
  };
}
