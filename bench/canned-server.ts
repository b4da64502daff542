/**
 * The server that benchmarks run against, in a process of its own: no parsing, no accounting, no latency. It
 * answers `--turns` requests with one Read call each, then one with text, and so on. Prints its port, then for
 * every request the time it arrived (`process.hrtime`) and the length of its body.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { turns: { type: 'string', default: '0' }, file: { type: 'string', default: '' } },
});
const turns = Number(values.turns);

const sse = (event: { type: string; [field: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

function answer(blocks: string, stopReason: string): Buffer {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 5_000,
    cache_creation_input_tokens: 100,
    output_tokens: 1,
  };
  const message = {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    content: [],
    usage,
  };
  return Buffer.from(
    sse({ type: 'message_start', message }) +
      blocks +
      sse({ type: 'message_delta', delta: { stop_reason: stopReason }, usage: { output_tokens: 30 } }) +
      sse({ type: 'message_stop' }),
  );
}

function toolCall(id: number): string {
  const input = JSON.stringify({ file_path: values.file });
  return (
    sse({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: `toolu_${id}`, name: 'Read', input: {} },
    }) +
    sse({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: input } }) +
    sse({ type: 'content_block_stop', index: 0 })
  );
}

const TEXT =
  sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) +
  sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'done' } }) +
  sse({ type: 'content_block_stop', index: 0 });

let count = 0;
const server = http.createServer((request, response) => {
  process.stdout.write(`${process.hrtime.bigint()} ${request.headers['content-length']}\n`);
  request.resume();
  request.once('end', () => {
    count += 1;
    const more = count % (turns + 1) !== 0;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(more ? answer(toolCall(count), 'tool_use') : answer(TEXT, 'end_turn'));
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
server.keepAliveTimeout = 60_000;
process.once('disconnect', () => process.exit());
