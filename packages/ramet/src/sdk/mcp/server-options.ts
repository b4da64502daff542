/** MCP servers as a program gives them. */

/** By name: a program of this machine, or an address. */
export type McpServerOptions = Readonly<Record<string, McpServerOption>>;

export type McpServerOption =
  | {
      type?: 'stdio';
      command: string;
      args?: readonly string[];
      env?: Readonly<Record<string, string>>;
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
