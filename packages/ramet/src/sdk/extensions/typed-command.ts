/** A prompt that begins with `/name` of a skill or command: what the model gets instead of it. Loaded late. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { callForAgent } from '../../engine/later.ts';
import { hookText } from '../../engine/opening.ts';
import type { PromptFile } from '../../extensions/prompts/prompt-file.ts';
import { findPrompt } from '../../extensions/prompts/prompt-store.ts';
import { NOT_AS_TRUSTED } from '../../extensions/trust/folder-trust.ts';
import type { ImageBlock, TextBlock } from '../../schema/content.ts';
import { UserMistake } from '../../schema/errors.ts';
import { nearName } from '../../system/text/close-names.ts';
import type { LiveParts } from '../session/live-parts.ts';
import { attachFiles } from '../session/prompts/user-share.ts';
import { promptText } from './carry-out-prompt.ts';

export interface TypedCommand {
  readonly prompt: string;
  /** Files that it names. */
  readonly attachments: readonly (TextBlock | ImageBlock)[];
  /** Which model carries it out; null for the session's. */
  readonly model: string | null;
  /** Rules for what is refused while it is carried out. */
  readonly denied?: readonly string[];
}

/** Null for a prompt that is none: a path such as `/etc/hosts`, or a name that nobody has. */
export async function typedCommand(
  parts: LiveParts,
  prompted: string,
  { typed = false, signal }: { readonly typed?: boolean | undefined; readonly signal: AbortSignal },
): Promise<TypedCommand | null> {
  const { agent, prompts, place, settings, extra } = parts;
  const [, name, argument = ''] = /^\/([\w.:-]+)(?:\s+([\s\S]*))?$/.exec(prompted.trim()) ?? [];
  if (name === undefined) return null;
  const prompt = await prompts.find(name);
  if (prompt === null) {
    const made = await extra.command({ name, argument }, signal);
    if (made === null) refuseUnused(name, prompts);
    if (made === null && typed && isCommandName(name)) throw unknownCommand(name, prompts);
    if (made !== null) await tellHooks(parts, { kind: 'mcp_prompt', name, argument, prompted }, signal);
    return made && { prompt: made.text, attachments: made.images, model: null };
  }
  if (!prompt.forUser) {
    if (typed)
      throw new UserMistake('no_command', `/${name} is for the model only: say what you want instead`);
    return null;
  }
  const { source } = prompt;
  await tellHooks(parts, { kind: 'slash_command', name: prompt.name, argument, prompted, source }, signal);
  if (prompt.agent !== null && prompt.forModel)
    return { prompt: loadByTool(prompt, argument), attachments: [], model: null };
  const projectRoot = place.repository?.root ?? place.cwd;
  const allowsNothing = settings.settings.policy?.allowRules === 'managed';
  const made = await promptText({ agent, prompt, prompts, argument, projectRoot, allowsNothing, signal });
  if ('problem' in made) throw notBegun(prompt, made.problem);
  const { cwd } = agent.directory;
  const paths = made.files.filter((path) => isFile(resolve(cwd, path)));
  const attached = await attachFiles(agent, paths, signal, callForAgent);
  const refused = attached.find(({ problem }) => problem !== null);
  if (refused !== undefined) throw notBegun(prompt, `@${refused.path}: ${refused.problem}`);
  return {
    prompt: made.text,
    attachments: attached.flatMap(({ blocks }) => blocks),
    model: prompt.model,
    denied: made.rules.deny,
  };
}

interface TypedName {
  readonly kind: 'slash_command' | 'mcp_prompt';
  readonly name: string;
  readonly argument: string;
  readonly prompted: string;
  readonly source?: string;
}

/** Before anything of it runs. Throws where one refuses it. */
async function tellHooks(
  { agent, hooks, runtime }: LiveParts,
  { kind, name, argument, prompted, source }: TypedName,
  signal: AbortSignal,
): Promise<void> {
  if (!hooks.has(agent, 'UserPromptExpansion')) return;
  const fields = {
    ...{ expansion_type: kind, command_name: name, command_args: argument, prompt: prompted },
    ...(source !== undefined && { command_source: source }),
  };
  const { block, stop, contexts } = await hooks.run(agent, 'UserPromptExpansion', fields, signal);
  const refusal = block ?? stop;
  if (refusal !== undefined) throw new UserMistake('prompt_refused', `a hook refused /${name}: ${refusal}`);
  for (const text of contexts)
    agent.receive('notification', null, runtime.redact(hookText('UserPromptExpansion', text)));
}

/** Another agent carries it out, which the Skill tool starts: so it is on record, and continues after a kill. */
function loadByTool({ name }: PromptFile, argument: string): string {
  const call = JSON.stringify({ skill: name, ...(argument.trim() !== '' && { args: argument.trim() }) });
  return `I ask for the skill ${name}. Call the Skill tool with exactly ${call}: another agent carries it out. Then tell me what it reports.`;
}

function notBegun({ name }: PromptFile, why: string): UserMistake {
  return new UserMistake('command_failed', `/${name} was not begun: ${why}`);
}

/** `/tmp is full` is about a folder. */
function isCommandName(name: string): boolean {
  return /^[a-z]/i.test(name) && !existsSync(`/${name}`);
}

const MOST_NAMED = 20;

/** To the model its name alone would be a riddle. */
function refuseUnused(name: string, { store }: LiveParts['prompts']): void {
  const { changed = [], untrusted = [] } = store?.catalog ?? {};
  const other = findPrompt(changed, name);
  if (other !== undefined) throw notBegun(other, `${other.path}: ${NOT_AS_TRUSTED}`);
  const theirs = findPrompt(untrusted, name);
  if (theirs !== undefined)
    throw new UserMistake(
      'no_command',
      `/${theirs.name} is of this repository, which is not trusted: ramet trust`,
    );
}

function unknownCommand(name: string, { all }: LiveParts['prompts']): UserMistake {
  const names = all.filter(({ forUser }) => forUser).map((one) => one.name);
  const near = nearName(name, names);
  const some = names.slice(0, MOST_NAMED).map((one) => `/${one}`);
  const more = names.length > MOST_NAMED ? `, and ${names.length - MOST_NAMED} more` : '';
  const there = names.length === 0 ? 'there are none here' : `there are ${some.join(', ')}${more}`;
  const hint = near === null ? there : `did you mean /${near}?`;
  return new UserMistake('no_command', `there is no skill or command /${name}: ${hint}`);
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
