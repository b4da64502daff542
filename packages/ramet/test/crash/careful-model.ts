/**
 * A scripted model for crash tests that behaves as a careful one would. It works through a plan; a call that it is
 * told was not run it makes again as it was, and one that may have taken effect it makes again so that a second
 * time does no harm. Files then end as in an undisturbed run unless an effect was lost, doubled, or lied about.
 */
import type { Answer, RequestView, WireBlock, WireMessage } from '../../src/emulator/index.ts';

type Call = { name: string; input: Record<string, unknown> };

/** A call of the plan and the command that brings about the same, however often it is run. */
interface PlannedCall extends Call {
  again: string;
}

export const NOT_RUN = 'interrupted: this call was not run';
export const MAY_HAVE_RUN = 'interrupted: may have taken effect';

export interface CarefulModel {
  respond(view: RequestView): Answer;
  /** The step that the answer to this request begins or repeats; the one after the last is the report. */
  stepOf(view: RequestView): number;
  /** The last step: a response without calls. */
  readonly lastStep: number;
}

/** The third command says in `state` that it has begun and waits while there is a file `hold`. */
export function carefulModel(state: string): CarefulModel {
  const steps = planOf(state);
  const stepOf = (view: RequestView): number => lastStepOf(view) + (unfinishedCalls(view).length > 0 ? 0 : 1);
  return {
    lastStep: steps.length,
    stepOf,
    respond(view) {
      const step = stepOf(view);
      const unfinished = unfinishedCalls(view).map((result) => repeat(view, result, steps[step] ?? []));
      const calls: readonly Call[] = unfinished.length > 0 ? unfinished : (steps[step] ?? []);
      const tools = calls.map(({ name, input }) => ({ name, input }));
      return { text: `step ${step}`, ...(tools.length > 0 ? { tool_use: tools } : {}) };
    },
  };
}

function planOf(state: string): PlannedCall[][] {
  const wait = `touch ${state}/started; while test -e ${state}/hold; do sleep 0.01; done`;
  return [
    [call('Write', { file_path: 'notes.txt', content: 'one\n' }, 'echo one > notes.txt')],
    [append('first')],
    [read('notes.txt'), read('trace.txt')],
    [
      call(
        'Edit',
        { file_path: 'notes.txt', old_string: 'one', new_string: 'two' },
        'sed -i s/one/two/ notes.txt',
      ),
    ],
    [append('second'), append('third', `; ${wait}`), append('fourth')],
    [read('trace.txt')],
  ];
}

function call(name: string, input: Record<string, unknown>, again: string): PlannedCall {
  return { name, input, again };
}

function read(path: string): PlannedCall {
  return call('Read', { file_path: path }, `cat ${path}`);
}

function append(line: string, then = ''): PlannedCall {
  const command = `echo ${line} >> trace.txt`;
  return call('Bash', { command: command + then }, `grep -qx ${line} trace.txt || ${command}`);
}

/** -1 before the first answer. */
function lastStepOf({ request }: RequestView): number {
  const last = request.messages.findLast(({ role }) => role === 'assistant');
  return Number(/"step (\d+)"/.exec(JSON.stringify(last ?? null))?.[1] ?? -1);
}

/** The results of the last message that speak of an interruption. */
export function unfinishedCalls({ request }: Pick<RequestView, 'request'>): WireBlock[] {
  return blocksOf(request.messages.at(-1)).filter(({ content }) =>
    String(content).startsWith('interrupted: '),
  );
}

function blocksOf(message: WireMessage | undefined): readonly WireBlock[] {
  return typeof message?.content === 'string' ? [] : (message?.content ?? []);
}

function repeat({ request }: RequestView, result: WireBlock, step: readonly PlannedCall[]): Call {
  const asked = blocksOf(request.messages.at(-2)).find(({ id }) => id === result.tool_use_id);
  if (asked === undefined) throw new Error('a result answers no call');
  const input = JSON.stringify(asked.input);
  if (String(result.content).startsWith(NOT_RUN))
    return { name: String(asked.name), input: JSON.parse(input) };
  const planned = step.find((one) => JSON.stringify(one.input) === input);
  return { name: 'Bash', input: planned === undefined ? JSON.parse(input) : { command: planned.again } };
}
