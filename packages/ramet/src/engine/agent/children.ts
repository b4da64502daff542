/** The agents that one agent has started and that have not ended. */
import type { AgentId } from '../../schema/ids.ts';
import type { AgentHandle } from '../children/child-handle.ts';

export class Children {
  /** Null until there is one: most agents never have any. */
  #running: Map<AgentId, AgentHandle> | null = null;

  get running(): readonly AgentHandle[] {
    return [...(this.#running?.values() ?? [])];
  }

  get anyInBackground(): boolean {
    for (const child of this.#running?.values() ?? []) if (child.inBackground) return true;
    return false;
  }

  add(child: AgentHandle): void {
    this.#running ??= new Map();
    this.#running.set(child.id, child);
  }

  delete(id: AgentId): void {
    this.#running?.delete(id);
  }

  find(nameOrId: string): AgentHandle | undefined {
    const direct = this.#running?.get(nameOrId);
    if (direct !== undefined) return direct;
    for (const child of this.#running?.values() ?? []) if (child.name === nameOrId) return child;
    return undefined;
  }

  cancelAll(): void {
    for (const child of this.running) child.cancel();
  }

  stop(reason: string): void {
    for (const child of this.running) child.stop(reason);
  }

  /** Ends those that a call waits for; resolves when they have ended. */
  async stopAwaited(reason: string): Promise<void> {
    const awaited = this.running.filter(({ inBackground }) => !inBackground);
    for (const child of awaited) child.stop(reason);
    await Promise.all(awaited.map(({ result }) => result));
  }

  /** Resolves when all have ended. */
  async stopAll(reason: string): Promise<void> {
    const children = this.running;
    this.stop(reason);
    await Promise.all(children.map(({ result }) => result));
  }
}
