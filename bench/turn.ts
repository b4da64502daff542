/**
 * What one turn costs: CPU of a whole turn (request, streamed answer with one Read call, the Read, the journal)
 * above a bare HTTP client that sends the same bytes to the same server. Both run in this process, in turns,
 * against a server in another; CPU is `process.cpuUsage`, user and system, so waiting does not count.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSession } from 'ramet';
import { type CannedServer, startServer } from './start-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const TURNS = 100;
const ROUNDS = 20;
const WARM_UP = 12;

interface Round {
  engineMs: number;
  floorMs: number;
}

interface Measured {
  cpuMs: number;
  /** Bytes of each request, so that the floor sends as many. */
  sizes: number[];
}

export async function run(): Promise<void> {
  for (const [history, goal] of [
    [0, 0.5],
    [500_000, 1.5],
  ] as const) {
    const rounds = await measure(history);
    const above = rounds.map(({ engineMs, floorMs }) => engineMs - floorMs);
    console.log(
      `\none turn with one Read, ${history / 1_000} KB of history, ${ROUNDS} rounds of ${TURNS} turns`,
    );
    console.log(
      `  bare client   ${showSpread(spreadOf(rounds.map((round) => round.floorMs)), 'ms CPU per turn')}`,
    );
    console.log(
      `  ramet         ${showSpread(spreadOf(rounds.map((round) => round.engineMs)), 'ms CPU per turn')}`,
    );
    console.log(`  above it      ${showSpread(spreadOf(above), 'ms CPU per turn')}`);
    console.log(`  ${verdict('CPU per turn above a bare client', spreadOf(above).median, goal, 'ms')}`);
  }
}

async function measure(history: number): Promise<Round[]> {
  const place = mkdtempSync(join(tmpdir(), 'ramet-bench-'));
  const file = join(place, 'file.txt');
  writeFileSync(file, 'a line of text\n'.repeat(20));
  using server = await startServer(['--turns', String(TURNS), '--file', file]);
  const rounds: Round[] = [];
  try {
    for (let round = 0; round < ROUNDS + WARM_UP; round++) {
      const { cpuMs, sizes } = await engineRound(place, server, history);
      const floorMs = await floorRound(server, sizes);
      if (round >= WARM_UP) rounds.push({ engineMs: cpuMs / TURNS, floorMs: floorMs / TURNS });
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
  return rounds;
}

async function engineRound(place: string, server: CannedServer, history: number): Promise<Measured> {
  const env = {
    ...process.env,
    RAMET_HOME: join(place, 'home'),
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'bench',
  };
  await using session = await openSession({ cwd: place, env, permissionMode: 'bypassPermissions' });
  const before = process.cpuUsage();
  for await (const _ of session.run(`read it. ${'x'.repeat(history)}`)) {
    // The events are what a caller would look at.
  }
  const { user, system } = process.cpuUsage(before);
  const sizes: number[] = [];
  for (let turn = 0; turn <= TURNS; turn++) sizes.push((await server.nextRequest()).bytes);
  return { cpuMs: (user + system) / 1_000, sizes };
}

async function floorRound(server: CannedServer, sizes: readonly number[]): Promise<number> {
  const agent = new http.Agent({ keepAlive: true });
  const bodies = sizes.map((size) => Buffer.alloc(size, 'x'));
  const before = process.cpuUsage();
  for (const body of bodies) await bareRequest(server.url, agent, body);
  const { user, system } = process.cpuUsage(before);
  agent.destroy();
  for (const _ of sizes) await server.nextRequest();
  return (user + system) / 1_000;
}

function bareRequest(url: string, agent: http.Agent, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}/v1/messages`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', 'content-length': body.byteLength },
    });
    request.once('response', (response) => {
      response.setEncoding('utf8');
      response.on('data', () => {});
      response.once('end', resolve);
    });
    request.once('error', reject);
    request.end(body);
  });
}

if (import.meta.main) await run();
