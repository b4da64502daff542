/**
 * A script taken apart completely: wrappers looked through, and the scripts that `bash -c` and `eval` carry read like
 * any other. What the exact reader does not know is unclear as a whole; then the grammar tells what it can see of it,
 * for rules that take rights away.
 */
import { loadShellParser } from './parse-shell.ts';
import { placeInside } from './place-inside.ts';
import { readExactly } from './read-exactly.ts';
import { readShell } from './read-shell.ts';
import type { MoveKnowledge } from './script-ground.ts';
import type { ShellDialect } from './script-scan.ts';
import type { ShellCommand, ShellReading } from './shell-reading.ts';
import { innerScript, unwrapCommand } from './unwrap-command.ts';

/** A command and what it wraps, outermost first. */
export interface CommandLayers {
  layers: readonly [ShellCommand, ...ShellCommand[]];
  /** What it runs is in the list by itself: the command inside `bash -c`. */
  transparent: boolean;
}

export interface UnderstoodScript extends Pick<ShellReading, 'files' | 'variables' | 'unclear'> {
  commands: CommandLayers[];
  /** What it contains beyond literal words, pipes and lists. */
  features: string[];
  /** The texts that could not be read exactly. */
  unread: string[];
  /** Of these, the ones that the grammar cannot tell about either. */
  unseen: string[];
}

export interface ScriptPlace {
  directories: readonly string[] | null;
  dialect?: ShellDialect;
  /** What the script around it says about its moves. */
  known?: MoveKnowledge;
}

const DEEPEST = 5;

export async function understandScript(
  script: string,
  { directories, dialect = 'bash', known = {} }: ScriptPlace,
  depth = 0,
): Promise<UnderstoodScript> {
  const exact = readExactly(script, directories, dialect, known);
  const rough = 'unread' in exact ? await readRoughly(script, directories, exact.unread) : null;
  const reading =
    'unread' in exact
      ? (rough ?? { commands: [], files: [], variables: [], unclear: [exact.unread] })
      : exact;
  const { files, variables, unclear } = reading;
  const features = 'unread' in exact ? [] : [...exact.features];
  const unread = 'unread' in exact ? [script] : [];
  const unseen = 'unread' in exact && rough?.isWhole !== true ? [script] : [];
  const understood: UnderstoodScript = { commands: [], files, variables, unclear, features, unread, unseen };
  for (const command of reading.commands) {
    const layers = layersOf(command);
    const inner = layers.at(-1) ?? command;
    const carrier = depth < DEEPEST ? innerScript(inner, dialect) : null;
    const carried = carrier?.script ?? null;
    understood.commands.push({ layers, transparent: carried !== null });
    if (carrier === null || carried === null) continue;
    const around = 'unread' in exact ? reading : exact;
    const place = { dialect: carrier.dialect, ...placeInside(layers, around, known) };
    const found = await understandScript(carried, place, depth + 1);
    // What eval sets stays set: the rest of the script was read without it.
    if (inner.words[0]?.value === 'eval' && found.variables.length > 0)
      unclear.push('variables that eval sets');
    addScript(understood, found);
  }
  return understood;
}

/** The walk over the grammar's tree takes more than linear time, and as much stack as the script is deep. */
const LONGEST_ROUGH = 4_000;
const MOST_SIGNS = 400;
/** What the grammar says where it may miss a part of a script. */
const MISSED: ReadonlySet<string> = new Set(['its syntax', 'text the grammar passes over']);

/** Null where it would take too long. */
async function readRoughly(
  script: string,
  directories: readonly string[] | null,
  reason: string,
): Promise<(ShellReading & { isWhole: boolean }) | null> {
  if (script.length > LONGEST_ROUGH || (script.match(/[^\w\s]/g) ?? []).length > MOST_SIGNS) return null;
  const reading = readShell(await loadShellParser(), script, directories);
  const isWhole = !reading.unclear.some((what) => MISSED.has(what));
  return { ...reading, isWhole, unclear: [...new Set([reason, ...reading.unclear])] };
}

export function layersOf(command: ShellCommand): [ShellCommand, ...ShellCommand[]] {
  const inner = unwrapCommand(command);
  return inner === null ? [command] : [command, ...layersOf(inner)];
}

function addScript(into: UnderstoodScript, from: UnderstoodScript): void {
  into.commands.push(...from.commands);
  into.files.push(...from.files);
  into.variables.push(...from.variables);
  into.unclear.push(...from.unclear);
  into.features.push(...from.features);
  into.unread.push(...from.unread);
  into.unseen.push(...from.unseen);
}
