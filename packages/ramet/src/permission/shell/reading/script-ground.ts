/**
 * What the parts of a script, in the order they are read, say about the moves in other parts. Parts that run at the
 * same time, or in another order, are where a move that looked sure may fail.
 */
import { eitherPlace, type ShellPlaces } from './follow-directory.ts';

export interface ScriptGround {
  /** Something ran that may have removed directories. */
  touched: boolean;
  /** A variable that `cd` looks at may be set. */
  steered: boolean;
  /** Some variables can no longer be assigned to. */
  fixes: boolean;
  /** How many moves were read before anything was touched. */
  trusted: number;
  /** How many commands were read that may remove directories. */
  touches: number;
  /** Such a move runs beside all that follows. */
  beside: boolean;
  /** A directory may be removed before a move that stands before it: `touched` holds from the start. */
  overtaken: boolean;
  /** Where `break` and its like leave a list. */
  leaps: ShellPlaces[];
  /** Where an error may break a line off: bash drops the rest of the line and runs the next one. */
  breaks: ShellPlaces[];
}

/** What is known of it before anything is read. */
export type MoveKnowledge = Partial<Pick<ScriptGround, 'touched' | 'steered'>>;

export function newGround({ touched = false, steered = false }: MoveKnowledge): ScriptGround {
  return {
    ...{ touched, steered, fixes: false, beside: false, overtaken: false },
    ...{ trusted: 0, touches: 0, leaps: [], breaks: [] },
  };
}

export function noteMove(ground: ScriptGround): void {
  if (!ground.touched) ground.trusted++;
}

export function noteTouch(ground: ScriptGround): void {
  ground.touched = true;
  ground.touches++;
  ground.overtaken ||= ground.beside;
}

/** An assignment or a sum that can fail. */
export function noteBreakOff({ ground, places }: { ground: ScriptGround; places: ShellPlaces }): void {
  if (ground.breaks.at(-1) !== places) ground.breaks.push(places);
}

/** Where the next line may begin. */
export function nextLine(ground: ScriptGround, places: ShellPlaces): ShellPlaces {
  const broken = ground.breaks.splice(0);
  return broken.length === 0 ? places : eitherPlace(places, ...broken);
}

/** Reads what runs beside all that follows it. */
export function readBeside(ground: ScriptGround, read: () => void): void {
  const { trusted } = ground;
  read();
  ground.beside ||= ground.trusted > trusted;
}

export interface PartEffects {
  moves: boolean;
  touches: boolean;
}

export function readPart(ground: ScriptGround, read: () => void): PartEffects {
  const { trusted, touches } = ground;
  read();
  return { moves: ground.trusted > trusted, touches: ground.touches > touches };
}

/** Parts that run at the same time. */
export function noteTogether(ground: ScriptGround, parts: readonly PartEffects[]): void {
  ground.overtaken ||= parts.some(
    (part) => part.moves && parts.some((other) => other !== part && other.touches),
  );
}
