import { describe, expect, test } from 'vitest';
import { builtInDefinitions, findDefinition } from '../prompts/built-in.ts';
import type { AgentDefinition } from './definition.ts';
import { nearTypes } from './near-types.ts';

const [base] = builtInDefinitions;

function types(...lines: readonly string[]): AgentDefinition[] {
  return lines.map((line) => {
    const [name = '', description = ''] = line.split(': ');
    return { ...(base as AgentDefinition), name, description };
  });
}

const CROWD = types(
  'api-scaffolding-django-pro: Web applications.',
  'api-scaffolding-fastapi-pro: Web applications.',
  'python-development-python-pro: Modern code.',
  'javascript-pro: Scripts.',
  'security-auditor: Looks for injection and leaks.',
  'code-reviewer: Reads changes.',
  ...Array.from({ length: 400 }, (_, index) => `filler-${index}-pro: Something else.`),
);
const near = (wanted: string): string[] => nearTypes(wanted, CROWD).map(({ name }) => name);

describe('TYPE-3: types that may have been meant', () => {
  test.each([
    ['django-pro', 'api-scaffolding-django-pro'],
    ['pyton-pro', 'python-development-python-pro'],
    ['djangopro', 'api-scaffolding-django-pro'],
    ['securityauditor', 'security-auditor'],
    ['auditro', 'security-auditor'],
    ['Code Reviewer', 'code-reviewer'],
    ['code-reviwer', 'code-reviewer'],
    ['security', 'security-auditor'],
    ['injection', 'security-auditor'],
    ['audit the security of this', 'security-auditor'],
  ])('%s: %s', (wanted, found) => {
    expect(near(wanted)[0]).toBe(found);
  });

  test('letters that changed places are one slip', () => {
    expect(nearTypes('Exploer', builtInDefinitions)[0]?.name).toBe('Explore');
  });

  test('finds none if nothing is near', () => {
    for (const wanted of ['zzzzzz', '', '-', '../../..', 'x'.repeat(1_000_000)])
      expect(near(wanted)).toEqual([]);
  });

  test('never more than five', () => {
    expect(near('filler')).toHaveLength(5);
  });

  test('one that is asked for by its own name is found without this', () => {
    expect(findDefinition(CROWD, 'Security-Auditor')?.name).toBe('security-auditor');
  });
});
