/**
 * Runs the fresh bundle once, so that V8's compiled code is on disk before anybody waits for it. What runs decides what is
 * kept, for good: so it is a whole prompt, answered here. The cache belongs to this Node and these paths, which is why it is
 * made where the command will run and never published; another Node ignores it. A failure here only costs the saving.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LONGEST_MS = 20_000;

export async function warmCompileCache(packageRoot: string): Promise<void> {
  const cache = join(packageRoot, 'dist', '.compile-cache');
  rmSync(cache, { recursive: true, force: true });
  if (!existsSync(join(packageRoot, 'dist', 'cli', 'main.js'))) return;
  mkdirSync(cache);
  await runPrompt(join(packageRoot, 'bin', 'ramet.js')).catch(() => {});
  const env = { ...process.env, NODE_COMPILE_CACHE: cache };
  await run([join(packageRoot, 'dist/executors/child-main.js')], { env }).catch(() => {});
}

async function runPrompt(launcher: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'ramet-build-'));
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER);
    });
  });
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    // As listen() without a path gives it.
    const { port } = server.address() as AddressInfo;
    const { PATH } = process.env;
    const url = `http://127.0.0.1:${port}`;
    const home = join(place, 'home');
    const env = { PATH, HOME: place, RAMET_HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'build' };
    await run([launcher, '-p', 'Say something.'], { cwd: place, env });
  } finally {
    server.close();
    rmSync(place, { recursive: true, force: true });
  }
}

async function run(
  args: readonly string[],
  options: { cwd?: string; env: NodeJS.ProcessEnv },
): Promise<void> {
  await once(spawn(process.execPath, args, { ...options, stdio: 'ignore', timeout: LONGEST_MS }), 'exit');
}

const ANSWER = [
  {
    type: 'message_start',
    message: {
      ...{ id: 'msg_build', type: 'message', role: 'assistant', model: 'build', content: [] },
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Something.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('');
