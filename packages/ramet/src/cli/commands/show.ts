/** `ramet show`: one session or one agent of it, with its conversation and its bill. */
import { findPlace } from '../../sdk/place.ts';
import { tellDamage } from '../../views/session-view.ts';
import {
  type TranscriptOptions,
  transcriptObject,
  transcriptTexts,
  viewTranscript,
} from '../../views/transcript.ts';
import type { CommandIo } from '../io.ts';
import { paintSpeaker, styleFor } from '../output/painted.ts';

interface ShowFlags extends TranscriptOptions {
  json?: boolean;
}

export function show(wanted: string | undefined, flags: ShowFlags, io: CommandIo): void {
  using view = viewTranscript(wanted, findPlace(io).project);
  if (flags.json) io.out(`${JSON.stringify(transcriptObject(view, flags))}\n`);
  else
    for (const text of transcriptTexts(view, { ...flags, columns: io.columns }))
      io.out(paintSpeaker(text, styleFor(io)));
  tellDamage(view, io);
}
