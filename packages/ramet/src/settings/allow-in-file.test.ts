import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { allowInFile, withAllowed } from './allow-in-file.ts';
import { parsePositionedJson } from './positioned-json.ts';

const RULE = 'Bash(npm test:*)';

describe('EXT-1: a rule that is added to a settings file', () => {
  test('leaves the rest of the text as it is, comments too', () => {
    const text = [
      '// mine',
      '{',
      '  "model": "opus", // the large one',
      '  "permissions": {',
      '    "allow": [',
      '      "Edit(src/**)", // sources',
      '    ],',
      '  },',
      '}',
      '',
    ].join('\n');
    expect(withAllowed(text, [RULE])).toBe(
      text.replace('      "Edit', '      "Bash(npm test:*)",\n      "Edit'),
    );
  });

  test.for([
    ['', '{\n  "permissions": {\n    "allow": [\n      "Bash(npm test:*)"\n    ]\n  }\n}\n'],
    ['{}', '{"permissions": { "allow": ["Bash(npm test:*)"] }}'],
    ['{"model": "x"}', '{"permissions": { "allow": ["Bash(npm test:*)"] }, "model": "x"}'],
    ['{"permissions": {}}', '{"permissions": {"allow": ["Bash(npm test:*)"]}}'],
    ['{"permissions": {"deny": []}}', '{"permissions": {"allow": ["Bash(npm test:*)"], "deny": []}}'],
    ['{"permissions": {"allow": []}}', '{"permissions": {"allow": ["Bash(npm test:*)"]}}'],
    ['{"permissions": {"allow": ["Edit"]}}', '{"permissions": {"allow": ["Bash(npm test:*)", "Edit"]}}'],
    [
      '{\n  "permissions": {\n    "deny": ["Read(.env)"]\n  }\n}\n',
      '{\n  "permissions": {\n    "allow": ["Bash(npm test:*)"],\n    "deny": ["Read(.env)"]\n  }\n}\n',
    ],
  ] as const)('turns %j into %j', ([before, after]) => {
    expect(withAllowed(before, [RULE])).toBe(after);
    expect(withAllowed(after, [RULE])).toBe(after);
  });

  test('is there with everything else, whatever the file holds', () => {
    const settings = fc.record(
      {
        model: fc.string(),
        permissions: fc.record(
          { allow: fc.array(fc.string()), deny: fc.array(fc.string()) },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(settings, fc.constantFrom(undefined, 2, '\t'), fc.string(), (value, space, rule) => {
        const before: { permissions?: { allow?: string[] } } = JSON.parse(JSON.stringify(value));
        const { value: after } = parsePositionedJson(withAllowed(JSON.stringify(value, null, space), [rule]));
        const known = before.permissions?.allow ?? [];
        const allow = known.includes(rule) ? known : [rule, ...known];
        expect(after).toEqual({ ...before, permissions: { ...before.permissions, allow } });
      }),
    );
  });

  test.for(['[]', '{"permissions": []}', '{"permissions": {"allow": "Edit"}}', '{', '{"a": 1, "a": 2}'])(
    'is not written into %j',
    (text) => {
      expect(() => withAllowed(text, [RULE])).toThrow();
    },
  );

  test('makes a file that only the user can read, and follows no link of a repository', async ({
    directory,
  }) => {
    const path = join(directory, '.ramet/settings.local.json');
    await allowInFile({ path, followLinks: false }, [RULE]);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ permissions: { allow: [RULE] } });
    expect(statSync(path).mode & 0o777).toBe(0o600);

    const outside = join(directory, 'outside.json');
    writeFileSync(outside, '{}');
    const link = join(directory, '.ramet/link.json');
    symlinkSync(outside, link);
    await expect(allowInFile({ path: link, followLinks: false }, [RULE])).rejects.toThrow(/link/);
    expect(readFileSync(outside, 'utf8')).toBe('{}');
    await allowInFile({ path: link, followLinks: true }, [RULE]);
    expect(readFileSync(outside, 'utf8')).toContain(RULE);

    mkdirSync(join(directory, 'elsewhere'));
    symlinkSync(join(directory, 'elsewhere'), join(directory, 'folder'));
    const led = { path: join(directory, 'folder/settings.local.json'), followLinks: false };
    await expect(allowInFile(led, [RULE])).rejects.toThrow(/was not changed/);
  });

  test('is said to be missing when the file is bad, in one line with its place', async ({ directory }) => {
    const path = join(directory, 'settings.json');
    writeFileSync(path, '{\n  "model": \n}');
    await expect(allowInFile({ path, followLinks: true }, [RULE])).rejects.toThrow(
      `${path} was not changed: line 3: a value should be here: "}"`,
    );
    expect(readFileSync(path, 'utf8')).toBe('{\n  "model": \n}');
  });

  test('is kept when many are added at once', async ({ directory }) => {
    const path = join(directory, 'settings.json');
    const rules = Array.from({ length: 5 }, (_, index) => `Bash(run ${index})`);
    await Promise.all(rules.map((rule) => allowInFile({ path, followLinks: true }, [rule])));
    const { permissions } = JSON.parse(readFileSync(path, 'utf8'));
    expect(permissions.allow.toSorted()).toEqual(rules);
  });
});
