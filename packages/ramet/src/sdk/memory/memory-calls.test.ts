import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { MemoryStore } from '../../memory/files/memory-store.ts';
import { addMemoryNote, editMemory } from './memory-calls.ts';

test('MEM-1: what an agent wrote while a person edits comes under no note of the user', async () => {
  const home = temporaryDirectory();
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const options = { cwd, env: { RAMET_HOME: join(home, 'ramet'), HOME: home } };
  const { path } = await addMemoryNote({ note: 'Mine.' }, options);
  const edit = editMemory(
    'project',
    async (text) => {
      using store = new MemoryStore(join(path, '..'));
      const source = { kind: 'agent', session: null, agent: null, turn: null } as const;
      await store.change(source, () => new Map([['MEMORY.md', `${text}\n## Facts\n- by an agent\n`]]));
      return `${text}\`\`\`\ncode that does not end\n`;
    },
    options,
  );
  await expect(edit).rejects.toThrow('lines of agents would come to stand under "Notes of the user"');
  expect(readFileSync(path, 'utf8')).toBe('## Notes of the user\n- Mine.\n\n## Facts\n- by an agent\n');
});
