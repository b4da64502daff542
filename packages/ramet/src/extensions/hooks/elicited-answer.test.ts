import { describe, expect, test } from 'vitest';
import { elicitedProblem } from './elicited-answer.ts';
import type { HookInput } from './hook-config.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 5 },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    size: { type: 'number' },
    ok: { type: 'boolean' },
    colour: { type: 'string', enum: ['r', 'g'] },
    shape: { type: 'string', oneOf: [{ const: 'o', title: 'Circle' }] },
    tags: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['a', 'b', 'c'] } },
    any: {},
  },
  required: ['name'],
};

const input = (more: object = {}): HookInput => ({
  ...{ session_id: 's', transcript_path: '', cwd: '/', hook_event_name: 'Elicitation', mode: 'form' },
  requested_schema: SCHEMA,
  ...more,
});
const accept = (content?: Record<string, unknown>) => ({ action: 'accept', content }) as const;

describe('EXT-2: what a hook answers a server in a person’s place', () => {
  test.for([
    { name: 'bob' },
    { name: 'bob', age: 150, size: 1.5, ok: false, colour: 'g', shape: 'o', tags: ['a', 'c'], any: 'x' },
  ])('counts: %j', (content) => {
    expect(elicitedProblem(accept(content), input())).toBeNull();
  });

  test.for([
    [undefined, /no content/],
    [{}, /needs "name"/],
    [{ name: 'bob', password: 'x' }, /does not ask for: "password"/],
    [{ name: 5 }, /"name" .*text/],
    [{ name: null }, /"name" .*text/],
    [{ name: 'b' }, /"name" .*at least 2/],
    [{ name: 'robert' }, /"name" .*at most 5/],
    [{ name: 'bob', age: 1.5 }, /"age" .*whole number/],
    [{ name: 'bob', age: '12' }, /"age" .*whole number/],
    [{ name: 'bob', age: -1 }, /"age" .*at least 0/],
    [{ name: 'bob', age: 151 }, /"age" .*at most 150/],
    [{ name: 'bob', size: 'big' }, /"size" .*number/],
    [{ name: 'bob', ok: 'yes' }, /"ok" .*true or false/],
    [{ name: 'bob', colour: 'x' }, /"colour" .*one of r, g/],
    [{ name: 'bob', shape: 'Circle' }, /"shape" .*one of o/],
    [{ name: 'bob', tags: 'a' }, /"tags" .*list/],
    [{ name: 'bob', tags: ['x'] }, /"tags" .*a, b, c/],
    [{ name: 'bob', tags: [] }, /"tags" .*at least 1/],
    [{ name: 'bob', tags: ['a', 'b', 'c'] }, /"tags" .*at most 2/],
    [{ name: 'bob', any: { n: 1 } }, /"any" /],
  ] as const)('does not count: %j', ([content, why]) => {
    expect(elicitedProblem(accept(content), input())).toMatch(why);
  });

  test('is no yes for an address, which only a person can have opened', () => {
    const address = input({ mode: 'url', url: 'https://x.example', requested_schema: undefined });
    expect(elicitedProblem(accept({}), address)).toMatch(/only a person/);
    expect(elicitedProblem({ action: 'decline' }, address)).toBeNull();
  });

  test('is no yes where a person said no', () => {
    const declined = input({ hook_event_name: 'ElicitationResult', action: 'decline' });
    expect(elicitedProblem(accept({ name: 'bob' }), declined)).toMatch(/declined/);
    const accepted = input({ hook_event_name: 'ElicitationResult', action: 'accept' });
    expect(elicitedProblem(accept({ name: 'bob' }), accepted)).toBeNull();
    expect(elicitedProblem(accept({ name: 7 }), accepted)).toMatch(/text/);
  });

  test('may be an empty form where nothing is needed', () => {
    const optional = input({ requested_schema: { properties: { name: { type: 'string' } } } });
    expect(elicitedProblem(accept(), optional)).toBeNull();
    expect(elicitedProblem(accept({}), optional)).toBeNull();
  });
});
