/** `ramet/emulator`: a local server that speaks the Messages API, for tests, demonstrations and measurements. */
export type { Answer, AnsweredMessage, MessageUsage } from './answer.ts';
export type { RecordOptions } from './cassettes/cassette-recorder.ts';
export { type EmulateIo, type EmulateOptions, runEmulate } from './emulate.ts';
export type { EmulatorOptions, UnmatchedRequest } from './emulator-state.ts';
export type { Fault } from './fault.ts';
export type { Latency, LatencyOptions } from './latency.ts';
export type { WireBlock, WireMessage, WireRequest, WireTool } from './messages/message-request.ts';
export type { RateLimits } from './rate-limits.ts';
export type { RequestOutcome, RequestRecord } from './request-record.ts';
export type { RequestView } from './request-view.ts';
export type { Scenario, ScenarioMatch, ScenarioRule } from './scenario.ts';
export { loadScenario, parseScenario } from './scenario-file.ts';
export { type Emulator, startEmulator } from './server.ts';
