/**
 * How every agent that works for another one writes (PROMPT-1, second part). The same for all types, so it is a part
 * of their prompts: what differs between agents of one type comes after everything they share.
 */
export const THREAD_NOTES: string =
  '- Name files by absolute path. Show code only where its exact text matters. No emojis. Do not end a sentence with a colon before a tool call.';
