/**
 * The part of an output file that was not shown yet. While more may come, a line that is not finished is shown but
 * not counted as seen, and neither is a private key that may still go on: the next look shows them whole, so that
 * no secret passes the redactor in two halves.
 */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { LONGEST_SECRET, readPart, readShownOutput, safeCut } from './output-file.ts';

export interface NewOutputOptions {
  from: number;
  /** Nothing more will come. */
  final: boolean;
  gap: (bytes: number) => string;
}

/** Throws the system's error when the file cannot be read. */
export function readNewOutput(path: string, options: NewOutputOptions): { text: string; next: number } {
  const descriptor = openSync(path, 'r');
  try {
    const { text } = readShownOutput({ path, descriptor }, options.gap, options.from);
    const { size } = fstatSync(descriptor);
    return { text, next: options.final ? size : seenUpTo(descriptor, options.from, size) };
  } finally {
    closeSync(descriptor);
  }
}

function seenUpTo(descriptor: number, from: number, size: number): number {
  const start = Math.max(from, size - LONGEST_SECRET);
  // One character a byte, so that places in the text are places in the file.
  const end = readPart(descriptor, start, size - start).toString('latin1');
  const endless = start > from && !end.includes('\n');
  return endless ? size : start + safeCut(end);
}
