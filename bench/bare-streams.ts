/**
 * The least that reading the answers of many children costs: a program of its own that asks for the same streams, again and
 * again, and parses their events. It keeps no record and shows nothing. `node bare-streams.ts <url> <count>`.
 */
import http from 'node:http';

/** About as long as what a child sends. */
const REQUEST_BYTES = 12_000;

const [url = '', count = '1'] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });
const body = JSON.stringify({
  model: 'claude-sonnet-5',
  max_tokens: 16_000,
  stream: true,
  system: 'x'.repeat(REQUEST_BYTES),
  messages: [{ role: 'user', content: 'child work' }],
});
const headers = {
  'content-type': 'application/json',
  'x-api-key': 'bench',
  'anthropic-version': '2023-06-01',
  'content-length': Buffer.byteLength(body),
};

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}/v1/messages`, { method: 'POST', agent, headers }, (answer) => {
      let rest = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line.startsWith('data: ')) JSON.parse(line.slice(6));
      });
      if (answer.statusCode !== 200) reject(new Error(`the model answered with ${answer.statusCode}`));
      answer.once('end', resolve);
    });
    request.once('error', reject);
    request.end(body);
  });
}

async function forever(): Promise<never> {
  for (;;) await ask();
}

await Promise.all(Array.from({ length: Number(count) }, forever));
