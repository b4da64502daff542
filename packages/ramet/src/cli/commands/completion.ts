/** `ramet completion`: a script for a shell; and the hidden `ramet complete`, which that script asks. */
import { spawnSync } from 'node:child_process';
import type { Command } from 'commander';
import { listSessions } from '../../journal/session-list.ts';
import { findPlace } from '../../sdk/place.ts';
import { purposeOf, shortId } from '../../views/agent-label.ts';
import { viewSession } from '../../views/session-view.ts';
import { excerpt } from '../../views/text/format.ts';
import { childEnvironment } from '../../workspace/child-environment.ts';
import { NO_TRANSPORT } from '../../workspace/git/folder-guard.ts';
import { withoutLocalVariables } from '../../workspace/git/start-git.ts';
import { WorktreeRegistry } from '../../workspace/worktrees/registry.ts';
import { completionScript, FILES_MARK, type Shell } from '../completion/shell-scripts.ts';
import { type Suggestion, suggest } from '../completion/suggest.ts';
import type { CommandIo } from '../io.ts';

const MOST_SESSIONS = 50;
const DESCRIPTION_LENGTH = 70;

export function completion(shell: Shell, io: CommandIo): void {
  io.out(completionScript(shell, [process.execPath, ...process.argv.slice(1, 2)]));
}

export async function complete(program: Command, words: readonly string[], io: CommandIo): Promise<void> {
  // Definition files are read for the one command that names types.
  const types = words.slice(0, 2).join(' ') === 'agents show' ? await typesOf(io) : [];
  const { found, files } = suggest(program, words, {
    sessions: () => sessionsOf(io),
    agents: (word) => agentsOf(word, io),
    branches: () => branchesOf(io),
    types: () => types,
    worktrees: () => worktreesOf(io),
  });
  const lines = found.map(
    ({ text, description }) => `${text}\t${excerpt(description, DESCRIPTION_LENGTH)}\n`,
  );
  io.out(lines.join('') + (files ? `${FILES_MARK}\n` : ''));
}

async function typesOf(io: CommandIo): Promise<Suggestion[]> {
  try {
    const { openStore } = await import('../../sdk/agent-types.ts');
    using store = await openStore(findPlace(io), io.env);
    await store.refresh();
    return store.catalog.definitions.map(({ name, description }) => ({ text: name, description }));
  } catch {
    return [];
  }
}

function worktreesOf(io: CommandIo): Suggestion[] {
  try {
    using registry = new WorktreeRegistry(findPlace(io).project);
    const there = registry.list().filter(({ state }) => state === 'leased' || state === 'released');
    return there.map(({ name, branch }) => ({ text: name, description: branch ?? '' }));
  } catch {
    return [];
  }
}

/** `abcd1234.` has the agents of that session, `.` those of the latest, each as it was begun. */
function agentsOf(word: string, io: CommandIo): Suggestion[] {
  const session = word.slice(0, word.indexOf('.'));
  try {
    using view = viewSession(session === '' ? undefined : session, findPlace(io).project);
    return view.agents.map((agent) => ({
      text: `${session}${shortId(agent.id)}`,
      description: [agent.type, agent.status, purposeOf(agent)].join(' ').trim(),
    }));
  } catch {
    return [];
  }
}

/** Asked of git at once: a shell waits for the answer, and outside a repository there is none. */
function branchesOf(io: CommandIo): Suggestion[] {
  const format = '--format=%(refname:short)%09%(contents:subject)';
  const args = ['for-each-ref', '--sort=-committerdate', '--count=200', format, 'refs/heads'];
  const env = { ...withoutLocalVariables(childEnvironment(io.env)), ...NO_TRANSPORT };
  const words = ['-c', 'safe.bareRepository=explicit', ...args];
  const { stdout } = spawnSync('git', words, { cwd: io.cwd, env, encoding: 'utf8' });
  return (stdout ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [text = '', description = ''] = line.split('\t');
      return { text, description };
    });
}

/** Somebody is typing: what keeps sessions from being listed is told when the command runs. */
function sessionsOf(io: CommandIo): Suggestion[] {
  try {
    return listSessions(findPlace(io).project)
      .slice(0, MOST_SESSIONS)
      .map(({ session, opened, live, title }) => {
        const when = new Date(opened).toISOString().slice(0, 16).replace('T', ' ');
        return { text: session, description: [when, live ? 'running' : '', title ?? ''].join(' ').trim() };
      });
  } catch {
    return [];
  }
}
