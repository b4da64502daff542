/** What a long conversation must not lose when it is compacted, by probes in the request that follows. */
import { describe, expect, test } from 'vitest';
import { call, startFamily } from '../../../test/fixtures/family.ts';
import type { RequestRecord } from '../../emulator/index.ts';

const PROMPTS = 14;
/** About 10,000 tokens. */
const LONG = 'A line of code of this project, as long as such lines are.\n'.repeat(700);
/** About 900 tokens, such as a long error message that a user has put into a prompt. */
const PASTED = `\n${'at one place of the code, and from there at another\n'.repeat(70)}`;
/** Where a prompt has its rule: before, after or between what was put into it. */
const PROMPT_FORMS = [
  (rule: string) => `${rule}${PASTED}`,
  (rule: string) => `${PASTED}${rule}`,
  (rule: string) => `${PASTED.slice(0, 2_500)}${rule}${PASTED.slice(2_500)}`,
];
const MEMBERS = ['parser', 'tester', 'writer'];
const TODOS = Array.from({ length: 12 }, (_, index) => ({
  content: `todo-${index}`,
  status: index < 4 ? ('completed' as const) : ('pending' as const),
  activeForm: `doing todo-${index}`,
}));

const sizeOf = ({ usage }: RequestRecord): number =>
  (usage?.input_tokens ?? 0) +
  (usage?.cache_creation_input_tokens ?? 0) +
  (usage?.cache_read_input_tokens ?? 0);

describe('RES-7, BG-6: a conversation of 150,000 tokens', () => {
  test('keeps every open todo, member and instruction of the user, and its new prefix is written once', async () => {
    const family = await startFamily({
      ...{ team: 'crew', model: 'claude-sonnet-4-5', contextWindow: 200_000 },
      cast: {
        // The first one keeps a list; every answer is as long as a file.
        Part: ({ request }) =>
          request.messages.length === 1 ? call('TodoWrite', { todos: TODOS }) : { text: LONG },
        'This conversation is about to be replaced': () => ({ text: 'A SUMMARY without any names.' }),
      },
    });
    const { session, emulator } = family;
    for (const name of MEMBERS) await session.team?.add({ name });
    for (let part = 1; part <= PROMPTS; part++) {
      const written = PROMPT_FORMS[part % 3]?.(`Keep rule-${part} in mind, it is my wish.`);
      expect((await family.run(`Part ${part}: ${written}`)).result.status).toBe('done');
    }
    const before = emulator.requests.at(-1);
    expect(before && sizeOf(before)).toBeGreaterThan(150_000);
    expect(await session.compact()).toMatchObject({ compacted: true });
    await family.run('Part 15: continue.');
    await family.run('Part 16: continue.');
    const [first, second] = emulator.requests.slice(-2);
    const text = first?.body ?? '';
    for (let part = 1; part <= PROMPTS; part++) expect(text).toContain(`rule-${part} in mind`);
    for (const { content, status } of TODOS.slice(4)) expect(text).toContain(`[${status}] ${content}`);
    // Names of members are in other places too.
    const record = /This conversation had become long\..*?<\/summary>/.exec(text)?.[0] ?? '';
    const team = /<team-now>.*<\/team-now>/.exec(record)?.[0] ?? '';
    for (const name of MEMBERS) expect(team).toMatch(new RegExp(`\\b${name}\\b`));
    expect(first && sizeOf(first)).toBeLessThan(60_000);
    // Tools and system prompt are read; what is new is written once and then read.
    expect(first?.usage?.cache_read_input_tokens).toBeGreaterThan(2_000);
    const written = first?.usage?.cache_creation_input_tokens ?? 0;
    expect(second?.usage?.cache_read_input_tokens).toBeGreaterThanOrEqual(written);
  });
});
