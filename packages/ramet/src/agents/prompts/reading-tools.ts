/** The tools of agents that change nothing (TYPE-2): one list, so that their prompts begin with the same bytes. */
export const READING_TOOLS: readonly string[] = ['Read', 'Glob', 'Grep', 'Bash', 'WebFetch'];

/** The engine refuses writes in any case; saying so saves turns. */
export const READING_ONLY: string =
  '- Your tools are Read, Glob, Grep, WebFetch and Bash. Bash runs commands that only read, such as ls, git log, git show, git blame, wc, sort or jq. Commands that write, install, start or send something are refused, so do not try them.';
