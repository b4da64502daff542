import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLeapYear } from './leap-year.js';

test('knows leap years', () => {
  assert.equal(isLeapYear(2024), true);
  assert.equal(isLeapYear(2025), false);
});

test('knows centuries', () => {
  assert.equal(isLeapYear(1900), false);
  assert.equal(isLeapYear(2000), true);
});
