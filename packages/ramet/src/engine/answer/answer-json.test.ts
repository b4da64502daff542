import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJson } from './answer-json.ts';

describe('AGENT-5: the JSON of an answer', () => {
  test.each([
    ['bare', ' {"a": 1}\n', '{"a": 1}'],
    ['a bare scalar', '"x"', '"x"'],
    ['in one code block', 'Here:\n\n```json\n[1,\n2]\n```\nDone.', '[1,\n2]'],
    ['a scalar in one code block', '```\n42\n```', '42'],
    ['the last of several code blocks', '```json\n{"a":1}\n```\nbetter:\n```json\n{"a":2}\n```', '{"a":2}'],
    ['after prose', 'I found [two] of {them}: {"a": "}]\\"{"} - done [see 3}', '{"a": "}]\\"{"}'],
    ['the outer value, not the one in it', 'x {"a": {"b": [1]}} y', '{"a": {"b": [1]}}'],
    ['behind a bracket that never closes', 'a [ b "c {"a":1}', '{"a":1}'],
    ['with all digits', '{"n": 12345678901234567890.10}', '{"n": 12345678901234567890.10}'],
  ])('is found %s', (_, text, json) => {
    expect(findJson(text)).toEqual({ json, value: JSON.parse(json) });
  });

  test.each(['', 'nothing', '{"a": 1', '{a: b}', 'he said "42"'])('is not found in %j', (text) => {
    expect(findJson(text)).toBeNull();
  });

  test('any object is found between lines of prose', () => {
    const prose = fc.stringMatching(/^[A-Za-z .,'!?()-]*$/);
    fc.assert(
      fc.property(prose, fc.dictionary(fc.string(), fc.jsonValue()), prose, (before, value, after) => {
        const json = JSON.stringify(value, null, 2);
        expect(findJson(`${before}\n${json}\n${after}`)?.json).toBe(json);
      }),
    );
  });
});
