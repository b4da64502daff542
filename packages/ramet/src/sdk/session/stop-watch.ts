/** Looks for requests of other processes to stop agents of this session (`ramet stop`), as long as it has children. */

import { STOPPED } from '../../engine/agent/notices.ts';
import type { AgentFamily } from '../../engine/children/family.ts';
import { agentId, type SessionId } from '../../schema/ids.ts';
import { takeStopRequests } from '../stop-requests.ts';

/** One look at a folder that is seldom there takes some microseconds. */
const LOOK_EVERY_MS = 250;

export class StopWatch implements Disposable {
  readonly #place: { project: string; session: SessionId };
  readonly #family: () => AgentFamily;
  #timer: NodeJS.Timeout | null = null;

  constructor(place: { project: string; session: SessionId }, family: () => AgentFamily) {
    this.#place = place;
    this.#family = family;
  }

  /** A child has begun. The first look comes later: nothing waits for it. */
  begin(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  #look(): void {
    const family = this.#family();
    if (family.running.length === 0) {
      this[Symbol.dispose]();
      return;
    }
    const { session } = this.#place;
    takeStopRequests(this.#place, (agent) => family.findHandle(agentId(session, agent))?.stop(STOPPED));
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
