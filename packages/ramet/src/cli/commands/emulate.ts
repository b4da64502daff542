/** `ramet emulate`: the emulator as a program. */
import { runEmulate } from '../../emulator/emulate.ts';
import type { CommandIo } from '../io.ts';

export interface EmulateFlags {
  scenario?: string;
  port?: number;
  log?: string;
  requireKey?: string;
  firstTokenMs?: number;
  tokensPerSecond?: number;
}

export async function emulate(flags: EmulateFlags, io: CommandIo): Promise<void> {
  const { scenario, port, log, requireKey, firstTokenMs, tokensPerSecond } = flags;
  const latency = { baseMs: firstTokenMs, tokensPerSecond };
  await runEmulate(
    { scenario, port, log, requireKey, latency },
    { out: (line) => io.out(`${line}\n`), signal: io.signal },
  );
}
