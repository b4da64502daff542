/** Test doubles for programs built on Ramet, published as `ramet/testing`. */
export { type SimulatedClock, simulatedClock } from './simulated-clock.ts';
