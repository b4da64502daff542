/** `Bash npm test`: a call in a few words, the tool and what it says of the call, or the first text of its input. */

import type { ToolUseBlock } from '../../../schema/content.ts';
import type { CallDetails } from '../../../schema/tool-access.ts';
import { visibleLine } from '../../../system/text/visible-text.ts';

const LONGEST = 500;

export function callTitle(
  { name, input }: Pick<ToolUseBlock, 'name' | 'input'>,
  details: CallDetails | undefined,
): string {
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const texts = fields.filter((field): field is [string, string] => typeof field[1] === 'string');
  const said = details?.title ?? texts[0]?.[1] ?? '';
  return visibleLine(`${name} ${said.slice(0, LONGEST)}`);
}
