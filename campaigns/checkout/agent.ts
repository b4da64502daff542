/** One agent of the campaign: reads, thinks for a moment, edits or commits, over the real tools or the plain way. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Chance } from '../kill/random.ts';
import { type Attempt, END, FILES } from './plan.ts';

/** A call of a tool and its text. */
export type UseTool = (
  tool: 'Read' | 'Edit' | 'Write' | 'Bash',
  input: object,
) => Promise<{ text: string; isError: boolean }>;

export interface CampaignAgent {
  id: string;
  edit(path: string, line: string): Promise<Attempt>;
  commit(subject: string): Promise<Attempt>;
}

export async function act(
  agent: CampaignAgent,
  steps: number,
  commits: number,
  chance: Chance,
): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (let step = 0; step < steps; step++) {
    const name = `${agent.id}-${step}`;
    const attempt = chance.holds(commits) ? agent.commit(name) : agent.edit(chance.pick(FILES), name);
    attempts.push(await attempt);
  }
  return attempts;
}

/** Between looking at a file and changing it an agent asks its model; here it is only a little while. */
function think(chance: Chance): Promise<void> {
  return sleep(chance.below(4));
}

export function rametAgent(id: string, use: UseTool, chance: Chance): CampaignAgent {
  return {
    id,
    async edit(path, line) {
      const read = await use('Read', { file_path: path });
      if (read.isError)
        return { agent: id, kind: 'edit', name: line, path, outcome: 'failed', said: read.text };
      await think(chance);
      const { text, isError } = chance.holds(0.5)
        ? await use('Edit', { file_path: path, old_string: END, new_string: `${line}\n${END}` })
        : await use('Write', { file_path: path, content: wholeText(read.text, line) });
      const stale = /was changed [\s\S]*since you read it/.test(text);
      const outcome = !isError ? 'done' : stale ? 'refused' : 'failed';
      return { agent: id, kind: 'edit', name: line, path, outcome, said: isError ? text : '' };
    },
    async commit(subject) {
      const command = chance.pick([
        `git add -A && git commit -qm ${subject}`,
        `git add . && git commit -q -m ${subject}`,
        `git commit -qam ${subject}`,
      ]);
      const { text, isError } = await use('Bash', { command });
      return {
        agent: id,
        kind: 'commit',
        name: subject,
        path: null,
        outcome: commitOutcome(text, isError),
        said: isError ? text : '',
      };
    },
  };
}

/** The file's text again, from what Read shows of it: numbered lines. */
function wholeText(shown: string, line: string): string {
  const lines = shown.split('\n').map((row) => row.replace(/^\s*\d+[\t→|: ]/, ''));
  return `${lines.slice(0, lines.lastIndexOf(END)).join('\n')}\n${line}\n${END}\n`;
}

function commitOutcome(text: string, isError: boolean): Attempt['outcome'] {
  if (!isError) return 'done';
  if (/index\.lock|Unable to create|cannot lock ref/.test(text)) return 'lock';
  return /nothing of yours to commit|nothing to commit|nothing added to commit|no changes added/.test(text)
    ? 'nothing'
    : 'failed';
}

/** As programs without Ramet do it: the file is read, and later written whole. */
export function plainAgent(id: string, root: string, env: NodeJS.ProcessEnv, chance: Chance): CampaignAgent {
  const execute = promisify(execFile);
  return {
    id,
    async edit(path, line) {
      const text = await readFile(join(root, path), 'utf8');
      await think(chance);
      await writeFile(join(root, path), text.replace(END, `${line}\n${END}`));
      return { agent: id, kind: 'edit', name: line, path, outcome: 'done', said: '' };
    },
    async commit(subject) {
      const base = { agent: id, kind: 'commit', name: subject, path: null } as const;
      try {
        await execute('sh', ['-c', `git add -A && git commit -qm ${subject}`], { cwd: root, env });
        return { ...base, outcome: 'done', said: '' };
      } catch (error) {
        const { stdout, stderr } = error as { stdout: string; stderr: string }; // what execFile rejects with
        return { ...base, outcome: commitOutcome(stdout + stderr, true), said: stdout + stderr };
      }
    },
  };
}
