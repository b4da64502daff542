/**
 * The phases of a coordinator as a machine (COORD-1). Its guards are pure, and it does nothing by itself: the host of the
 * coordinator records a change and then acts on it. It is restored from the record, in the phase that was recorded last.
 *
 * Invariants
 * 1. No phase is left while the result of one of its workers has not arrived: nobody can conclude from what nobody has.
 * 2. Implementation is reached from synthesis, with a plan, or from a verification that found something.
 * 3. Verification is reached from implementation alone, once a worker of it has ended.
 */
import { setup, transition } from 'xstate';
import type { CoordinatorPhase } from '../../schema/status.ts';

export interface PhaseContext {
  /** Workers whose results the coordinator does not have. */
  readonly open: number;
  /** Workers that have ended something to implement which nobody has verified. */
  readonly implemented: number;
  /** The plan that the change comes with names something concrete. */
  readonly isPlanned: boolean;
}

type PhaseEvent = { readonly type: CoordinatorPhase };

const machine = setup({
  types: {
    context: {} as PhaseContext, // types alone: no value is read
    events: {} as PhaseEvent, // the same
    input: {} as PhaseContext, // the same
  },
  guards: {
    allArrived: ({ context }) => context.open === 0,
    isPlanned: ({ context }) => context.open === 0 && context.isPlanned,
    hasWork: ({ context }) => context.open === 0 && context.implemented > 0,
  },
});

const to = <Target extends CoordinatorPhase>(target: Target) => ({ guard: 'allArrived', target }) as const;

const phaseMachine = machine.createMachine({
  id: 'coordinator',
  context: ({ input }) => input,
  initial: 'research',
  states: {
    research: { on: { synthesis: to('synthesis') } },
    synthesis: {
      on: { research: to('research'), implementation: { guard: 'isPlanned', target: 'implementation' } },
    },
    implementation: {
      on: { verification: { guard: 'hasWork', target: 'verification' }, synthesis: to('synthesis') },
    },
    verification: {
      on: {
        implementation: { guard: 'isPlanned', target: 'implementation' },
        synthesis: to('synthesis'),
        research: to('research'),
      },
    },
  },
});

/** Why the phase stays; `order`: no such change exists. */
export type PhaseObstacle = 'order' | 'open' | 'plan' | 'work';

/** Null when the change is allowed. */
export function phaseObstacle(
  from: CoordinatorPhase,
  wanted: CoordinatorPhase,
  context: PhaseContext,
): PhaseObstacle | null {
  if (isReached(from, wanted, context)) return null;
  if (!isReached(from, wanted, { open: 0, implemented: 1, isPlanned: true })) return 'order';
  if (context.open > 0) return 'open';
  return wanted === 'verification' ? 'work' : 'plan';
}

function isReached(from: CoordinatorPhase, wanted: CoordinatorPhase, context: PhaseContext): boolean {
  const [next] = transition(phaseMachine, phaseMachine.resolveState({ value: from, context }), {
    type: wanted,
  });
  return from !== wanted && next.value === wanted;
}

/** What can follow a phase, in the order of the machine. */
export function nextPhases(from: CoordinatorPhase): CoordinatorPhase[] {
  // The events of the machine are the phases.
  return Object.keys(phaseMachine.config.states?.[from]?.on ?? {}) as CoordinatorPhase[];
}
