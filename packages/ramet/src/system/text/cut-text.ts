/** The first `length` characters, one fewer where that would split a surrogate pair: half a pair is no valid JSON. */
export function headOf(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length);
}

/** The last `length` characters, likewise. */
export function tailOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.length - length;
  return text.slice(isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** `412 bytes`, `3.2 MB`. */
export function describeSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The beginning of a text, as many whole characters as fit into so many bytes of UTF-8. */
export function headOfBytes(text: string, most: number): string {
  const bytes = Buffer.from(text.slice(0, most + 1));
  let end = Math.min(most, bytes.length);
  if (end === bytes.length) return text.slice(0, most + 1);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
