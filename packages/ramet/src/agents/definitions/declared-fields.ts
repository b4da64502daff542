/** What an agent file says, for who has to know what it runs before any agent is made from it (SEC-1). */
import { yamlFields } from '../../extensions/front-matter/yaml-fields.ts';
import { parseDefinition } from './definition-file.ts';

/** Read as for an agent, so that nothing runs but what is covered. Null where it cannot be read. */
export function declaredFields(text: string, path: string): Readonly<Record<string, unknown>> | null {
  const file = parseDefinition(text, { path, source: 'project', toolNames: [] }, yamlFields);
  if (file === null || file.problems.some(({ level }) => level === 'error')) return null;
  return file.declared;
}
