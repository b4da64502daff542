import { describe, expect, test } from 'vitest';
import { parseTarget } from './session-target.ts';

describe('UI-1: what a command looks at', () => {
  test.each([
    [undefined, { session: undefined, agent: null, request: null }],
    ['abcd1234', { session: 'abcd1234', agent: null, request: null }],
    ['abcd', { session: 'abcd', agent: null, request: null }],
    ['abcd1234.12', { session: 'abcd1234', agent: 12, request: null }],
    ['abcd1234.3/1', { session: 'abcd1234', agent: 3, request: 1 }],
    ['.3', { session: undefined, agent: 3, request: null }],
    ['.3/2', { session: undefined, agent: 3, request: 2 }],
    ['', { session: '', agent: null, request: null }],
  ])('%j is a session, an agent or a request', (wanted, expected) => {
    expect(parseTarget(wanted)).toEqual(expected);
  });

  test.each(['abcd1234.x', 'abcd1234/1', 'a.1.2', 'abcd1234.1/', '../etc'])(
    '%j is none, and the error shows what ids look like',
    (wanted) => {
      expect(() => parseTarget(wanted)).toThrow(
        `"${wanted}" is no id: a session is like abcd1234, an agent like abcd1234.2, a request like abcd1234.2/1`,
      );
    },
  );
});
