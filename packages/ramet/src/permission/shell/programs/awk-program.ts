/**
 * Does an awk program only print to its output? `system`, pipes, `getline` and `print > file` do more. Strings and
 * patterns are taken out first, so that `/a|b/` and `"a > b"` do not look like pipes and redirects.
 */
export function awkOnlyPrints(program: string): boolean {
  // After a joined line nobody knows whether a slash divides or opens a pattern.
  if (/system|getline|@|close\s*\(|`|\\\n/.test(program)) return false;
  const code = withoutLiterals(program);
  if (code === null) return false;
  // With its strings still in it, a `;` or `}` may be part of one and end nothing.
  const statement = code === program ? '[^]*' : '[^;}]*';
  return !/(?<!\|)\|(?!\|)/.test(code) && !new RegExp(String.raw`\bprintf?\b${statement}>`).test(code);
}

/**
 * Null when it cannot be told where a pattern ends. A slash that looks like a division may still open one (after
 * `print`, after a condition): then nothing is taken out.
 */
function withoutLiterals(program: string): string | null {
  let code = '';
  let index = 0;
  while (index < program.length) {
    const character = program[index] ?? '';
    const opensPattern = character === '/' && /(?:^|[({,;!~&|?:=\n}])\s*$/.test(code);
    if (character === '#') index = lineEnd(program, index);
    else if (character === '/' && !opensPattern) return program;
    else if (character !== '"' && !opensPattern) {
      code += character;
      index++;
    } else {
      const end = literalEnd(program, index, character);
      if (end === -1) return null;
      if (opensPattern && /\[[^\]]*$/.test(program.slice(index + 1, end))) return null;
      code += '""';
      index = end + 1;
    }
  }
  return code;
}

function lineEnd(program: string, from: number): number {
  const end = program.indexOf('\n', from);
  return end === -1 ? program.length : end;
}

function literalEnd(program: string, from: number, quote: string): number {
  for (let index = from + 1; index < program.length; index++) {
    if (program[index] === '\\') index++;
    else if (program[index] === quote) return index;
    else if (program[index] === '\n') return -1;
  }
  return -1;
}
