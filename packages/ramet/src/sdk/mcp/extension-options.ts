/** MCP servers and hooks as a program gives them. */
import type { HookFunction } from '../../extensions/hooks/hook-config.ts';
import type { HookEventName } from '../../extensions/hooks/hook-event.ts';

/** By name: a program of this machine, or an address. */
export type McpServerOptions = Readonly<Record<string, McpServerOption>>;

export type McpServerOption =
  | {
      type?: 'stdio';
      command: string;
      args?: readonly string[];
      env?: Readonly<Record<string, string>>;
      /** Where it runs; a relative one begins at the session's directory, which it is when absent. */
      cwd?: string;
      timeout?: number;
      startTimeout?: number;
    }
  | {
      type?: 'http' | 'sse';
      url: string;
      headers?: Readonly<Record<string, string>>;
      timeout?: number;
      startTimeout?: number;
    };

/** By event, as in settings; a hook may also be a function. */
export type SessionHookOptions = Partial<Record<HookEventName, readonly HookGroup[]>>;

export interface HookGroup {
  /** Names, a regular expression, or nothing for all. */
  matcher?: string;
  /** In seconds, of functions. */
  timeout?: number;
  hooks: readonly (
    | HookFunction
    | {
        type: 'command';
        command: string;
        args?: readonly string[];
        timeout?: number;
        async?: boolean;
        /** A permission rule: it runs only for calls that the rule is about. */
        if?: string;
      }
  )[];
}
