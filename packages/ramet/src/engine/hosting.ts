/** What the process that hosts an agent does for it while its loop runs elsewhere. */
export { closeCalls } from './calls/finish-calls.ts';
export { refused } from './calls/permit.ts';
export { isCompactionDue } from './compaction/context-state.ts';
export { recordResponse } from './exchange/exchange.ts';
export { endingOfAbort, newsHere, takeBill } from './loop/run-state.ts';
export { nextStep } from './loop/stop-reason.ts';
export { reopenTurn } from './resume/resume.ts';
