/** `ramet diff`: what a branch adds to where it came from, or what an agent changed through Write and Edit. */
import { diff as diffOf } from '../../sdk/calls/provenance.ts';
import { printable } from '../../views/text/format.ts';
import { type CommandIo, callFrom } from '../io.ts';

export async function diff(wanted: string, options: { base?: string }, io: CommandIo): Promise<void> {
  const text = await diffOf(wanted, { ...options, ...callFrom(io) });
  io.out(io.isTerminal ? printable(text) : text);
}
