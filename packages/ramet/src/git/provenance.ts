/** Who wrote which line, and what a file held: loaded when it is asked for. */
export { blameLines } from './provenance/blame-lines.ts';
export { createFileContents } from './provenance/file-contents.ts';
export { withTrailers } from './provenance/trailers.ts';
