/**
 * What a JSON Schema may hold, as a JSON Schema: the keywords that are really checked, and notes for readers. Another
 * keyword is refused: it would look like a condition and be none.
 */
import type { Schema } from '@cfworker/json-schema';

const schema = { $ref: '#/$defs/schema' };
const schemas = { type: 'array', minItems: 1, items: schema };
const schemaMap = { type: 'object', additionalProperties: schema };
const names = { type: 'array', items: { type: 'string' } };
const count = { type: 'integer', minimum: 0 };
const type = { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] };

/** The properties for which one kind of value is right. */
function all(keywords: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries(keywords.split(' ').map((keyword) => [keyword, value]));
}

const keywords = {
  ...all('title description $comment $schema $id $ref $anchor format contentEncoding contentMediaType', {
    type: 'string',
  }),
  ...all('default examples example', true),
  ...all('deprecated readOnly writeOnly uniqueItems', { type: 'boolean' }),
  ...all('$defs definitions properties dependentSchemas', schemaMap),
  ...all('allOf anyOf oneOf prefixItems', schemas),
  ...all('not if then else contains propertyNames', schema),
  ...all('additionalProperties additionalItems unevaluatedProperties unevaluatedItems', schema),
  ...all('minimum maximum exclusiveMinimum exclusiveMaximum', { type: 'number' }),
  ...all('minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties', count),
  multipleOf: { type: 'number', exclusiveMinimum: 0 },
  type: { anyOf: [type, { type: 'array', minItems: 1, items: type }] },
  enum: { type: 'array', minItems: 1 },
  const: true,
  required: names,
  items: { anyOf: [schema, schemas] },
  patternProperties: { ...schemaMap, propertyNames: { format: 'regex' } },
  pattern: { type: 'string', format: 'regex' },
  dependentRequired: { type: 'object', additionalProperties: names },
  dependencies: { type: 'object', additionalProperties: { anyOf: [schema, names] } },
};

export const SCHEMA_OF_SCHEMAS: Schema = {
  $ref: '#/$defs/schema',
  $defs: {
    schema: {
      type: ['object', 'boolean'],
      properties: keywords,
      patternProperties: { '^x-': true },
      additionalProperties: false,
    },
  },
};
