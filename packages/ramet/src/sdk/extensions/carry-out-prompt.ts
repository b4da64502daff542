/**
 * Makes a prompt of a skill or a command: puts in its arguments, runs the commands that it names under the permission of
 * the agent, and allows and refuses what the file says, for this agent and until its work on the prompt is over. Where another
 * agent carries it out, that holds for the other one, and here only while the commands run. Loaded late.
 *
 * 1. A command that fails or is refused ends it: half a prompt is none.
 * 2. What a file allows never beats a deny or an ask rule, nor plan mode, nor an agent that only reads.
 * 3. What a file refuses, and cannot be read as a rule, ends it: it is not carried out without its limits.
 */

import { type Agent, hosted } from '../../engine/agent/agent.ts';
import { callForAgent } from '../../engine/later.ts';
import type { LoadedSkills } from '../../engine/shapes.ts';
import { expandPrompt } from '../../extensions/prompts/expand-prompt.ts';
import type { PromptFile } from '../../extensions/prompts/prompt-file.ts';
import { currentBody } from '../../extensions/prompts/prompt-store.ts';
import type { ImageBlock, TextBlock } from '../../schema/content.ts';
import type { SkillRules } from '../../tools/agent-desk.ts';
import { fieldOf } from './prompt-rules.ts';
import type { SessionPrompts } from './session-prompts.ts';

export interface CarryOutOrder {
  readonly agent: Agent;
  readonly prompt: PromptFile;
  readonly prompts: SessionPrompts;
  readonly argument: string;
  readonly projectRoot: string;
  /** Managed policy allows only its own rules: the file allows nothing. */
  readonly allowsNothing: boolean;
  /** Another agent is to carry it out. */
  readonly byAnother?: boolean;
  readonly signal: AbortSignal;
}

export interface PromptText {
  readonly text: string;
  /** Paths that it names with `@`. */
  readonly files: readonly string[];
  /** For the agent that carries it out. */
  readonly rules: SkillRules;
}

export async function promptText(order: CarryOutOrder): Promise<PromptText | { problem: string }> {
  const { agent, prompt, argument, projectRoot, signal } = order;
  const refusal = await order.prompts.whyNot(prompt);
  const read = refusal === null ? currentBody(prompt) : { problem: refusal };
  if ('problem' in read) return { problem: `${prompt.path}: ${read.problem}` };
  const { session } = agent.runtime.journal;
  const { parts, files } = expandPrompt(read.body, prompt, { argument, session, projectRoot });
  const rules = { allow: order.allowsNothing ? [] : prompt.allowedTools, deny: prompt.disallowedTools };
  const { problem, takeBack } = setRules(order, rules);
  using undo = new DisposableStack();
  undo.defer(takeBack);
  if (problem !== null) return { problem: `${prompt.path}: ${problem}` };
  const texts: string[] = [];
  for (const part of parts) {
    if ('text' in part) {
      texts.push(part.text);
      continue;
    }
    const call = { name: 'Bash', input: { command: part.command } };
    const { content, isError } = await callForAgent(agent, call, signal);
    const output = textOf(content);
    if (isError) return { problem: `${prompt.path}: its command \`${part.command}\` failed: ${output}` };
    texts.push(output.trimEnd());
  }
  const base = prompt.kind === 'skill' ? `Base directory of this skill: ${prompt.folder}\n\n` : '';
  if (order.byAnother !== true) undo.move();
  return { text: base + texts.join(''), files, rules };
}

/** `problem` is what is wrong with what it refuses; null for nothing. */
function setRules(
  { agent, prompt }: CarryOutOrder,
  rules: SkillRules,
): { problem: string | null; takeBack: () => void } {
  if (rules.allow.length === 0 && rules.deny.length === 0) return { problem: null, takeBack: () => {} };
  const { permissions } = hosted(agent).runtime;
  const { problems, takeBack } = permissions.grant(agent.spec.id, rules);
  // The main agent's end with its prompt.
  if (agent.spec.parent !== null) agent.scope.defer(takeBack);
  let problem: string | null = null;
  for (const { list, text, reason } of problems) {
    const said = `${fieldOf({ list })}: ${JSON.stringify(text)} ${reason}`;
    if (list === 'deny') problem ??= said;
    else agent.warn('allowed_tools', `${prompt.path}: ${said}`);
  }
  return { problem, takeBack };
}

function textOf(content: readonly (TextBlock | ImageBlock)[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

/** Skills that an agent type names: their texts, for the beginning of its agents' conversations. */
export async function preloadedSkills(
  prompts: SessionPrompts,
  names: readonly string[],
): Promise<LoadedSkills> {
  const texts: string[] = [];
  const problems: string[] = [];
  for (const name of names) {
    const skill = await prompts.find(name);
    const refusal = skill === null ? 'no such skill is in use' : await prompts.whyNot(skill);
    const read = skill === null || refusal !== null ? { problem: refusal ?? '' } : currentBody(skill);
    if (skill === null || 'problem' in read)
      problems.push(`the skill ${name} of its type was not loaded: ${'problem' in read ? read.problem : ''}`);
    else texts.push(`<skill name="${skill.name}" directory="${skill.folder}">\n${read.body}\n</skill>`);
  }
  return { text: texts.join('\n'), problems };
}
