import { expect, test } from 'vitest';
import { parsePositionedJson } from '../../src/settings/positioned-json.ts';
import { settingsJsonSchema, settingsSchema } from '../../src/settings/settings-schema.ts';
import { readText } from './repository.ts';
import { SETTINGS_SCHEMA_PAGE } from './settings-schema.ts';

test('EXT-1: the schema in docs/ is the one that settings are checked with (npm run fix writes it)', () => {
  expect(readText(SETTINGS_SCHEMA_PAGE)).toBe(settingsJsonSchema());
});

test('EXT-1: the page on settings names every key', () => {
  const schema: { properties: Record<string, unknown> } = JSON.parse(settingsJsonSchema());
  const page = readText('docs/settings.md');
  expect(Object.keys(schema.properties).filter((key) => !page.includes(`\`${key}`))).toEqual([]);
});

test('EXT-1: the example of the page on settings is one', () => {
  const example = /```jsonc\n([\s\S]*?)```/.exec(readText('docs/settings.md'))?.[1] ?? '';
  expect(settingsSchema.safeParse(parsePositionedJson(example).value).error).toBeUndefined();
});
