import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OtherBlock } from '../schema/content.ts';
import { freezeBlock, freezeTool, thawBytes } from './frozen-block.ts';

const text = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'grapheme', minLength: 1_100, maxLength: 1_300 }),
);

const block: fc.Arbitrary<OtherBlock> = fc.oneof(
  text.map((value) => ({ type: 'text', text: value })),
  // Long anyway, and not to be marked.
  fc.constant({ type: 'text', text: '', citations: ['x'.repeat(2_000)] }),
  text.map((content) => ({ type: 'tool_result', tool_use_id: 'toolu_1', content })),
  text.map((value) => ({ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: value } })),
  text.map((thinking) => ({ type: 'thinking', thinking, signature: 's' })),
  text.map((data) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })),
);

describe('LOG-1: a block from the journal', () => {
  test('is what was frozen, whatever its type and length', () => {
    fc.assert(
      fc.property(block, (value) => {
        const frozen = freezeBlock(value);
        expect(thawBytes(new Uint8Array(frozen.bytes))).toEqual(frozen);
      }),
    );
  });

  test('is a tool when it has the schema of one', () => {
    const tool = { name: 'Look', description: 'x'.repeat(2_000), input_schema: { type: 'object' as const } };
    expect(thawBytes(new Uint8Array(freezeTool(tool).bytes))).toEqual(freezeTool(tool));
  });
});
