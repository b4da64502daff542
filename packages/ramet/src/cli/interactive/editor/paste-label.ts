/** `[pasted 5.0 MB, 12,345 lines]`: how a paste is shown that is too long to be. */
export function pasteLabel(text: string): string {
  const lines = lineCount(text) - (text.endsWith('\n') ? 1 : 0);
  const size = sizeText(Buffer.byteLength(text));
  return `[pasted ${size}, ${lines.toLocaleString('en-US')} line${lines === 1 ? '' : 's'}]`;
}

export function lineCount(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
