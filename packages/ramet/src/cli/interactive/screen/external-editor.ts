/** Lets the user write a text in an editor: `$VISUAL`, else `$EDITOR`, else `vi`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeError } from '../../../schema/errors.ts';

/** More than anybody writes by hand; a file that an editor filled otherwise is left alone. */
const LONGEST_TEXT = 5_000_000;

export type EditedText = { readonly text: string } | { readonly problem: string };

/** The text stays as it was when the editor cannot be started or ends with an error. */
export async function editText(
  text: string,
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd: string },
): Promise<EditedText> {
  const editor = env.VISUAL || env.EDITOR || 'vi';
  const folder = mkdtempSync(join(env.TMPDIR || tmpdir(), 'ramet-prompt-'));
  const file = join(folder, 'prompt.md');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const problem = await runEditor(editor, file, { env, cwd });
    if (problem !== null) return { problem: `${editor} ${problem}: your text stays as it was` };
    const edited = readFileSync(file, 'utf8');
    return edited.length > LONGEST_TEXT
      ? { problem: 'the text is longer than 5 MB: your text stays as it was' }
      : { text: edited.replace(/\n+$/, '') };
  } catch (error) {
    return { problem: `${editor}: ${describeError(error)}: your text stays as it was` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As git does: the setting may have arguments, so a shell reads it. Null when it ended well. */
function runEditor(
  editor: string,
  file: string,
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd: string },
): Promise<string | null> {
  const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], { env, cwd, stdio: 'inherit' });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started (${describeError(error)})`));
    child.once('exit', (code, signal) =>
      resolve(code === 0 ? null : `ended with ${signal ?? `exit code ${code}`}`),
    );
  });
}
