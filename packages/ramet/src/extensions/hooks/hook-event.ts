/** The events that hooks can be set up for. A new one takes a row here and a call of `HookRunner.run`. */

export interface HookEventKind {
  /** The field of the input that matchers are compared with; null: every hook of the event runs. */
  readonly matches: string | null;
  /**
   * What exit code 2 does: refuses the call, blocks what was about to happen, tells the model, or only tells the user.
   */
  readonly refusal: 'deny' | 'block' | 'tell' | 'none';
  /** Only `continue: false` keeps it from happening. */
  readonly halts?: true;
  /** It decides whether a call may run. */
  readonly guards?: true;
  /** A hook that fails blocks too: what it prepares is not ready. */
  readonly failureBlocks?: true;
  /** Plain output is told to the model. */
  readonly takesText?: true;
  /** Settings of its git. */
  readonly git?: Readonly<Record<string, string>>;
  /** How long a hook may take if its configuration sets no limit. */
  readonly seconds: number;
}

export type HookEventName =
  | 'SessionStart'
  | 'SessionEnd'
  | 'UserPromptSubmit'
  | 'UserPromptExpansion'
  | 'PreToolUse'
  | 'PermissionRequest'
  | 'PermissionDenied'
  | 'PostToolUse'
  | 'PostToolUseFailure'
  | 'PostToolBatch'
  | 'SubagentStart'
  | 'SubagentStop'
  | 'Stop'
  | 'StopFailure'
  | 'PreCompact'
  | 'PostCompact'
  | 'Notification'
  | 'Elicitation'
  | 'ElicitationResult'
  | 'CwdChanged'
  | 'WorktreeCreate'
  | 'WorktreeRemove'
  | 'TeammateIdle'
  | 'TaskCreated'
  | 'TaskCompleted'
  | 'MemoryWritten';

const LONG = 600;

const EVENTS: Readonly<Record<HookEventName, HookEventKind>> = {
  SessionStart: { matches: 'source', refusal: 'none', halts: true, takesText: true, seconds: LONG },
  /** The user waits for the end of the command. */
  SessionEnd: { matches: 'reason', refusal: 'none', seconds: 1.5 },
  UserPromptSubmit: { matches: null, refusal: 'block', takesText: true, seconds: 30 },
  UserPromptExpansion: { matches: 'command_name', refusal: 'block', seconds: LONG },
  PreToolUse: { matches: 'tool_name', refusal: 'deny', guards: true, seconds: LONG },
  PermissionRequest: { matches: 'tool_name', refusal: 'deny', guards: true, seconds: LONG },
  PermissionDenied: { matches: 'tool_name', refusal: 'none', seconds: LONG },
  PostToolUse: { matches: 'tool_name', refusal: 'tell', seconds: LONG },
  PostToolUseFailure: { matches: 'tool_name', refusal: 'tell', seconds: LONG },
  PostToolBatch: { matches: null, refusal: 'block', seconds: LONG },
  SubagentStart: { matches: 'agent_type', refusal: 'none', halts: true, seconds: LONG },
  SubagentStop: { matches: 'agent_type', refusal: 'block', seconds: LONG },
  Stop: { matches: null, refusal: 'block', seconds: LONG },
  StopFailure: { matches: 'error', refusal: 'none', seconds: LONG },
  PreCompact: { matches: 'trigger', refusal: 'block', seconds: LONG },
  PostCompact: { matches: 'trigger', refusal: 'none', seconds: LONG },
  Notification: { matches: 'notification_type', refusal: 'none', seconds: LONG },
  Elicitation: { matches: 'mcp_server_name', refusal: 'block', seconds: LONG },
  ElicitationResult: { matches: 'mcp_server_name', refusal: 'block', seconds: LONG },
  CwdChanged: { matches: null, refusal: 'none', seconds: LONG },
  WorktreeCreate: {
    ...{ matches: null, refusal: 'block', failureBlocks: true, seconds: LONG },
    // Several run at once: `git worktree add -b x origin/main` notes its upstream, and fails where another git has the lock for that.
    git: { 'branch.autoSetupMerge': 'false' },
  },
  WorktreeRemove: { matches: null, refusal: 'none', seconds: 60 },
  TeammateIdle: { matches: null, refusal: 'block', seconds: LONG },
  TaskCreated: { matches: null, refusal: 'block', seconds: LONG },
  TaskCompleted: { matches: null, refusal: 'block', seconds: LONG },
  MemoryWritten: { matches: 'scope', refusal: 'none', seconds: LONG },
};

// The table names each event once.
export const HOOK_EVENTS = Object.keys(EVENTS) as readonly HookEventName[];

export function isHookEvent(name: string): name is HookEventName {
  return Object.hasOwn(EVENTS, name);
}

export function hookEventKind(name: HookEventName): HookEventKind {
  return EVENTS[name];
}
