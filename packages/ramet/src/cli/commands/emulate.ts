/** `ramet emulate`: the emulator as a program. */
import { runEmulate } from '../../emulator/emulate.ts';
import type { CommandIo } from '../io.ts';

export interface EmulateFlags {
  scenario?: string;
  cassette?: string;
  record?: string;
  upstream?: string;
  port?: number;
  log?: string;
  requireKey?: string;
  firstTokenMs?: number;
  tokensPerSecond?: number;
}

export async function emulate(flags: EmulateFlags, io: CommandIo): Promise<void> {
  const { firstTokenMs, tokensPerSecond, ...options } = flags;
  const latency = { baseMs: firstTokenMs, tokensPerSecond };
  await runEmulate(
    { ...options, latency, env: io.env },
    { out: (line) => io.out(`${line}\n`), signal: io.signal },
  );
}
