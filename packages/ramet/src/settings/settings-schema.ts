/**
 * The check of a settings file and the one source of its JSON Schema (EXT-1). Objects are strict: a key that is
 * not listed here is reported, never taken for another.
 */

import { DEFAULT_ISOLATIONS, DIRTY_POLICIES } from '../git/worktrees/worktree-settings.ts';
import { PROVIDER_KINDS } from '../model/select-provider.ts';
import { SANDBOX_MODES } from '../sandbox/command-sandbox.ts';
import { EFFORTS, EXECUTORS, LAUNCH_MODES, SESSION_MODES } from '../schema/status.ts';
import { MOST_SECONDS } from '../schema/usage.ts';
import * as z from '../schema/zod.ts';
import { background, compaction, described, memory } from './background-schema.ts';
import { POLICY_SCOPES, type Settings } from './settings.ts';

const positive = z.number().check(z.positive());
const seconds = z.number().check(z.positive(), z.maximum(MOST_SECONDS));
const secondsOrNone = z.number().check(z.nonnegative(), z.maximum(MOST_SECONDS));
const wholeNumber = z.int().check(z.positive());
const price = z.optional(z.number().check(z.nonnegative()));
const name = z.string().check(z.regex(/\S/, 'it is empty'));
const variable = z.string().check(z.regex(/^[A-Za-z_]\w*$/, 'it is not the name of a variable'));
const rules = z.optional(z.array(name));

const models = z.strictObject({
  haiku: z.optional(name),
  sonnet: z.optional(name),
  opus: z.optional(name),
  fable: z.optional(name),
});

const permissions = z.strictObject({
  allow: described(rules, 'Rules for what may run without a question.'),
  ask: described(rules, 'Rules for what is asked about; they beat allow.'),
  deny: described(rules, 'Rules for what is refused; they beat ask and allow.'),
  defaultMode: described(z.optional(z.enum(SESSION_MODES)), 'The mode of new sessions.'),
});

const prices = z.strictObject({ input: price, write5m: price, write1h: price, read: price, output: price });

const budget = z.strictObject({
  usd: z.optional(positive),
  tokens: z.optional(wholeNumber),
  seconds: z.optional(seconds),
});

const agents = z.strictObject({
  depth: described(z.optional(wholeNumber), 'How deep agents may nest (3).'),
  concurrent: described(z.optional(wholeNumber), 'How many work at once; more wait their turn (20).'),
  total: described(z.optional(wholeNumber), 'How many agents models may ask for in a session (200).'),
  tokens: described(z.optional(wholeNumber), 'What all agents of a session together may use.'),
  usd: described(z.optional(positive), 'What all agents of a session together may cost.'),
  stallSeconds: described(z.optional(seconds), 'Silence from which on an agent counts as stalled (600).'),
  reportBytes: described(
    z.optional(z.int().check(z.minimum(256))),
    'How much of a report reaches the parent; the rest is kept in a file (8192).',
  ),
  fork: described(z.optional(z.boolean()), 'Whether an agent asked for without a type is a fork (true).'),
  executor: described(
    z.optional(z.enum(EXECUTORS)),
    'The executor for agents whose type sets none: this process, or a separate one (in-process).',
  ),
  team: described(
    z.optional(z.boolean()),
    'Whether new sessions lead a team, with its tools from the start (false).',
  ),
});

const limits = z.strictObject({
  concurrentRequests: described(
    z.optional(wholeNumber),
    'Most requests to models that are under way at once in one session.',
  ),
  waitSeconds: described(
    z.optional(secondsOrNone),
    'How long a run waits for a usage limit to end before it is interrupted; without it, as long as it lasts.',
  ),
  outageSeconds: described(
    z.optional(secondsOrNone),
    'How long a run waits for a provider that is away before it is interrupted (1800; without end in a conversation).',
  ),
  silenceSeconds: described(
    z.optional(seconds),
    'A request without any byte for this long is a dead connection and is sent again (90).',
  ),
  stallSeconds: described(
    z.optional(seconds),
    'A request with signs of life but no content for this long is sent again (600).',
  ),
  heavyCommands: described(
    z.optional(z.int().check(z.minimum(1), z.maximum(1024))),
    'How many builds, test suites and checks run at once on this machine, of all agents together (as many as it has cores).',
  ),
  countAsHeavy: described(
    rules,
    'More commands that count as heavy, by how they begin, such as "bin/verify"; with ! before it, one that does not.',
  ),
});

const sandbox = z.strictObject({
  readOnly: described(
    z.optional(z.enum(SANDBOX_MODES)),
    'Whether commands that were judged to only read run in an OS sandbox: where there is one, never, or not without.',
  ),
  worktree: described(
    z.optional(z.enum(SANDBOX_MODES)),
    'The same for agents in worktrees: their commands can then write nowhere else.',
  ),
  sockets: described(
    z.optional(z.array(z.string().check(z.regex(/^\//, 'it is not an absolute path')))),
    'Sockets of services that commands in worktrees reach although they lead out of the sandbox, such as "/run/docker.sock".',
  ),
});

const retention = z.strictObject({
  days: described(
    z.optional(positive),
    'Sessions not used for this many days are removed while another runs.',
  ),
});

const env = z.strictObject({
  childVariables: described(
    z.optional(z.array(variable)),
    'Variables that programs started by agents get besides the usual ones.',
  ),
});

const paths = z.optional(z.array(name));
const worktree = z.strictObject({
  default: described(
    z.optional(z.enum(DEFAULT_ISOLATIONS)),
    'Which agents get a worktree without asking for one: none, forks, or all that may write (off).',
  ),
  directory: described(z.optional(name), 'Where worktrees are made ($RAMET_HOME/worktrees/<repository>).'),
  dirty: described(
    z.optional(z.enum(DIRTY_POLICIES)),
    'Whether uncommitted work comes along, is left out, or is a reason to refuse (exclude).',
  ),
  base: described(z.optional(name), 'The commit they begin with (where the asking checkout is).'),
  copy: described(paths, 'Patterns of files that git does not know and that are copied.'),
  symlinkDirectories: described(paths, 'Directories of the checkout that are linked while lock files agree.'),
  sparsePaths: described(paths, 'The only folders that are checked out.'),
  dependencies: described(paths, 'Folders of installed packages that come from a template (node_modules).'),
  setup: described(z.optional(name), 'A shell command that makes a new worktree ready for use.'),
  install: described(
    z.optional(z.boolean()),
    'Whether packages of a lock file are installed for a merge check where the checkout has none (true).',
  ),
  precious: described(paths, 'Patterns of ignored files that count as work.'),
  pool: described(
    z.optional(z.int().check(z.minimum(0))),
    'How many clean worktrees are kept ready (as many as the last session used at once, up to 8).',
  ),
  poolMegabytes: described(
    z.optional(z.number().check(z.nonnegative())),
    'How much room clean worktrees may take (4000).',
  ),
});

const merge = z.strictObject({
  check: described(z.optional(name), 'A command that must succeed on the merged files before they land.'),
  checkSeconds: described(z.optional(seconds), 'How long that command may take (1800).'),
  checksAtOnce: described(
    z.optional(z.int().check(z.minimum(1), z.maximum(1024))),
    'How many checks run at once on this machine, of all processes together (as many as it has cores).',
  ),
});

const operate = z.strictObject({
  review: described(
    rules,
    'Agent types that must approve each commit of a task before it is merged; they must only read.',
  ),
  models: described(
    z.optional(
      z.strictObject({
        worker: described(z.optional(name), 'Of agents that do tasks.'),
        reviewer: described(z.optional(name), 'Of agents that review commits.'),
        resolver: described(z.optional(name), 'Of agents that resolve conflicts.'),
        planner: described(z.optional(name), 'Of the agent that writes the tasks of a goal.'),
      }),
    ),
    'Models by role: an id, or haiku, sonnet, opus or fable.',
  ),
});

const scope = z.optional(z.enum(POLICY_SCOPES));
const policy = z.strictObject({
  bypassPermissions: described(z.optional(z.boolean()), 'False: no session runs with permissions bypassed.'),
  models: described(
    z.optional(z.array(name).check(z.minLength(1))),
    'The only models that may be used: ids, tiers, or patterns such as claude-sonnet-*.',
  ),
  hooks: described(scope, 'Whether only hooks of managed settings run.'),
  mcpServers: described(scope, 'Whether only MCP servers of managed settings are used.'),
  plugins: described(scope, 'Whether only plugins of managed settings are used.'),
  allowRules: described(scope, 'Whether only managed settings may allow what would be asked about.'),
});

const statusLine = z.strictObject({
  type: described(z.optional(z.enum(['command'])), 'The only kind there is.'),
  command: described(
    z.optional(name),
    'A shell command. It reads JSON about the session and prints the line.',
  ),
  padding: described(
    z.optional(z.int().check(z.nonnegative(), z.maximum(20))),
    'How many blanks stand before it (0).',
  ),
});

const mcp = z.strictObject({
  startSeconds: described(z.optional(seconds), 'How long a server may take to start (30).'),
  callSeconds: described(z.optional(seconds), 'How long a call may take without a sign of life (300).'),
});

export const settingsSchema: z.ZodMiniType<Settings> = z.strictObject({
  $schema: described(z.optional(z.string()), 'Where this schema is, for editors.'),
  model: described(z.optional(name), 'The model of new sessions: an id, or haiku, sonnet, opus or fable.'),
  fallbackModel: described(z.optional(name), 'Takes over when the model stays unavailable.'),
  effort: described(z.optional(z.enum(EFFORTS)), 'How hard the main agent of new sessions thinks.'),
  thinking: described(
    z.optional(z.int().check(z.minimum(1024))),
    'The same as a number of tokens; it comes before effort.',
  ),
  provider: described(z.optional(z.enum(PROVIDER_KINDS)), 'Who serves the models.'),
  models: described(z.optional(models), 'The model ids that the three tiers stand for.'),
  permissions: described(z.optional(permissions), 'What tools may do.'),
  prices: described(
    z.optional(z.record(name, prices)),
    'US dollars per million tokens, by model id; they come before the built-in table.',
  ),
  budget: described(z.optional(budget), 'What one run may spend.'),
  maxTurns: described(z.optional(wholeNumber), 'Most responses of a run before one closing turn.'),
  agents: described(z.optional(agents), 'Agents that other agents ask for.'),
  launch: described(z.optional(z.enum(LAUNCH_MODES)), 'Whether children start together or behind a lead.'),
  limits: described(z.optional(limits), 'How much may happen at once.'),
  sandbox: described(z.optional(sandbox), 'Where commands run.'),
  compaction: described(z.optional(compaction), 'When a long conversation is summarised.'),
  memory: described(z.optional(memory), 'What sessions remember.'),
  background: described(z.optional(background), 'What agents do between prompts without being asked.'),
  env: described(z.optional(env), 'The environment of programs that agents start.'),
  retries: described(z.optional(z.int().check(z.minimum(0))), 'How often a failed request is tried again.'),
  worktree: described(z.optional(worktree), 'Directories of their own for agents.'),
  cleanupPeriodDays: described(
    z.optional(positive),
    'Days after which an unused worktree without changes is removed (30).',
  ),
  retention: described(z.optional(retention), 'What is removed by itself: nothing, unless it is set.'),
  merge: described(z.optional(merge), 'What ramet merge does.'),
  operate: described(z.optional(operate), 'What ramet operate does.'),
  plugins: described(paths, 'Folders of plugins; a relative path begins at the root of the repository.'),
  policy: described(
    z.optional(policy),
    'What holds for everybody on this machine; in managed settings only.',
  ),
  hooks: described(
    z.optional(z.record(name, z.array(z.unknown()))),
    'Commands that run at events, in the form that Claude Code reads.',
  ),
  statusLine: described(z.optional(statusLine), 'The line below the input of an interactive session.'),
  mcpServers: described(
    z.optional(z.record(name, z.record(z.string(), z.unknown()))),
    'MCP servers by name, written as in .mcp.json.',
  ),
  mcp: described(z.optional(mcp), 'How long MCP servers may take.'),
});

/** The JSON Schema as text: `ramet settings --schema` prints it, docs/settings.schema.json is it. */
export function settingsJsonSchema(): string {
  const schema = z.toJSONSchema(settingsSchema, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const { $schema, ...rest } = schema;
  const titled = { $schema, title: 'Settings of Ramet', allowTrailingCommas: true, ...rest };
  return `${JSON.stringify(titled, null, 2)}\n`;
}
