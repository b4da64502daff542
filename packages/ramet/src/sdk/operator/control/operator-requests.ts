/**
 * How one process asks another, which runs an operator, for something: a file in the session's folder. The journal has one
 * writer, so only that process acts; it looks for requests while it runs and answers each with another file.
 *
 * Invariants
 * 1. A request is for one process, the writer of the session at that time, or, if nobody runs it, for the one that resumes
 *    the run next. No other process obeys it.
 * 2. It is removed before it is acted on, so nothing is done twice. One for a process that is gone is removed too.
 * 3. Only the user can read or write it.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { OperatorAction } from '../../../schema/operator-events.ts';
import { makePrivateDirectory, PRIVATE_FILE } from '../../../system/home.ts';
import { type ProcessIdentity, thisProcess } from '../../../system/processes/process-identity.ts';
import { replaceWhole } from '../../../system/replace-whole.ts';
import { type OperatorPlace, operatorDirectory } from '../../place.ts';
import { readAction } from './read-action.ts';

/** One look at a folder that is nearly always empty takes some microseconds. */
const LOOK_EVERY_MS = 200;
const REQUEST = /^\d+-[0-9a-f]+\.request$/;

/** Returns why it was refused; null when it was carried out. */
export type ActOnRequest = (action: OperatorAction, by: Asker) => string | null;

/** Who asks: a person at a terminal, or a model that watches the run. */
export type Asker = 'person' | 'model';

export function makeRequestDirectory(place: OperatorPlace): string {
  const directory = operatorDirectory(place);
  for (const one of [join(place.project, place.session), directory, join(directory, 'requests')])
    makePrivateDirectory(one);
  return join(directory, 'requests');
}

/** Returns its name. `writer` is null where nobody runs the session. */
export function putRequest(
  place: OperatorPlace,
  action: OperatorAction,
  { writer, now, by = 'person' }: { writer: ProcessIdentity | null; now: number; by?: Asker },
): string {
  const directory = makeRequestDirectory(place);
  // Two of one millisecond stay in order by a clock of the machine that only moves forward.
  const order = process.hrtime.bigint().toString(16).padStart(16, '0');
  const name = `${String(now).padStart(15, '0')}-${order}${randomBytes(4).toString('hex')}`;
  const to = writer === null ? null : { pid: writer.pid, started: writer.started };
  replaceWhole(join(directory, `${name}.request`), JSON.stringify({ to, by, action }), PRIVATE_FILE);
  return name;
}

/** Null before it is answered. */
export function takeAnswer(place: OperatorPlace, name: string): { refused: string | null } | null {
  const file = join(operatorDirectory(place), 'requests', `${name}.answer`);
  const answer = readJson(file);
  if (answer === undefined) return null;
  rmSync(file, { force: true });
  const { refused } = answer;
  return { refused: typeof refused === 'string' ? refused : null };
}

/** False if it was taken already. */
export function withdrawRequest(place: OperatorPlace, name: string): boolean {
  const directory = join(operatorDirectory(place), 'requests');
  if (!namesIn(directory).includes(`${name}.request`)) return false;
  rmSync(join(directory, `${name}.request`), { force: true });
  return true;
}

/** Acts on every request for this process, in the order in which they were made. */
export function takeRequests(place: OperatorPlace, act: ActOnRequest): void {
  const directory = join(operatorDirectory(place), 'requests');
  const names = namesIn(directory).filter((name) => REQUEST.test(name));
  for (const name of names.sort()) {
    const file = join(directory, name);
    const request = readJson(file);
    rmSync(file, { force: true });
    const to = request?.to;
    if (request === undefined || !(to === null || isThisProcess(to))) continue;
    const action = readAction(request.action);
    const refused =
      'problem' in action ? action.problem : act(action.action, request.by === 'model' ? 'model' : 'person');
    // Nobody waits for the answer to one that was made while nobody ran the session: the journal has it.
    if (to !== null)
      replaceWhole(file.replace(/request$/, 'answer'), JSON.stringify({ refused }), PRIVATE_FILE);
  }
}

/** What was asked for while nobody ran the session, in that order. */
export function waitingActions(place: OperatorPlace): OperatorAction[] {
  const directory = join(operatorDirectory(place), 'requests');
  const names = namesIn(directory).filter((name) => REQUEST.test(name));
  return names.sort().flatMap((name) => {
    const request = readJson(join(directory, name));
    const read = request?.to === null ? readAction(request.action) : null;
    return read === null || 'problem' in read ? [] : [read.action];
  });
}

/**
 * Looks for requests until it is disposed of; the first look is at once. The process stays for it: a run that is paused has
 * nothing else under way.
 */
export function watchRequests(place: OperatorPlace, act: ActOnRequest): Disposable {
  makeRequestDirectory(place);
  takeRequests(place, act);
  const timer = setInterval(() => takeRequests(place, act), LOOK_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // nobody has asked for anything yet
  }
}

/** Undefined for a file that is not there, or is no object. */
function readJson(file: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    // An object of JSON: its keys are text, and each value is checked where it is used.
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isThisProcess(to: unknown): boolean {
  const { pid, started } = thisProcess();
  if (typeof to !== 'object' || to === null || !('pid' in to) || !('started' in to)) return false;
  return to.pid === pid && to.started === started;
}
