/** What goes wrong with a server, in words, and waiting for it no longer than its caller does. */
import type { Transport } from '@modelcontextprotocol/client';
import { Cancelled, describeError, RametError } from '../../schema/errors.ts';
import { onAbort } from '../../system/on-abort.ts';
import { StdioTransport } from './stdio-transport.ts';

/** What went wrong with a server, in one line. */
export class ServerFailure extends RametError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('mcp_server', 'terminal', message, options);
    this.name = 'ServerFailure';
  }
}

/** A login that needs a person. */
export class LoginNeeded extends Error {}

/** A token could not be renewed. The server has refused the old one, and done nothing. */
export class RenewalFailed extends Error {
  constructor(why: string) {
    super(`its login could not be renewed: ${why}`);
    this.name = 'RenewalFailed';
  }
}

export function renewalAdvice(server: string): string {
  return `; try again, and if that does not help, run ramet mcp login ${server}`;
}

export async function orAborted<Value>(awaited: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const unlink = onAbort(signal, () => aborted.reject(new Cancelled()));
  try {
    return await Promise.race([awaited, aborted.promise]);
  } finally {
    unlink();
  }
}

/** What a program said last, for a line about its end. */
export function wordsOf(transport: Transport): string {
  const words = transport instanceof StdioTransport ? oneLine(transport.lastWords.slice(-400)) : '';
  return words === '' ? '' : ` (it said: ${words})`;
}

export function progressLine(
  progress: number,
  total: number | undefined,
  message: string | undefined,
): string {
  const count = total === undefined ? String(progress) : `${progress} of ${total}`;
  return oneLine(message === undefined ? count : `${count}: ${message}`);
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 400);
}

/** An error of the SDK in one line. "fetch failed" says nothing: the reason is behind it. */
export function describeCause(error: unknown): string {
  for (let one = error; one instanceof Error; one = one.cause)
    if (one.message === 'fetch failed' && one.cause !== undefined)
      return oneLine(`it cannot be reached: ${describeError(one.cause)}`);
  return oneLine(withoutDump(describeError(error)));
}

/** What a validator found, in its own notation, is nothing for a person or a model. */
function withoutDump(text: string): string {
  const at = text.search(/\[\s*\{\s*"/);
  if (at === -1) return text;
  const where = /"path":\s*\[([^\]]*)\]/
    .exec(text.slice(at))?.[1]
    ?.replace(/["\s]/g, '')
    .replaceAll(',', '.');
  return `its answer does not have the shape of the protocol${where ? ` (wrong at ${where.slice(0, 100)})` : ''}`;
}

export function seconds(ms: number): string {
  return `${Math.max(1, Math.round(ms / 1_000))} s`;
}

/** Something in a list that cannot be used. */
export interface LeftOutItem {
  readonly name: string;
  /** The list it was in. */
  readonly field: 'tools' | 'resources' | 'resourceTemplates' | 'prompts';
  readonly reason: string;
}

export function leftOutWords({ name, field, reason }: LeftOutItem): string {
  const kind = { tools: 'tool', resources: 'resource', resourceTemplates: 'template', prompts: 'prompt' };
  return `the ${kind[field]} ${name} (${reason})`;
}
