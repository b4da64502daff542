/** What the model is asked when a conversation is compacted: fixed texts, so that equal situations give equal bytes. */
export const SUMMARISE: string = `This conversation is about to be replaced by a summary, because it has become long. Write that summary now. Whoever continues the work, you included, will know nothing else of what happened so far. Answer with text only; call no tool.

Use these headings. Be brief, but keep every fact that matters, with exact names and paths:

1. Task: what the user wants, and every rule or wish the user has stated, including corrections.
2. Done: what was changed, in which files and functions, and which checks showed that it works.
3. Found: how the relevant code works, where things are, commands that work and values that matter.
4. Failed: what was tried and did not work, with the reason, so that nobody tries it again.
5. Open: what is unfinished, unanswered or broken right now.
6. Next: the very next step, with its file and command.

State only what this conversation shows. Where something was not verified, say so. Copy no long file contents; they can be read again.`;

export const TEXT_ONLY: string =
  'Your last answer called a tool. Tools do not run here. Answer with only the text of the summary.';

export function emphasise(instructions: string): string {
  return `The user wants the summary to pay attention to this: ${instructions}`;
}
