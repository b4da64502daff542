/**
 * The server of the fan-out benchmarks, in a process of its own: it plays parent and children (`played-model.ts`), keeps
 * a prompt cache of its own (`prompt-cache.ts`) and notes every request. Prints its port. `POST /play` starts over with
 * an empty cache, `GET /records` tells what was asked since, `POST /bare` answers the bare client of a floor.
 */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PlayRecord } from './play-record.ts';
import { DEFAULT_PLAY, type Play, type PlayedAnswer, playAnswer, reportsIn } from './played-model.ts';
import { type PromptBill, PromptCache, type WireRequest } from './prompt-cache.ts';

let play: Play = DEFAULT_PLAY;
let cache = new PromptCache();
let records: PlayRecord[] = [];
let held: ServerResponse[] = [];
let handedOut = 0;

const sse = (event: { type: string; [field: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

function beginning(model: string, { input, write, read }: PromptBill): string {
  const usage = {
    input_tokens: Math.round(input),
    cache_creation_input_tokens: Math.round(write),
    cache_read_input_tokens: Math.round(read),
    output_tokens: 1,
  };
  const message = {
    id: `msg_${records.length}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    usage,
  };
  return sse({ type: 'message_start', message });
}

let calls = 0;

function blocksText({ text, calls: asked }: PlayedAnswer): string {
  const blocks = [
    ...(text === null ? [] : [{ start: { type: 'text', text: '' }, delta: { type: 'text_delta', text } }]),
    ...asked.map(({ name, input }) => ({
      start: { type: 'tool_use', id: `toolu_${++calls}`, name, input: {} },
      delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
    })),
  ];
  return blocks
    .map(
      ({ start, delta }, index) =>
        sse({ type: 'content_block_start', index, content_block: start }) +
        sse({ type: 'content_block_delta', index, delta }) +
        sse({ type: 'content_block_stop', index }),
    )
    .join('');
}

function ending(stopReason: string): string {
  const usage = { output_tokens: 30 };
  return (
    sse({ type: 'message_delta', delta: { stop_reason: stopReason }, usage }) + sse({ type: 'message_stop' })
  );
}

const INVENTED = { input: 10, write: 100, read: 5_000, marked: 5_110, begin: (): void => {} };

async function answerMessages(body: string, response: ServerResponse): Promise<void> {
  const at = process.hrtime.bigint();
  const request: WireRequest = JSON.parse(body);
  const bill = play.accounting ? cache.bill(request) : INVENTED;
  const answer = playAnswer(play, request, handedOut);
  if (answer.child === null) handedOut += answer.calls.length;
  const { begin, ...tokens } = bill;
  const record = {
    at: String(at),
    endedAt: '',
    child: answer.child,
    bytes: Buffer.byteLength(body),
    reports: answer.child === null ? reportsIn(request) : [],
    ...tokens,
  };
  records.push(record);
  if (play.firstTokenMs > 0) await sleep(play.firstTokenMs);
  begin();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const first = beginning(request.model, bill) + blocksText(answer);
  if (play.hold && answer.child !== null) {
    response.write(first);
    held.push(response);
    return;
  }
  record.endedAt = String(process.hrtime.bigint());
  response.end(first + ending(answer.calls.length > 0 ? 'tool_use' : 'end_turn'));
}

function beginPlay(body: string, response: ServerResponse): void {
  for (const open of held) open.end(ending('end_turn'));
  held = [];
  play = { ...DEFAULT_PLAY, ...JSON.parse(body) };
  cache = new PromptCache();
  records = [];
  handedOut = 0;
  response.end();
}

const BARE =
  beginning('bare', INVENTED) +
  blocksText({ child: null, text: 'Scope: child 1. Done.', calls: [] }) +
  ending('end_turn');

async function answerBare(response: ServerResponse): Promise<void> {
  if (play.firstTokenMs > 0) await sleep(play.firstTokenMs);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (!play.hold) return void response.end(BARE);
  response.write(BARE);
  held.push(response);
}

function handle({ url }: IncomingMessage, body: string, response: ServerResponse): Promise<void> | void {
  if (url === '/v1/messages') return answerMessages(body, response);
  if (url === '/play') return beginPlay(body, response);
  if (url === '/bare') return answerBare(response);
  response.end(JSON.stringify(records));
}

const server = http.createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => void handle(request, Buffer.concat(chunks).toString(), response));
});
server.keepAliveTimeout = 60_000;
server.listen({ port: 0, host: '127.0.0.1', backlog: 8_192 }, () =>
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`),
);
process.once('disconnect', () => process.exit());
