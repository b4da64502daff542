/** What the main agent has been told of agent types: in the head of its prompt, and with later prompts. */

import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { fileTypeLine, fileTypeLines, NAMES_ONLY, nameList } from '../../agents/definitions/type-lines.ts';
import { builtInDefinitions, typeLines } from '../../agents/prompts/built-in.ts';
import { contentOf, type FrozenBlock } from '../../conversation/frozen-block.ts';
import { AGENT_TOOL } from '../../tools/agent.ts';
import { builtInTools } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';

/** The tools of a main agent that knows these types. */
export function toolsTelling(definitions: readonly AgentDefinition[], fork: boolean): readonly Tool[] {
  const own = definitions.filter((one) => !isOther(one));
  return builtInTools({ fork, types: [...typeLines(own), ...fileTypeLines(definitions.filter(isOther))] });
}

/** The tools of a session that goes on: it was told of the types that were there when it began. */
export function toolsAsTold(head: readonly FrozenBlock[], fork: boolean): readonly Tool[] {
  const tools = toolsTelling(builtInDefinitions, fork);
  const description = agentDescription(head);
  if (description === null) return tools;
  return tools.map((tool) => (tool.name === AGENT_TOOL ? { ...tool, description } : tool));
}

function agentDescription(head: readonly FrozenBlock[]): string | null {
  const told = head.map(contentOf).find((tool) => 'name' in tool && tool.name === AGENT_TOOL);
  return typeof told?.description === 'string' ? told.description : null;
}

export class ToldTypes {
  /** What was said of each type, by its name. */
  readonly #told: Map<string, string>;

  private constructor(told: Map<string, string>) {
    this.#told = told;
  }

  /** In a session that begins, the head tells of all of them. */
  static ofAll(definitions: readonly AgentDefinition[]): ToldTypes {
    return new ToldTypes(new Map(definitions.filter(isOther).map((one) => [one.name, fileTypeLine(one)])));
  }

  /** In one that goes on, those that stand in the head of its prompt. */
  static ofHead(definitions: readonly AgentDefinition[], head: readonly FrozenBlock[]): ToldTypes {
    const description = agentDescription(head) ?? '';
    const told = new Map(
      Array.from(description.matchAll(/^- ([^:\n]+): .*$/gm), ([line, name = '']) => [name, line]),
    );
    for (const { name } of builtInDefinitions) told.delete(name);
    const named = new RegExp(`^${NAMES_ONLY}(.*)$`, 'm').exec(description)?.[1];
    // Those told by name alone; of what was left out even then, nothing is known.
    for (const one of named === undefined ? [] : definitions.filter(isOther))
      if (!told.has(one.name)) told.set(one.name, fileTypeLine(one));
    return new ToldTypes(told);
  }

  /** What has changed since it was last asked, for the next prompt; null when nothing has. */
  news(definitions: readonly AgentDefinition[]): string | null {
    const others = definitions.filter(isOther);
    const fresh = others.filter((one) => this.#told.get(one.name) !== fileTypeLine(one));
    const gone = [...this.#told.keys()].filter((name) => !definitions.some((one) => one.name === name));
    if (fresh.length === 0 && gone.length === 0) return null;
    for (const one of fresh) this.#told.set(one.name, fileTypeLine(one));
    for (const name of gone) this.#told.delete(name);
    return [
      '<agent-types>',
      'The types for subagent_type have changed since this session began.',
      ...(fresh.length === 0 ? [] : ['New or changed:', ...fileTypeLines(fresh)]),
      ...(gone.length === 0 ? [] : [`No longer there: ${nameList(gone)}`]),
      '</agent-types>',
    ].join('\n');
  }
}

function isOther(definition: AgentDefinition): boolean {
  return !builtInDefinitions.includes(definition);
}
