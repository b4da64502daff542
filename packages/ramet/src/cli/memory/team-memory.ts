/** `ramet memory sync`, `serve` and `token`: team memory, its server and its tokens. */
import { type SyncedMemory, syncMemory } from '../../sdk/memory/sync-memory.ts';
import {
  listMemoryTokens,
  newMemoryToken,
  revokeMemoryToken,
  type ServeOptions,
  serveMemory,
} from '../../sdk/memory/team-memory.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { printable, visibleName } from '../../views/text/format.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';

interface TeamMemoryFlags {
  json?: boolean;
  data?: string;
}

const PORT = 4747;

export async function sync(
  folder: string | undefined,
  { json, ...options }: TeamMemoryFlags & { server?: string; tokenFile?: string; anyFolder?: boolean },
  io: CommandIo,
): Promise<number> {
  const synced = await syncMemory({ folder, ...options }, callFrom(io));
  if (json) io.out(jsonLine(synced));
  else io.out(syncedText(synced));
  return synced.skipped.length === 0 ? EXIT.done : EXIT.failed;
}

function syncedText({ team, folder, changes, skipped }: SyncedMemory): string {
  const lines = [
    ...changes.map(
      ({ key, change, note }) => `${change.padEnd(13)}  ${key}${note === undefined ? '' : ` (${note})`}`,
    ),
    ...skipped.map(({ key, reason }) => `${'left out'.padEnd(13)}  ${key}: ${reason}`),
  ];
  const end = changes.length === 0 && skipped.length === 0 ? 'nothing to do: ' : '';
  lines.push(`${end}${folder} and team ${team} ${skipped.length === 0 ? 'agree' : 'agree on the rest'}`);
  // Names are those of others, in reasons and notes too: each stays on its line.
  return lines.map((line) => `${visibleName(line)}\n`).join('');
}

export async function serve(flags: ServeOptions, io: CommandIo): Promise<void> {
  await using server = await serveMemory({ port: PORT, ...flags }, callFrom(io));
  io.out(`team memory at ${server.url}; Ctrl-C ends it\n`);
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export function newToken(
  team: string,
  { json, data, note }: TeamMemoryFlags & { note?: string },
  io: CommandIo,
): void {
  const made = newMemoryToken({ team, note, data }, callFrom(io));
  io.out(json ? jsonLine(made) : `${made.token}\n`);
  if (!json) io.note(`this is token ${made.id} of team ${made.team}; it is not shown again`);
}

export function listTokens({ json, data }: TeamMemoryFlags, io: CommandIo): void {
  const tokens = listMemoryTokens({ data }, callFrom(io));
  if (json) io.out(jsonLine({ tokens }));
  else if (tokens.length === 0) io.out('no tokens: ramet memory token new TEAM makes one\n');
  for (const { id, team, note, revoked } of json ? [] : tokens) {
    const state = revoked === null ? 'valid' : 'revoked';
    io.out(`${printable([id, state.padEnd(7), team, note].join('  ').trimEnd())}\n`);
  }
}

export function revokeToken(id: string, { json, data }: TeamMemoryFlags, io: CommandIo): void {
  revokeMemoryToken({ id, data }, callFrom(io));
  io.out(json ? jsonLine({ id, revoked: true }) : `${printable(`revoked ${id}`)}\n`);
}
