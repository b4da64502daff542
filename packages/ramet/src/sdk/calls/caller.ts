/** Where a call of the library looks, and who hears what happens meanwhile. */
export interface CallOptions {
  /** The directory of the process when absent. */
  cwd?: string;
  /** The environment of the process when absent. */
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** What a person should know besides the result, one line each. */
  note?(line: string): void;
  /** What is happening now. */
  progress?(line: string): void;
}

export type Caller = Required<CallOptions>;

export function callerOf(options: CallOptions): Caller {
  return {
    cwd: options.cwd ?? process.cwd(),
    env: options.env ?? process.env,
    signal: options.signal ?? new AbortController().signal,
    note: (line) => options.note?.(line),
    progress: (line) => options.progress?.(line),
  };
}
