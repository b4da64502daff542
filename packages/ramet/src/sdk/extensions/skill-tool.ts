/** The Skill tool: the model loads a skill when it is of use. In the list of tools only where there are skills. Loaded late. */
import type { PromptFile } from '../../extensions/prompts/prompt-file.ts';
import { nameList, skillLines } from '../../extensions/prompts/skill-list.ts';
import * as z from '../../schema/zod.ts';
import { nearName } from '../../system/text/close-names.ts';
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from '../../tools/tool.ts';
import type { SessionPrompts } from './session-prompts.ts';

const SKILL_TOOL = 'Skill';

export interface SkillShelf {
  readonly prompts: SessionPrompts;
  readonly projectRoot: string;
  readonly allowsNothing: boolean;
}

export function skillTool(shelf: SkillShelf): Tool {
  return defineTool({
    name: SKILL_TOOL,
    description: [
      'Load a skill: instructions for a kind of work, written for this project or user. Load one before work it is for; do not guess what it says. The skills:',
      ...skillLines(shelf.prompts.all.filter(({ forModel }) => forModel)),
    ].join('\n'),
    effect: 'read',
    schedule: 'ordered',
    input: z.strictObject({ skill: z.string().check(z.minLength(1)), args: z.optional(z.string()) }),
    access: ({ skill }) => ({ named: skill }),
    details: ({ skill }) => ({ title: skill }),
    run: ({ skill, args = '' }, context) => loadSkill(shelf, skill.replace(/^\//, ''), args, context),
  });
}

async function loadSkill(
  shelf: SkillShelf,
  name: string,
  argument: string,
  { agent: id, agents, signal }: ToolContext,
): Promise<ToolOutcome> {
  const skill = await shelf.prompts.find(name);
  if (skill === null || !skill.forModel) return failure(unknownSkill(name, skill, shelf.prompts));
  const agent = shelf.prompts.family?.find(id);
  if (agent === undefined) throw new Error(`the agent ${id} is not there`);
  const { promptText } = await import('./carry-out-prompt.ts');
  const byAnother = skill.agent !== null;
  const made = await promptText({ ...shelf, agent, prompt: skill, argument, byAnother, signal });
  if ('problem' in made) return failure(made.problem);
  const { text, rules } = made;
  if (skill.agent === null) {
    if (rules.deny.length > 0) agent.record({ type: 'tools.denied', rules: rules.deny });
    return { content: text };
  }
  const { model, effort } = skill;
  return agents.spawn({
    prompt: text,
    description: skill.name,
    subagent_type: skill.agent,
    ...(model !== null && { model }),
    ...(effort !== null && { effort }),
    rules,
  });
}

function unknownSkill(name: string, found: PromptFile | null, { all, store }: SessionPrompts): string {
  if (found !== null)
    return found.kind === 'command'
      ? `/${found.name} is a command for the user, not a skill`
      : `the skill ${found.name} is for the user to ask for: do without it`;
  if (store?.catalog.changed.some((one) => one.name === name))
    return `the skill ${name} is not what the user trusted: the user can run \`ramet trust\``;
  const withheld = store?.catalog.untrusted.some((one) => one.name === name);
  if (withheld)
    return `the skill ${name} belongs to this repository, which is not trusted: the user can run \`ramet trust\``;
  const names = all.filter(({ forModel }) => forModel).map((one) => one.name);
  const near = nearName(name, names);
  const meant = near === null ? `the skills are ${nameList(names)}` : `did you mean ${near}?`;
  return `there is no skill "${name.slice(0, 100)}": ${meant}`;
}
