/** What agents that change nothing have in common (TYPE-2): one list, so their prompts begin with the same bytes. */
export const READING_TOOLS: readonly string[] = ['Read', 'Glob', 'Grep', 'Bash', 'WebFetch'];

/** What they are told of it. That they cannot write is the engine's doing; that they do not try saves turns. */
export const READING_ONLY: string =
  '- Your tools are Read, Glob, Grep, WebFetch and Bash. Bash runs commands that only read, such as ls, git log, git show, git blame, wc, sort or jq; whatever would write, install, start or send something is refused, so do not try it.';
