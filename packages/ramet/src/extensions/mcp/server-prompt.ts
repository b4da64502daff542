/** Prompts of servers as commands of a person: `/mcp__server__prompt argument "another one"`. */
import type { GetPromptResult } from '@modelcontextprotocol/client';
import type { ImageBlock, TextBlock } from '../../schema/content.ts';
import { UserMistake } from '../../schema/errors.ts';
import { nearName } from '../../system/text/close-names.ts';
import { namesWithin } from './find-tools.ts';
import { blocksOfContent } from './result-content.ts';
import type { ServerPrompt } from './server-offer.ts';
import type { ServerSet } from './server-set.ts';
import { toolKeys } from './tool-names.ts';

/** Who holds the servers while a person asks. */
const PERSON = 'person';

export interface AskedPrompt {
  readonly text: string;
  readonly images: readonly ImageBlock[];
}

/** Null for a name of no server here. Throws a UserMistake that says what is wrong with the command. */
export async function askedPrompt(
  set: ServerSet,
  { name, argument }: { name: string; argument: string },
  signal: AbortSignal,
): Promise<AskedPrompt | null> {
  const server = set.serverOf(name);
  if (server === undefined) return null;
  const connection = set.connect(PERSON, server);
  try {
    const { prompts } = await connection.offer(signal);
    const keys = toolKeys(
      server.key,
      prompts.map((one) => one.name),
    );
    const prompt = prompts.find((one) => keys.get(one.name) === name);
    if (prompt === undefined) throw unknownPrompt(name, [...keys.values()]);
    const given = argumentsOf(name, prompt, argument);
    return asked(await connection.prompt(prompt.name, given, { signal }));
  } finally {
    await set.releaseFor(PERSON);
  }
}

function unknownPrompt(name: string, names: readonly string[]): UserMistake {
  const near = nearName(name, names);
  const meant = near === null ? '.' : `; did you mean /${near}?`;
  const there =
    namesWithin(
      names.map((one) => `/${one}`),
      1_000,
    ) || 'none';
  return new UserMistake('mcp_prompt', `there is no /${name}${meant} Its server has: ${there}`);
}

/** By their order; the last takes the rest. */
function argumentsOf(
  name: string,
  { arguments: fields }: ServerPrompt,
  argument: string,
): Record<string, string> {
  const words = wordsOf(argument, fields.length);
  const given = fields.flatMap((field, index) => {
    const word = words[index];
    return word === undefined ? [] : [[field.name, word] as const];
  });
  const missing = fields.find((field, index) => field.required && words[index] === undefined);
  if (missing === undefined && (fields.length > 0 || argument.trim() === ''))
    return Object.fromEntries(given);
  const usage = fields.map((field) => (field.required ? field.name : `[${field.name}]`)).join(' ');
  const wrong = missing === undefined ? 'takes no argument' : `needs ${missing.name}`;
  throw new UserMistake('mcp_prompt', `/${name} ${wrong}: write /${name} ${usage}`.trimEnd());
}

function wordsOf(text: string, count: number): string[] {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== '' && words.length < count - 1) {
    const [whole = '', quoted, bare] = /^(?:"([^"]*)"|(\S+))\s*/.exec(rest) ?? [];
    words.push(quoted ?? bare ?? '');
    rest = rest.slice(whole.length);
  }
  if (rest !== '') words.push(/^"([^"]*)"$/.exec(rest)?.[1] ?? rest);
  return words;
}

/** What several speakers say is quoted with who says it. */
function asked({ messages }: GetPromptResult): AskedPrompt {
  const isDialogue = messages.some(({ role }) => role !== 'user');
  const blocks = messages.flatMap(({ role, content }) => {
    const made = blocksOfContent([content]);
    const text = made.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    const said: TextBlock[] =
      text === '' ? [] : [{ type: 'text', text: isDialogue ? `${role}: ${text}` : text }];
    return [...said, ...made.filter((block) => block.type === 'image')];
  });
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
  if (text.trim() === '') throw new UserMistake('mcp_prompt', 'the server gave a prompt without text');
  return { text, images: blocks.filter((block) => block.type === 'image') };
}
