/** Rules given to a flag: separated by commas or blanks, except inside parentheses. */
export function collectRules(text: string): string[] {
  const rules: string[] = [];
  let current = '';
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (depth > 0 || !/[,\s]/.test(character)) current += character;
    else {
      rules.push(current);
      current = '';
    }
  }
  return [...rules, current].filter((rule) => rule !== '');
}
