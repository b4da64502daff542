/** The tool a rule is about: a name, a server of tools, or, where it only takes rights away, a pattern. */
import type { ParsedPart, RuleContext, RuleList } from './rule-context.ts';

export interface ToolNamePattern {
  /** The name as written: `Bash`, `mcp__github`, `mcp__github__get_*`. */
  name: string;
  matches(tool: string): boolean;
}

/** Also tools that come with later versions: a rule may be written before its tool exists. */
const TOOLS = [
  'Agent',
  'Bash',
  'Edit',
  'EnterWorktree',
  'ExitWorktree',
  'Glob',
  'Grep',
  'McpSearch',
  'Read',
  'SendMessage',
  'Skill',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskOutput',
  'TaskStop',
  'TaskUpdate',
  'TodoWrite',
  'WebFetch',
  'WebSearch',
  'Write',
  'get_current_state',
  'take_action',
] as const;

/** The fixed tool through which tools of MCP servers are called: a rule that takes it away takes all of them away. */
const SERVER_CALL = 'McpCall';

export function parseToolName(
  name: string,
  { list, tools = [] }: Pick<RuleContext, 'list' | 'tools'>,
): ParsedPart<ToolNamePattern> {
  const known: readonly string[] = [...TOOLS, ...tools];
  if (name.startsWith('mcp__')) return parseServerTool(name, list);
  if (name.includes('*')) {
    if (list !== 'allow') return { ok: true, value: wildcard(name) };
    return bad(`would allow more than it names: in allow rules * may stand only after mcp__server__`);
  }
  if (name === SERVER_CALL) {
    if (list !== 'allow') return { ok: true, value: wildcard('mcp__*', name) };
    return bad(
      'can never match: calls of MCP servers are judged by the names of their tools; write mcp__server',
    );
  }
  if (known.includes(name)) {
    return { ok: true, value: { name, matches: (tool) => tool === name } };
  }
  const meant = known.find((tool) => tool.toLowerCase() === name.toLowerCase());
  const hint =
    meant === undefined ? `the tools are ${known.join(', ')} and mcp__server__tool` : `write ${meant}`;
  return bad(`can never match: there is no tool ${name}; ${hint}`);
}

function parseServerTool(name: string, list: RuleList): ParsedPart<ToolNamePattern> {
  const [, server = '', tool] = /^mcp__(.*?)(?:__(.*))?$/.exec(name) ?? [];
  if (server === '' || tool === '') return bad('cannot be read: write mcp__server or mcp__server__tool');
  if (server.includes('*') && list === 'allow') {
    return bad('would allow servers it does not name: write mcp__server__* for all tools of one server');
  }
  return { ok: true, value: wildcard(tool === undefined ? `${name}__*` : name, name) };
}

function wildcard(pattern: string, name = pattern): ToolNamePattern {
  const source = pattern.split('*').map(RegExp.escape).join('.*');
  const expression = new RegExp(`^${source}$`, 's');
  return { name, matches: (tool) => expression.test(tool) };
}

function bad(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}
