/** The floor of the fan-out benchmarks: a bare `node:http` client that sends as many bytes to the same server. */
import http from 'node:http';

export class BareClient implements Disposable {
  readonly #url: string;
  readonly #agent = new http.Agent({ keepAlive: true });

  constructor(url: string) {
    this.#url = `${url}/bare`;
  }

  /** Resolves when the answer is whole, with the milliseconds to its first bytes. */
  send(body: Buffer): Promise<number> {
    const started = performance.now();
    let firstMs = Number.NaN;
    return new Promise((resolve, reject) => {
      const request = http.request(this.#url, {
        method: 'POST',
        agent: this.#agent,
        headers: { 'content-type': 'application/json', 'content-length': body.byteLength },
      });
      request.once('response', (response) => {
        response.setEncoding('utf8');
        response.once('data', () => {
          firstMs = performance.now() - started;
        });
        response.on('data', () => {});
        response.once('end', () => resolve(firstMs));
      });
      request.once('error', reject);
      request.end(body);
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

/** The time to the first token of one request on a connection that is open. */
export async function bareFirstToken(url: string, bytes: number): Promise<number> {
  using client = new BareClient(url);
  const body = Buffer.alloc(bytes, 'x');
  await client.send(body);
  return await client.send(body);
}
