/** `Bash npm test`: a call in a few words, the tool and the field of its input that says most. */
import { visibleLine } from '../../permission/visible-text.ts';
import type { ToolUseBlock } from '../../schema/content.ts';

const LONGEST = 500;

export function callTitle({ name, input }: Pick<ToolUseBlock, 'name' | 'input'>): string {
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const texts = fields.filter((field): field is [string, string] => typeof field[1] === 'string');
  // Of a call that starts an agent the first field is the whole task.
  const [, said = ''] = texts.find(([key]) => name === 'Agent' && key === 'description') ?? texts[0] ?? [];
  return visibleLine(`${name} ${said.slice(0, LONGEST)}`);
}
