/** `ramet completion`: a script for a shell; and the hidden `ramet complete`, which that script asks. */
import type { Command } from 'commander';
import { localTime } from '../../schema/local-time.ts';
import { branchNames, type KnownName, worktreeNames } from '../../sdk/calls/known-names.ts';
import { sessionList } from '../../sdk/calls/status.ts';
import { findPlace } from '../../sdk/place.ts';
import { purposeOf, shortId } from '../../views/agent-label.ts';
import { viewSession } from '../../views/session-view.ts';
import { excerpt } from '../../views/text/format.ts';
import { completionScript, FILES_MARK, type Shell } from '../completion/shell-scripts.ts';
import { type Suggestion, suggest } from '../completion/suggest.ts';
import { type CommandIo, callFrom } from '../io.ts';

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
    branches: () => branchNames(callFrom(io)).map(suggestionOf),
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
    const { openStore } = await import('../../sdk/agent-types/agent-types.ts');
    using store = await openStore(findPlace(io), io.env);
    await store.refresh();
    return store.catalog.definitions.map(({ name, description }) => ({ text: name, description }));
  } catch {
    return [];
  }
}

function worktreesOf(io: CommandIo): Suggestion[] {
  try {
    return worktreeNames(callFrom(io)).map(suggestionOf);
  } catch {
    return [];
  }
}

function suggestionOf({ name, about }: KnownName): Suggestion {
  return { text: name, description: about };
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

/** The user is typing: a failure to list sessions is reported when the command runs. */
function sessionsOf(io: CommandIo): Suggestion[] {
  try {
    return sessionList(callFrom(io))
      .slice(0, MOST_SESSIONS)
      .map(({ session, opened, live, title }) => {
        const when = localTime(opened, Date.now());
        return { text: session, description: [when, live ? 'running' : '', title ?? ''].join(' ').trim() };
      });
  } catch {
    return [];
  }
}
