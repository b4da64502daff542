/**
 * The bare client of the CPU figures: the agent loop that a programmer writes with `fetch` in an afternoon. It keeps no
 * journal and asks for no permission, but makes the same requests with the same tools: it sends the conversation as
 * JSON, parses the streamed answer as it comes, carries out Agent and Read, and sends the results.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Block {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
}

interface StreamEvent {
  type: string;
  index?: number;
  content_block?: Block;
  delta?: { text?: string; partial_json?: string };
}

export class FetchLoop {
  readonly #url: string;
  readonly #directory: string;
  readonly #system: string;
  readonly #headers = { 'content-type': 'application/json', 'x-api-key': 'bench' };

  /** `bytes`: how long its prompt is, beside what is said. */
  constructor(url: string, directory: string, bytes: number) {
    this.#url = `${url}/v1/messages`;
    this.#directory = directory;
    this.#system = 'x'.repeat(bytes);
  }

  /** Works on a prompt to its end; returns the last text. */
  async run(prompt: string): Promise<string> {
    const messages: unknown[] = [{ role: 'user', content: [{ type: 'text', text: prompt }] }];
    for (;;) {
      const content = await this.#ask(messages);
      messages.push({ role: 'assistant', content });
      const calls = content.filter(({ type }) => type === 'tool_use');
      if (calls.length === 0) return content.map(({ text }) => text).join('');
      const results = await Promise.all(calls.map((call) => this.#call(call)));
      messages.push({ role: 'user', content: results });
    }
  }

  async #call({ id, name, input }: Block): Promise<unknown> {
    // The server is ours: these are the calls that it makes.
    const { prompt, file_path } = input as { prompt: string; file_path: string };
    const text =
      name === 'Agent'
        ? await this.run(prompt)
        : await readFile(join(this.#directory, file_path), { encoding: 'utf8' });
    return { type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text }] };
  }

  async #ask(messages: readonly unknown[]): Promise<Block[]> {
    const body = JSON.stringify({
      model: 'claude-sonnet-5',
      max_tokens: 32_000,
      stream: true,
      system: [{ type: 'text', text: this.#system }],
      messages,
    });
    const response = await fetch(this.#url, { method: 'POST', headers: this.#headers, body });
    if (!response.ok || response.body === null) throw new Error(`the server answers ${response.status}`);
    return readAnswer(response.body);
  }
}

async function readAnswer(body: ReadableStream<Uint8Array>): Promise<Block[]> {
  const decoder = new TextDecoder();
  const blocks: Block[] = [];
  const inputs: string[] = [];
  let rest = '';
  for await (const chunk of body) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      apply(JSON.parse(event.slice(event.indexOf('data: ') + 'data: '.length)), blocks, inputs);
    }
  }
  return blocks.map((block, index) =>
    block.type === 'tool_use' ? { ...block, input: JSON.parse(inputs[index] ?? '{}') } : block,
  );
}

function apply(
  { type, index = 0, content_block, delta }: StreamEvent,
  blocks: Block[],
  inputs: string[],
): void {
  if (type === 'content_block_start' && content_block !== undefined) blocks[index] = content_block;
  const block = blocks[index];
  if (type !== 'content_block_delta' || block === undefined) return;
  if (delta?.text !== undefined) block.text = (block.text ?? '') + delta.text;
  if (delta?.partial_json !== undefined) inputs[index] = (inputs[index] ?? '') + delta.partial_json;
}
