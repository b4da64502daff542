/** What comes of asking whether a call may run: plain data, since an agent's process asks its host. */
import type { StoreName } from '../../memory/files/memory-places.ts';
import type { Confinement } from '../../permission/assessment.ts';
import type { UnreadableFiles } from '../../permission/decide.ts';
import type { ToolUseBlock } from '../../schema/content.ts';

export interface PermitRequest {
  readonly call: ToolUseBlock;
  /** A person has typed it. */
  readonly byUser?: true;
  /** Of a call that was in the read-only sandbox, and is now to run outside it. */
  readonly outside?: {
    /** Why the sandbox stopped it; null when it ran, and only the strict rules may let it run again. */
    readonly stopped: string | null;
  };
}

/** What hooks say about a call, besides whether it may run. */
export interface HookNotes {
  /** The input that the call runs with, as JSON. */
  readonly changed?: Readonly<Record<string, unknown>> | undefined;
  /** It was changed by the one who was asked, and not by a hook. */
  readonly changedByAnswer?: true | undefined;
  /** Told to the model with the result. */
  readonly contexts?: readonly string[] | undefined;
  /** The run ends after the call; why. */
  readonly stop?: string | undefined;
}

/** A call that writes a file of memory: through its store. */
export interface MemoryTarget {
  readonly store: string;
  readonly name: StoreName;
  /** Relative to it. */
  readonly file: string;
}

export type Permit = (
  | {
      readonly kind: 'permitted';
      readonly confinement: Confinement;
      /** What a tool that looks through many files must leave out. */
      readonly unreadable?: UnreadableFiles | undefined;
      /** A command that keeps the machine busy: it needs a place. */
      readonly heavy?: true | undefined;
      readonly memory?: MemoryTarget | undefined;
    }
  | {
      readonly kind: 'refused';
      readonly reason: string;
      /** Nobody denied it: it would have failed. */
      readonly wouldFail?: true;
    }
) & { readonly hooks?: HookNotes | undefined };

export function refused(reason: string): Permit {
  return { kind: 'refused', reason };
}
