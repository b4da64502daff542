/**
 * A script that is being read character by character. Everything that is not known exactly ends the reading with
 * `UnreadScript`: no part of a script is ever passed over or guessed.
 */
import type { ShellMove, ShellPlaces } from './follow-directory.ts';
import type { ScriptGround } from './script-ground.ts';
import type { ShellReading } from './shell-reading.ts';

/** `posix`: what every `sh` reads in the same way, be it dash or bash. */
export type ShellDialect = 'bash' | 'posix';

export interface ExactReading extends ShellReading {
  /** What it contains beyond literal words, pipes and lists; in words that follow "because of". */
  features: Set<string>;
  /** Names that bash evaluates as arithmetic: each must turn out to hold numbers only. */
  evaluated: string[];
  /** It sets variables whose names are known only then. */
  steered: boolean;
}

/** By the features of a reading. */
export function hasLoops(features: ReadonlySet<string>): boolean {
  return ['for', 'while', 'until'].some((word) => features.has(`the word ${word}`));
}

export interface Heredoc {
  delimiter: string;
  quoted: boolean;
  /** `<<-`: tabs before a line do not count. */
  tabs: boolean;
  /** Where the shell is when it reads the body. */
  places: ShellPlaces;
  /** How many moves were trusted up to there. */
  trusted: number;
}

/** Why a list of commands ends: a reserved word, `)`, `;;`, or the end of the text. */
export type ListEnd = string;

export interface ScriptScan {
  readonly text: string;
  readonly dialect: ShellDialect;
  readonly reading: ExactReading;
  readonly list: (scan: ScriptScan) => ListEnd;
  at: number;
  depth: number;
  /** Where the shell may be by now. */
  places: ShellPlaces;
  /** The same by how the last command ended. */
  outcome: ShellMove;
  /** Shared by all parts of the script. */
  readonly ground: ScriptGround;
  /** Here-documents whose bodies begin after this line. */
  heredocs: Heredoc[];
}

export class UnreadScript extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

const DEEPEST = 12;

export function deeper<Value>(scan: ScriptScan, read: () => Value): Value {
  if (++scan.depth > DEEPEST) throw new UnreadScript('how deep it is nested');
  const value = read();
  scan.depth--;
  return value;
}

/** The same reading of another text, such as what stands between backticks. */
export function scanInside(scan: ScriptScan, text: string): ScriptScan {
  return { ...scan, text, at: 0, heredocs: [] };
}

export function takeMatch(scan: ScriptScan, pattern: RegExp): RegExpExecArray | null {
  const match = lookAt(scan, pattern);
  if (match !== null) scan.at += match[0].length;
  return match;
}

/** `pattern` is sticky. */
export function lookAt(scan: ScriptScan, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = scan.at;
  return pattern.exec(scan.text);
}

export function take(scan: ScriptScan, text: string): boolean {
  if (!scan.text.startsWith(text, scan.at)) return false;
  scan.at += text.length;
  return true;
}

export function expect(scan: ScriptScan, text: string): void {
  if (!take(scan, text)) throw new UnreadScript('its syntax');
}

export function onlyBash(scan: ScriptScan, what: string): void {
  if (scan.dialect === 'posix') throw new UnreadScript(`${what}, which sh does not know`);
}

/** A joined line is known only between words: elsewhere the two halves become one sign. */
const BLANKS = /(?:[ \t]|(?<=[ \t])\\\n|\\\n(?=[ \t]))+/y;

export function skipBlanks(scan: ScriptScan): void {
  if (takeMatch(scan, BLANKS)?.[0].includes('\n')) scan.reading.features.add('a continued line');
}

const COMMENT = /#[^\n]*/y;

/** Blanks, comments and line ends; `bodies` reads the here-documents that wait for one. */
export function skipLines(scan: ScriptScan, bodies: (scan: ScriptScan) => void): void {
  for (;;) {
    skipBlanks(scan);
    takeMatch(scan, COMMENT);
    if (!take(scan, '\n')) return;
    bodies(scan);
  }
}
