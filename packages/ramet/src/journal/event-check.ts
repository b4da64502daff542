/**
 * The check that stands beside each event: CRC-32 of its bytes, begun from its time and its agent. It tells chance damage,
 * not forgery. Events of files before version 3 have none.
 */
import { crc32 } from 'node:zlib';
import type { AgentId } from '../schema/ids.ts';

export class EventCheck {
  readonly #agents: Map<AgentId, number> = new Map();

  of(time: number, agent: AgentId | null, data: string): number {
    return crc32(data, (this.#startOf(agent) ^ time) >>> 0);
  }

  #startOf(agent: AgentId | null): number {
    if (agent === null) return 0;
    let start = this.#agents.get(agent);
    if (start === undefined) {
      start = crc32(agent);
      this.#agents.set(agent, start);
    }
    return start;
  }
}
