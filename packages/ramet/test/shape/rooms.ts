/**
 * The rooms as a table: every folder of `src/`, from the ground up. A room imports only rooms that are earlier in this list, and
 * only through their doors. A room that does not exist yet is not in it. docs/decisions/001-rooms-and-arrows.md says why; docs/architecture.md prints it.
 */
export interface Room {
  name: string;
  owns: string;
  /** What a reader might look for here and finds elsewhere. */
  leaves: string;
}

export const ROOMS: readonly Room[] = [
  {
    name: 'schema',
    owns: 'ids, content blocks, events, errors: shapes only, fit for a browser',
    leaves: 'any input or output',
  },
  {
    name: 'system',
    owns: 'what every room needs from the machine: home directory, paths, files, processes, SQLite, digests, text',
    leaves: 'what the files contain',
  },
  {
    name: 'journal',
    owns: 'the SQLite log of a session and its projections',
    leaves: 'decisions',
  },
  {
    name: 'model',
    owns: 'providers, streaming, retries, prices, the cache map, the recipe model',
    leaves: 'conversations',
  },
  {
    name: 'emulator',
    owns: 'the server that speaks the Messages API, published as `ramet/emulator`',
    leaves: 'agents',
  },
  {
    name: 'conversation',
    owns: 'frozen blocks, the chain of digests, fork messages, breakpoints, request bytes, what a compaction keeps',
    leaves: 'when to fork, calling a model',
  },
  {
    name: 'files',
    owns: 'file versions, who changed which file, undo',
    leaves: 'git',
  },
  {
    name: 'sandbox',
    owns: 'where an agent may write; bubblewrap: what a command can see, write and reach',
    leaves: 'whether a command may run',
  },
  {
    name: 'git',
    owns: 'running git, the repository, worktrees of agents, merges, provenance, the checkout that agents share',
    leaves: 'agents',
  },
  { name: 'permission', owns: 'modes, and whether a tool may run under them', leaves: 'asking a person' },
  {
    name: 'settings',
    owns: 'the three settings files merged, every value with its origin; the settings of other tools',
    leaves: 'what the values do',
  },
  {
    name: 'extensions',
    owns: 'hooks, MCP servers, skills, commands, plugins: found, read and run',
    leaves: 'when they are used, and what an agent makes of them',
  },
  {
    name: 'tools',
    owns: 'the tools, a file for each or for a few that belong together; the registry',
    leaves: 'the engine: a tool asks its context',
  },
  {
    name: 'agents',
    owns: 'prompts and agent types: system prompts, the first message, project instructions',
    leaves: 'running agents',
  },
  {
    name: 'team',
    owns: 'the record of teams: roster, mailboxes, task list, claims; wake-ups between processes',
    leaves: 'running members, texts for models',
  },
  {
    name: 'memory',
    owns: 'memory files and their sources, the secret guard, the server of team memory and the sync with it',
    leaves: 'running agents, when memory is read or written',
  },
  {
    name: 'engine',
    owns: 'the turn loop, tool calls, budgets, fallback, compaction, resume; forks, launches and the life of children',
    leaves: 'how an agent is hosted, how a session is opened',
  },
  {
    name: 'executors',
    owns: 'where an agent runs: in this process, or in a separate one',
    leaves: 'what the agent does',
  },
  {
    name: 'operator',
    owns: 'task files in every format; the state of a run and every decision about it; what a run would take',
    leaves: 'agents, git and clocks: they are ports',
  },
  {
    name: 'views',
    owns: 'what people read about sessions: session view, bill, timeline, cache explain, provenance, worktrees, and the format of figures',
    leaves: 'finding the session, printing',
  },
  {
    name: 'sdk',
    owns: 'everything the command can do, callable; `openSession` wires the rooms together',
    leaves: 'arguments, printing',
  },
  { name: 'cli', owns: 'the command: one file per command, output formats, signals', leaves: 'logic' },
  { name: 'testing', owns: 'published test doubles', leaves: 'tests themselves' },
];

/** Whether a file of `from` may import one of `to`. Unknown rooms may do nothing. */
export function mayImport(from: string, to: string): boolean {
  const imported = ROOMS.findIndex((room) => room.name === to);
  const importing = ROOMS.findIndex((room) => room.name === from);
  return imported !== -1 && importing !== -1 && imported <= importing;
}

/**
 * The doors of each room: the files that other rooms import, from the room on and without `.ts`. A new door is a decision;
 * look first whether one that is there can offer what is missing.
 */
const DOORS: Readonly<Record<string, string>> = {
  schema: `
    agent-events clock content errors events generators ids local-time operator-events secret-patterns
    status team tool-access until-text usage zod
  `,
  system: `
    check-slots child-environment current-agent digest disk-trouble few-at-once give-way glob-pattern home landing-path on-abort opened-input
    persistent processes/marked-processes processes/process-group processes/process-identity
    processes/process-register processes/process-table processes/starter regular-file replace-file replace-whole sqlite/database sqlite/memory-copy stored-logins
    sqlite/shared-database sqlite/sqlite-failure text/close-names text/line-diff text/text-file text/visible-text former-trust trust
  `,
  journal: `
    event-places find-file-writer integrity journal missing-files projections/agent-state projections/apply-event
    projections/coordination projections/cut-off-agents projections/file-history projections/inherited-messages projections/member-states
    projections/recorded-agents projections/replaced-state projections/status projections/work-left rename-session repair-session session-file
    session-index session-list sessions
  `,
  model: `
    cache/cache-map catalog connection-watch http-post image-type prices provider rate/endpoint-health
    rate/machine-rates rate/rate-bucket rate/rate-outage rate/rate-window rate/retry
    recipe/conversation-task recipe/fenced-blocks recipe/recipe recipe/recipe-answer select-provider
    thinking
  `,
  emulator: 'emulate server',
  conversation: 'compacted conversation divergence frozen-block quoted-text request',
  files: `
    create-file-access file-access file-ledger file-readers original-files shared-writes stale-file
    undo
  `,
  sandbox: 'bubblewrap command-sandbox isolated-shell write-fence',
  git: `
    folder-guard git-state left-work managed-worktrees merges provenance provenance/trailers
    repository repository-lock run-git shapes shared-git/git-words shared-git/lazy-checkouts worktrees/registry
    worktrees/changes/add-all worktrees/workspace/agent-workspace worktrees/workspace/worktree-workspaces
    worktrees/worktree-settings
  `,
  permission: `
    asking-once assess-write assessment broker call-summary decide grammar-memory inherited-path policy rule
    shell/edited-files shell/fence/fence-command shell/heavy-command shell/loose-script shell/loose-word shell/script-words tool-limits
  `,
  settings: `
    allow-in-file other-tools/other-tools other-tools/read-other-tools positioned-json read-settings setting-value settings
    settings-notices settings-schema
  `,
  extensions: `
    mcp/configured-servers mcp/edit-servers mcp/find-tools mcp/known-tools mcp/login mcp/pool mcp/result-content mcp/server-config
    mcp/rule-names mcp/server-failure mcp/server-prompt mcp/server-rights mcp/server-set mcp/tool-names
    extension-places folder-scan front-matter/field-problem front-matter/front-matter front-matter/plain-fields front-matter/yaml-fields
    hooks/hook-config hooks/hook-event hooks/hook-runner trust/collect-parts trust/commands-in trust/folder-part trust/folder-programs trust/folder-trust trust/limits trust/run-check
    plugins/read-plugin prompts/expand-prompt prompts/prompt-file prompts/prompt-store prompts/skill-list
  `,
  tools: `
    agent agent-desk coordination files/replace-text redaction/fingerprint-redactor redaction/redact registry root-view
    mcp/mcp-tools shell/background-tasks shell/output-file team-tasks tool web-search
  `,
  agents: `
    definitions/declared-fields definitions/definition definitions/definition-file definitions/definition-catalog definitions/definition-store
    definitions/validate-definitions prompts/built-in prompts/coordinator prompts/first-message
    prompts/main-prompt prompts/teammate
  `,
  team: 'store/team-store wake-line',
  memory: `
    dream/dream-record dream/judge-drops dream/run-dream extraction/found-lines extraction/keep-aside extraction/noted-prompts extraction/session-notes
    files/memory-history files/memory-places files/memory-prompt files/memory-store files/merged-texts files/refuse-forged-notes
    secrets/secret-guard server/key-store server/memory-server server/team-tokens sync/sync-folder
  `,
  engine: `
    agent/agent agent/agent-limits agent/executor agent/notices answer/answer-schema budget/budget
    budget/fork-cost host-duties later loop/loop loop/run-state opening resume/resume-agents shapes
  `,
  executors: 'in-process process/process-executor',
  operator: `
    plan/estimate plan/fold-history plan/predict plan/run-history plan/statistics run/actions run/apply-operator-event
    run/decisions run/isolation run/operate-command run/operator run/operator-state run/ports run/task-actors schedule/fan-in schedule/task-graph tasks/listed-task tasks/mark-task
    tasks/read-task-list tasks/task-settings
  `,
  views: `
    agent-label agent-record agent-table asked-change cache/cache-explainer cache/explanation-text cache/sent-requests
    exchanges interrupted-text json-spelling memory-text
    ledger/cost-object ledger/cost-table ledger/ledger ledger/team-cost merge-text operator/markdown operator/progress-lines operator/run-object
    operator/run-progress operator/run-report operator/run-summary operator/run-table operator/task-rows
    proposed-tasks provenance/agent-diff provenance/blame
    refused-removal repair-text run-notes run-statistics session-markdown session-rows session-target session-view session-watch task-list task-plan team-text text/format text/narrow-table timeline transcript type-list
    undo-text worktree-view
  `,
  sdk: `
    agent-types/agent-types agent-types/child-view calls/allow-rules calls/caller calls/calling-agent calls/check-types calls/explain-cache calls/known-names
    calls/project-files calls/prompt-history calls/provenance calls/session-defaults calls/sessions calls/settings-report calls/status calls/status-command calls/stop calls/teams calls/trust calls/undo
    compile-cache doctor/doctor doctor/health-check extensions/list-prompts index mcp/known-offers memory/dream-memory memory/memory-calls memory/sync-memory memory/team-memory mcp/manage-servers mcp/serve-agents merge/merge operator/control/ask-operator operator/control/follow-run operator/planning/lint-tasks
    operator/control/new-tasks operator/operate operator/operate-order operator/planning/plan-tasks operator/planning/propose-tasks
    operator/planning/run-statistics operator/write-report options place retention/gc
    retention/holding session/event-bus session/session session/session-type version worktrees/worktrees
  `,
};

export function doorsOf(room: string): string[] {
  return (DOORS[room] ?? '').split(/\s+/).filter((name) => name !== '');
}
