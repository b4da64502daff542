/** How an agent is called in tables: `.2 fork parser: mend the parser`, further in for every level of the tree. */
import type { AgentId } from '../schema/ids.ts';
import { excerpt } from './format.ts';

export interface LabelledAgent {
  id: AgentId;
  type: string;
  name: string | null;
  description: string | null;
}

const LONGEST = 60;

/** `.2` of `abcd1234.2`: commands take it for an agent of the latest session. */
export function shortId(id: AgentId): string {
  return id.slice(Math.max(0, id.lastIndexOf('.')));
}

/** What an agent is called and what it is for, as far as anybody said; what a model wrote is made safe to print. */
export function purposeOf({ name, description }: Pick<LabelledAgent, 'name' | 'description'>): string {
  return excerpt([name, description].filter(Boolean).join(': '), LONGEST);
}

export function agentLabel(agent: LabelledAgent, level: number): string {
  const purpose = purposeOf(agent);
  return `${'  '.repeat(level)}${shortId(agent.id)} ${excerpt(agent.type, LONGEST)}${purpose && ` ${purpose}`}`;
}
