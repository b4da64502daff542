/** What a Makefile runs for goals, as far as it can be read without make: recipes, included files, `$(shell ...)`. */

export interface MakeReading {
  /** Scripts for the shell. */
  readonly scripts: readonly string[];
  /** Files that it includes, or patterns of them. */
  readonly includes: readonly string[];
  /** What is made on the way and has no recipe there: make looks for a rule of its own. */
  readonly unruled: readonly string[];
}

interface MakeRule {
  readonly targets: readonly string[];
  readonly needs: readonly string[];
  readonly recipe: string[];
  /** What `%` stands for. */
  readonly stem?: string;
}

interface MakeFile {
  readonly rules: MakeRule[];
  readonly variables: Map<string, string>;
  readonly includes: string[];
  readonly shells: string[];
}

const MOST_LINES = 20_000;
const DEEPEST = 6;
const MOST_GOALS = 200;
/** For the shell a variable that nobody knows. */
const MADE = '$$made_by_make';
const LONGEST = 64 << 10;
/** Names that make itself gives them. */
const COMPILERS: Readonly<Record<string, string>> = { CC: 'cc', CXX: 'g++', FC: 'f77', AS: 'as', PC: 'pc' };
const ASSIGNED = /^(?:(?:override|export|private)\s+)*([\w.-]+)\s*(\+=|\?=|!=|:{0,3}=)\s*(.*)$/;

export function makeRecipes(text: string, asked: readonly string[]): MakeReading {
  const file = readMakefile(text);
  const { rules, wanted } = rulesFor(file.rules, asked);
  const ruled = new Set(rules.filter(({ recipe }) => recipe.length > 0).flatMap(({ targets }) => targets));
  const scripts = rules.flatMap((rule) => rule.recipe.map((line) => plainLine(filled(line, file, rule))));
  const includes = file.includes.flatMap((line) => filled(line, file).split(/\s+/));
  return {
    scripts: [...file.shells, ...scripts].filter((one) => one !== ''),
    includes: includes.filter(Boolean),
    unruled: wanted.filter((one) => !ruled.has(one)),
  };
}

function readMakefile(text: string): MakeFile {
  const file: MakeFile = { rules: [], variables: new Map(), includes: [], shells: [] };
  let rule: MakeRule | null = null;
  for (const line of text.replace(/\\\r?\n/g, ' ').split(/\r?\n/, MOST_LINES)) {
    for (const [, script = ''] of line.matchAll(/\$\(shell\s+([^)]*)\)/g))
      file.shells.push(filled(script, file));
    if (line.startsWith('\t') && rule !== null) {
      rule.recipe.push(line);
      continue;
    }
    const plain = line.replace(/(^|[^\\])#.*$/, '$1').trim();
    for (const script of shellOf(plain)) file.shells.push(filled(script, file));
    const included = /^[-s]?include\s+(.+)$/.exec(plain)?.[1];
    const [, name, how, value = ''] = ASSIGNED.exec(plain) ?? [];
    if (included !== undefined) file.includes.push(included);
    else if (name !== undefined) assign(file, name, how ?? '=', value);
    else rule = readRule(file, plain) ?? (plain === '' ? rule : null);
  }
  return file;
}

/** What runs the lines of recipes, also where it is set for one goal. */
function shellOf(line: string): string[] {
  const [, name, value = ''] = /(?:^|[:\s])(SHELL|\.SHELLFLAGS)\s*[:?+]*=\s*(.+)$/.exec(line) ?? [];
  if (name === undefined) return [];
  return [name === 'SHELL' ? `${value} -c :` : `sh ${value} :`];
}

function assign({ variables, shells }: MakeFile, name: string, how: string, value: string): void {
  if (how === '!=') shells.push(value);
  if (how === '?=' && variables.has(name)) return;
  variables.set(name, how === '+=' ? `${variables.get(name) ?? ''} ${value}` : value);
}

function readRule(file: MakeFile, line: string): MakeRule | null {
  const [, targets = '', rest = ''] = /^([^:=]+)::?(?!=)(.*)$/.exec(line) ?? [];
  if (targets === '') return null;
  const [needs = '', ...recipe] = rest.split(';');
  const rule = {
    targets: filled(targets, file).trim().split(/\s+/),
    needs: filled(needs, file).replace('|', ' ').trim().split(/\s+/).filter(Boolean),
    recipe: recipe.length === 0 ? [] : [recipe.join(';')],
  };
  file.rules.push(rule);
  return rule;
}

/** Those of the goals and of what they need, with patterns filled in. Without a goal it is the first. */
function rulesFor(
  rules: readonly MakeRule[],
  asked: readonly string[],
): { readonly rules: MakeRule[]; readonly wanted: readonly string[] } {
  const named = asked.filter((one) => rules.some((rule) => ruleFor(rule, one) !== null));
  const first = rules.find(({ targets: [target = '.'] }) => !target.startsWith('.'));
  const wanted = new Set(named.length > 0 ? named : first?.targets);
  const used: MakeRule[] = [];
  for (const goal of wanted)
    for (const rule of rules) {
      const found = ruleFor(rule, goal);
      if (found === null) continue;
      used.push(found);
      if (wanted.size < MOST_GOALS) for (const one of found.needs) wanted.add(one);
    }
  return { rules: used, wanted: [...wanted] };
}

/** For one goal; null for a rule that makes something else. */
function ruleFor(rule: MakeRule, goal: string): MakeRule | null {
  if (rule.targets.includes(goal)) return rule;
  for (const target of rule.targets) {
    // `.in.txt:` is the old way to write `%.txt: %.in`.
    const [, from, to] = /^(\.\w+)(\.\w+)$/.exec(target) ?? [];
    const [start = '', end] = to === undefined ? target.split('%') : ['', to];
    if (end === undefined || !goal.startsWith(start) || !goal.endsWith(end)) continue;
    if (goal.length <= start.length + end.length) continue;
    const stem = goal.slice(start.length, goal.length - end.length);
    const needs = from === undefined ? rule.needs : [`%${from}`];
    return { ...rule, targets: [goal], needs: needs.map((one) => one.replace('%', stem)), stem };
  }
  return null;
}

/** A variable that is not set there is empty, as make has it. */
function filled(text: string, { variables }: MakeFile, rule?: MakeRule): string {
  const own: Readonly<Record<string, string>> = {
    '@': rule?.targets[0] ?? '',
    '<': rule?.needs[0] ?? '',
    '^': rule?.needs.join(' ') ?? '',
    '?': rule?.needs.join(' ') ?? '',
    '+': rule?.needs.join(' ') ?? '',
    '*': rule?.stem ?? (rule === undefined ? '' : MADE),
    MAKE: 'make',
    ...COMPILERS,
    CURDIR: '.',
  };
  let filledIn = text;
  for (let depth = 0; depth < DEEPEST; depth++) {
    const next = filledIn.replace(
      /\$\$|\$\(wildcard\s+([^()]*)\)|\$[({]([\w.@<^*?+-]+)[)}]|\$([@<^*?+])/g,
      (whole, pattern?: string, name = '', sign = '') => {
        if (whole === '$$') return whole;
        if (/^[@<^*?+][DF]$/.test(name)) return MADE;
        const value = pattern ?? variables.get(name) ?? own[name || sign] ?? '';
        // Of a list that a pattern fills in, only make knows each.
        return rule !== undefined && value.includes('%') ? MADE : value;
      },
    );
    if (next === filledIn || next.length > LONGEST) break;
    filledIn = next;
  }
  return filledIn;
}

/** Signs for make, and its way to write a dollar. */
function plainLine(line: string): string {
  return line.replace(/^[\s@+-]+/, '').replaceAll('$$', '$');
}
