import { describe, expect, test } from 'vitest';
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { builtInDefinitions } from '../../agents/prompts/built-in.ts';
import { childViewText } from './child-view-text.ts';

const [base] = builtInDefinitions;

function toolsLine(wanted: AgentDefinition['tools'], tools: readonly string[]): string | undefined {
  const text = childViewText({
    definition: { ...(base as AgentDefinition), tools: wanted }, // there are built-in types
    ...{ model: 'm', mode: 'default', tools, system: '', instructions: null, environment: '', leftOut: [] },
    tokens: { tools: 0, system: 0, instructions: 0, environment: 0, total: 0 },
  });
  return text.split('\n').find((line) => line.startsWith('tools'));
}

describe('TYPE-3: the tools of a type that is shown', () => {
  test('one that wants none can be started, one that gets none of its own cannot', () => {
    expect(toolsLine([], [])).toMatch(/none, as its file says; about/);
    expect(toolsLine(['Nothing'], [])).toContain('it cannot be started');
    expect(toolsLine('all', [])).toContain('it cannot be started');
    expect(toolsLine(['Read'], ['Read'])).toMatch(/^tools +Read; about/);
  });
});
