/** What the model is asked when a conversation is compacted: fixed texts, so that equal situations give equal bytes. */
export const SUMMARISE: string = `This conversation is about to be replaced by a summary, because it has become long. Write that summary now; it is all that whoever goes on with the work, you included, will know of what happened so far. Answer with text only and call no tool.

Write under these headings, briefly but with every fact that matters, names and paths exactly as they are:

1. Task: what the user wants in the end, and every rule or wish the user has stated, including corrections.
2. Done: what was changed, in which files and functions, and which checks showed that it works.
3. Found: how the relevant code works, where things are, commands that work and values that matter.
4. Failed: what was tried and did not work, with the reason, so that nobody tries it again.
5. Open: what is unfinished, unanswered or broken right now.
6. Next: the very next step, with its file and command.

State only what this conversation shows. Where something was not verified, say so. Copy no long file contents; they can be read again.`;

export const TEXT_ONLY: string =
  'Your last answer called a tool. No tool runs here: answer with the text of the summary alone.';

export function emphasise(instructions: string): string {
  return `The user asks you to pay attention to this in the summary: ${instructions}`;
}
