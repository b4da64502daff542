import { describe, expect, test } from 'vitest';
import { type AnswerSchema, compileAnswerSchema, compileWith } from './answer-schema.ts';

const PERSON = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer', minimum: 0 },
    tags: { type: 'array', items: { enum: ['a', 'b'] } },
  },
  required: ['name'],
  additionalProperties: false,
};

async function compiled(schema: unknown): Promise<AnswerSchema> {
  const result = await compileAnswerSchema(schema);
  if (!result.ok) throw new Error(result.problem);
  return result.schema;
}

async function problemIn(schema: unknown): Promise<string> {
  const result = await compileAnswerSchema(schema);
  return result.ok ? '' : result.problem;
}

function nested(levels: number): unknown {
  let schema: unknown = { type: 'string' };
  for (let level = 0; level < levels; level += 1) schema = { items: schema };
  return schema;
}

describe('AGENT-5: an answer is held against its schema', () => {
  test('one that matches is returned as it was written', async () => {
    const { check } = await compiled(PERSON);
    expect(check('Here it is:\n```json\n{"name": "Ada", "tags": ["a"]}\n```')).toEqual({
      ok: true,
      json: '{"name": "Ada", "tags": ["a"]}',
    });
  });

  test('one that does not is told every fault with its place', async () => {
    const { check } = await compiled(PERSON);
    const answer = check('{"age": "old", "tags": ["a", "c"], "more": 1}');
    expect(answer.ok ? '' : answer.problem.split('; ')).toEqual([
      expect.stringMatching(/^at the top: .*required property "name"/),
      expect.stringMatching(/^at \/age: .*Expected "integer"/),
      expect.stringMatching(/^at \/tags\/1: .*any of \["a","b"\]/),
      'at /more: nothing is allowed here by this name',
    ]);
  });

  test('one without JSON is told so', async () => {
    const { check } = await compiled(PERSON);
    expect(check('I could not find it.')).toEqual({ ok: false, problem: 'there is no JSON in the answer' });
  });

  test('a problem stays short, however much is wrong', async () => {
    const { check } = await compiled({ type: 'array', items: { enum: ['x'.repeat(5_000)] } });
    const answer = check(JSON.stringify(Array.from({ length: 500 }, (_, index) => index)));
    expect(answer.ok ? '' : answer.problem).toMatch(/and \d+ more$/);
    expect(answer.ok ? '' : answer.problem.length).toBeLessThan(1_500);
    expect(check(JSON.stringify(Array.from({ length: 200_000 }, () => 'y')))).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^at \/0: /),
    });
  });

  test('recursion, conditions and draft 7 work', async () => {
    const list = { type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: false };
    expect((await compiled(list)).check('{"next":{"next":{"end":1}}}')).toMatchObject({
      problem: 'at /next/next/end: nothing is allowed here by this name',
    });
    const conditional = { if: { required: ['a'] }, else: { required: ['b'] } };
    expect((await compiled(conditional)).check('{}').ok).toBe(false);
    const pair = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] };
    expect((await compiled(pair)).check('[1]').ok).toBe(false);
  });

  test('names that every object has are no properties', async () => {
    const { check } = await compiled({ required: ['constructor'], properties: { toString: false } });
    expect(check('{}').ok).toBe(false);
    expect(check('{"constructor": 1}').ok).toBe(true);
  });
});

describe('AGENT-5: a schema that cannot be used is refused before anything runs', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.items = cyclic;

  test.each([
    ['no object', 'person', /a JSON Schema is an object/],
    ['nothing', undefined, /a JSON Schema is an object/],
    ['a function', () => {}, /a JSON Schema is an object/],
    ['a list', [], /at the top: .*Expected "object", "boolean"/],
    ['an unknown type', { properties: { a: { type: 'strng' } } }, /at \/properties\/a\/type: /],
    ['an unknown keyword', { requierd: ['a'] }, /at \/requierd: nothing is allowed/],
    ['a keyword with a wrong value', { minimum: '3' }, /at \/minimum: .*Expected "number"/],
    ['a wrong pattern', { pattern: '(' }, /at \/pattern: .*regex/],
    ['a wrong pattern as a name', { patternProperties: { '(': true } }, /at \/patternProperties.*/],
    [
      'a reference elsewhere',
      { $ref: 'https://example.com/a' },
      /"https:\/\/example.com\/a" is not looked up/,
    ],
    ['a reference to nothing', { items: { $ref: '#/$defs/a' } }, /nothing is at "#\/\$defs\/a"/],
    ['a reference in a circle', { allOf: [{ $ref: '#' }] }, /refers to itself without end/],
    ['a megabyte', { enum: ['x'.repeat(1_000_000)] }, /has 1000013 bytes; at most 64000/],
    ['many levels', nested(70), /nested deeper than 64 levels/],
    ['endless levels', nested(100_000), /nested too deeply/],
    ['itself', cyclic, /contains itself/],
  ])('%s', async (_, schema, problem) => {
    expect(await problemIn(schema)).toMatch(problem);
    expect((await problemIn(schema)).startsWith('schema: ')).toBe(true);
  });

  test('a schema is not changed by its use', async () => {
    const schema = Object.freeze({ type: 'string' });
    await compiled(schema);
    expect(Object.getOwnPropertyNames(schema)).toEqual(['type']);
  });
});

describe('AGENT-5: no schema and no answer hangs the process', () => {
  test.each([
    ['a pattern that backtracks', { pattern: '^(a+)+$' }, JSON.stringify(`${'a'.repeat(60)}!`)],
    ['brackets without end', { type: 'object' }, '[{'.repeat(200_000)],
  ])('%s', async (_, schema, text) => {
    const { check } = await compiled(schema);
    expect(check(text)).toEqual({
      ok: false,
      problem: 'the answer cannot be checked: it takes longer than 500 ms',
    });
    expect(check('{}').ok).toBe(true);
  });

  test('a machine that is busy with other things does not make a schema late', async () => {
    const library = await import('@cfworker/json-schema');
    let waits = 0;
    // The clock goes on, and no work is done.
    class Waiting extends library.Validator {
      override validate(instance: unknown): ReturnType<InstanceType<typeof library.Validator>['validate']> {
        if (waits++ === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
        return super.validate(instance);
      }
    }
    const compiling = compileWith({ ...library, Validator: Waiting }, { type: 'object' });
    expect(compiling).toMatchObject({ ok: true });
    expect(waits).toBeGreaterThan(2);
  });

  test('an answer nested a hundred thousand times is refused', async () => {
    const { check } = await compiled({ items: { $ref: '#' } });
    expect(check('['.repeat(100_000) + ']'.repeat(100_000))).toMatchObject({
      ok: false,
      // On a loaded machine the time is up before the stack is.
      problem: expect.stringMatching(/nested too deeply|it takes longer than/),
    });
  });
});

test('AGENT-5: the agent is told what its last message must be', async () => {
  const { directive: text } = await compiled({ description: '</fork-task>', type: 'string' });
  expect(text).toContain('{"description":"&lt;/fork-task>","type":"string"}');
  expect(text).toMatch(/^Your last message must be one JSON value/);
});
