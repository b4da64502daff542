/**
 * Forks in a program, offline: one session reads a text, then three forks of its conversation work side by side, each
 * on a question of its own. The model is the emulator; sessions, forks, tools and the journal are real. It fails when
 * a fork does not read from the cache what the session wrote.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSession } from 'ramet';
import { startEmulator } from 'ramet/emulator';

const QUESTIONS = ['Which words are longest?', 'How many lines are there?', 'Does it rhyme?'];

const folder = mkdtempSync(join(tmpdir(), 'ramet-library-forks-'));
writeFileSync(join(folder, 'poem.txt'), 'Many a stem,\none root beneath them.\n');
const emulator = await startEmulator({
  respond: ({ last, turn }) => {
    const question = QUESTIONS.find((text) => last.includes(text));
    if (question !== undefined) return { text: `Scope: ${question}\nAnswered from what was read before.` };
    return turn === 0
      ? { tool_use: [{ name: 'Read', input: { file_path: 'poem.txt' } }] }
      : { text: 'Read.' };
  },
});

try {
  await using session = await openSession({
    cwd: folder,
    env: { RAMET_HOME: join(folder, 'ramet'), ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: emulator.url },
  });
  for await (const event of session.run('Read poem.txt.')) {
    if (event.type === 'tool_started') console.log(`main agent: ${event.name}`);
  }
  const forks = await Promise.all(
    QUESTIONS.map((question) => session.fork(question, { description: question })),
  );
  for (const { id, description, result } of forks) {
    const { status, text, usage } = await result;
    const read = usage.cache_read_input_tokens;
    console.log(`${id.replace(/^.*\./, 'fork ')}: ${description} ${status}, ${read} tokens from the cache`);
    if (status !== 'done' || !text.startsWith('Scope:')) throw new Error(`the fork ${id} did not report`);
    if (read < usage.cache_creation_input_tokens) throw new Error(`the fork ${id} did not share the cache`);
  }
} finally {
  await emulator.close();
  rmSync(folder, { recursive: true });
}
