/**
 * Text that others wrote, made fit for a terminal: no escape sequences, no control characters, nothing that
 * turns the direction of writing and so could make a command read differently from what it does.
 */
import { stripAnsi } from '../../../system/text/visible-text.ts';
import { printable } from '../../../views/text/format.ts';

export function safeText(text: string): string {
  return printable(stripAnsi(text));
}

/** The same on one line. */
export function safeLine(text: string): string {
  return safeText(text).replace(/\s+/g, ' ').trim();
}
