import { describe, expect, test } from 'vitest';
import {
  messageAppended,
  recorded,
  requestStarted,
  responseCompleted,
  toolCompleted,
  toolStarted,
} from '../../../test/recorded-events.ts';
import { emptyTranscript, extendTranscript, transcriptOf } from './transcript.ts';

const prefix = { model: 'm', thinking: null, tools: ['t1', 't2'], system: ['s'] };

const events = recorded(
  ['a', { type: 'prefix.frozen', ...prefix }],
  ['a', messageAppended({ blocks: ['u1', 'u2'], shared: 1 })],
  ['b', messageAppended({ blocks: ['other agent'] })],
  ['a', requestStarted({ request: 'r1' })],
  ['a', responseCompleted({ request: 'r1', blocks: ['text', 'call'] })],
  ['a', toolStarted('call-1', 'Bash')],
  ['a', toolStarted('call-2', 'Read')],
  ['a', toolCompleted('call-2', 'Read')],
  ['a', messageAppended({ cause: 'tool_results', blocks: ['result'] })],
  ['a', requestStarted({ request: 'r2', turn: 2 })],
  ['a', responseCompleted({ request: 'r2', blocks: ['refused'], kept: false })],
);

describe('the transcript of an agent', () => {
  test('is empty where nothing is recorded', () => {
    expect(transcriptOf([], 'a')).toEqual(emptyTranscript('a'));
  });

  test('holds its prefix and its messages in order, kept responses among them', () => {
    const transcript = transcriptOf(events, 'a');
    expect(transcript.prefix).toEqual(prefix);
    expect(transcript.messages).toEqual([
      { role: 'user', blocks: ['u1', 'u2'], shared: 1, cause: 'prompt' },
      { role: 'assistant', blocks: ['text', 'call'], shared: 0, cause: 'response' },
      { role: 'user', blocks: ['result'], shared: 0, cause: 'tool_results' },
    ]);
  });

  test('tells calls that may have taken effect from those that never began', () => {
    const transcript = transcriptOf(events, 'a');
    expect(transcript.started).toEqual(new Set(['call-1', 'call-2']));
    expect(transcript.results).toEqual(new Map([['call-2', 'result-of-call-2']]));
  });

  test('has the last request, answered or not', () => {
    expect(transcriptOf(events, 'a').lastRequest).toMatchObject({ request: 'r2', turn: 2 });
    expect(transcriptOf(events.slice(0, 3), 'a').lastRequest).toBeNull();
  });

  test('is the same when it is read in two parts', () => {
    const transcript = transcriptOf(events.slice(0, 5), 'a');
    for (const event of events.slice(transcript.seq)) extendTranscript(transcript, event);
    expect(transcript).toEqual(transcriptOf(events, 'a'));
  });
});
