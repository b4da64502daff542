/**
 * The server of the resume benchmark, in a process of its own: a parent that starts agents in one message, half of them
 * forks, each of which reads files for a number of turns. While a session is built, it then leaves every agent in
 * mid-work: unanswered, in mid-stream, or in a command that does not end. Prints its port. `POST /play` chooses what is
 * played; `GET /records` tells what was asked since.
 */
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { blocksOf, PromptCache, type WireRequest } from './prompt-cache.ts';
import type { ResumePlay, ResumeRecord } from './start-resume-server.ts';

let play: ResumePlay = { children: 1, turns: 1, hold: false };
/** As it was when the session was left: every resume finds this one. */
let left = new PromptCache();
let cache = left;
let records: ResumeRecord[] = [];
let calls = 0;

interface Said {
  text: string;
  call?: { name: string; input: Record<string, unknown> }[];
  left?: 'unanswered' | 'mid-stream';
}

const TASK = /\bchild task (\d+)\b/;

function answerOf({ messages }: WireRequest): Said & { child: number | null } {
  const at = messages.findLastIndex(({ role, content }) => role === 'user' && taskIn(content) !== null);
  const child = at === -1 ? null : taskIn(messages[at]?.content ?? '');
  const turn = messages.slice(at + 1).filter(({ role }) => role === 'assistant').length;
  if (child === null) return { child, ...parentSays(turn) };
  if (turn < play.turns) return { child, text: 'Next.', call: [read(turn)] };
  return { child, ...(play.hold ? leave(child) : { text: `Scope: child ${child}. Done.` }) };
}

/** Only text that is no tool result: a fork has its parent's calls before its own task. */
function taskIn(content: WireRequest['messages'][number]['content']): number | null {
  const texts = blocksOf(content).filter(({ type }) => type === 'text');
  const found = TASK.exec(texts.at(-1)?.text ?? '');
  return found === null ? null : Number(found[1]);
}

function parentSays(turn: number): Said {
  if (turn > 0) return { text: 'All reports are in.' };
  const call = Array.from({ length: play.children }, (_, index) => ({
    name: 'Agent',
    input: {
      prompt: `Do child task ${index + 1} now.`,
      description: `task ${index + 1}`,
      ...(index % 2 === 0 ? {} : { subagent_type: 'general-purpose' }),
      ...(index % 4 < 2 ? {} : { run_in_background: true }),
    },
  }));
  return { text: 'I hand it out.', call };
}

function read(turn: number): { name: string; input: Record<string, unknown> } {
  return { name: 'Read', input: { file_path: `file-${turn}.txt` } };
}

function leave(child: number): Said {
  if (child % 3 === 0) return { text: 'I wait.', call: [{ name: 'Bash', input: { command: 'sleep 600' } }] };
  return { text: 'Unsaid.', left: child % 3 === 1 ? 'unanswered' : 'mid-stream' };
}

const sse = (event: { type: string; [field: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

function answer(body: string, response: ServerResponse): void {
  const at = process.hrtime.bigint();
  const request: WireRequest = JSON.parse(body);
  const { begin, ...bill } = cache.bill(request);
  const { child, text, call = [], left: how } = answerOf(request);
  records.push({
    at: String(at),
    child,
    bytes: Buffer.byteLength(body),
    left: how !== undefined || call[0]?.name === 'Bash',
    ...bill,
  });
  if (how === 'unanswered') return;
  begin();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(opening(request.model, bill) + textBlock(text));
  if (how === 'mid-stream') return;
  response.end(call.map(toolBlock).join('') + ending(call.length > 0 ? 'tool_use' : 'end_turn'));
}

function opening(
  model: string,
  { input, write, read: hit }: { input: number; write: number; read: number },
): string {
  const usage = {
    input_tokens: Math.round(input),
    cache_creation_input_tokens: Math.round(write),
    cache_read_input_tokens: Math.round(hit),
    output_tokens: 1,
  };
  const id = `msg_${records.length}`;
  const message = { id, type: 'message', role: 'assistant', model, content: [], usage };
  return sse({ type: 'message_start', message });
}

function textBlock(text: string): string {
  return block(0, { type: 'text', text: '' }, { type: 'text_delta', text });
}

function toolBlock({ name, input }: { name: string; input: Record<string, unknown> }, index: number): string {
  calls += 1;
  const start = { type: 'tool_use', id: `toolu_${process.pid}_${calls}`, name, input: {} };
  return block(index + 1, start, { type: 'input_json_delta', partial_json: JSON.stringify(input) });
}

function block(index: number, start: object, delta: object): string {
  return (
    sse({ type: 'content_block_start', index, content_block: start }) +
    sse({ type: 'content_block_delta', index, delta }) +
    sse({ type: 'content_block_stop', index })
  );
}

function ending(stop_reason: string): string {
  const usage = { output_tokens: 30 };
  return sse({ type: 'message_delta', delta: { stop_reason }, usage }) + sse({ type: 'message_stop' });
}

/** What is built begins with an empty cache, what is resumed with what was left. */
function begin(body: string, response: ServerResponse): void {
  play = JSON.parse(body);
  if (play.hold) left = new PromptCache();
  cache = play.hold ? left : left.copy();
  records = [];
  response.end();
}

const server = http.createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => {
    const body = Buffer.concat(chunks).toString();
    if (request.url === '/v1/messages') answer(body, response);
    else if (request.url === '/play') begin(body, response);
    else response.end(JSON.stringify(records));
  });
});
server.keepAliveTimeout = 60_000;
server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }, () =>
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`),
);
process.once('disconnect', () => process.exit());
