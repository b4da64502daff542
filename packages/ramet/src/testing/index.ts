/** Test doubles for programs built on Ramet, published as `ramet/testing`. */
export {
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedOutcome,
  type ScriptedStep,
  type SentRequest,
  scriptedModel,
} from './scripted-model.ts';
export { type SimulatedClock, simulatedClock } from './simulated-clock.ts';
