/** What a server lists and nobody can use, and how people read of it. */

/** Something in a list that cannot be used. */
export interface LeftOutItem {
  readonly name: string;
  /** The list it was in. */
  readonly field: 'tools' | 'resources' | 'resourceTemplates' | 'prompts';
  readonly reason: string;
}

export function leftOutWords({ name, field, reason }: LeftOutItem): string {
  const kind = { tools: 'tool', resources: 'resource', resourceTemplates: 'template', prompts: 'prompt' };
  return `the ${kind[field]} ${name} (${reason})`;
}
