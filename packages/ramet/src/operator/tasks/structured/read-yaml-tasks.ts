/** Tasks from YAML, with the place of every value. Aliases are refused: a few lines of them can stand for gigabytes. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { describeError } from '../../../schema/errors.ts';
import { TaskDraft } from '../task-draft.ts';
import { readTaskValues, type ValueOptions, type ValuePath, type ValuePlaces } from './task-values.ts';

const DEEPEST = 24;

export function readYamlTasks(text: string, options: Omit<ValueOptions, 'strict'>): TaskDraft {
  const lineCounter = new LineCounter();
  const failed = (offset: number, message: string): TaskDraft => {
    const draft = new TaskDraft(options.file);
    const { line, col } = lineCounter.linePos(offset);
    draft.problem({ line: Math.max(1, line), column: Math.max(1, col) }, `this is no valid YAML: ${message}`);
    return draft;
  };
  try {
    const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'silent' });
    const [error] = document.errors;
    if (error !== undefined) return failed(error.pos[0], error.message.split('\n', 1)[0] ?? '');
    const nodes = new Map<string, Node>();
    const value = plainValue(document.contents, [], nodes);
    return readTaskValues(value, placesOf(nodes, lineCounter), { ...options, strict: true });
  } catch (error) {
    if (error instanceof RefusedNode) return failed(error.offset, error.message);
    // Nesting deeper than the stack.
    return failed(0, describeError(error));
  }
}

class RefusedNode extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

function plainValue(node: unknown, path: ValuePath, nodes: Map<string, Node>): unknown {
  if (isAlias(node))
    throw new RefusedNode(node.range?.[0] ?? 0, 'aliases (*name) are not read: write the value out');
  if (!isMap(node) && !isSeq(node) && !isScalar(node)) return null;
  if (path.length > DEEPEST) throw new RefusedNode(node.range?.[0] ?? 0, 'it is nested too deep');
  nodes.set(JSON.stringify(path), node);
  if (isScalar(node)) return node.value;
  if (isSeq(node)) return node.items.map((item, index) => plainValue(item, [...path, index], nodes));
  return Object.fromEntries(
    node.items.map(({ key, value }) => {
      const name = isScalar(key) ? String(key.value) : '';
      return [name, plainValue(value, [...path, name], nodes)];
    }),
  );
}

function placesOf(nodes: ReadonlyMap<string, Node>, lineCounter: LineCounter): ValuePlaces {
  return {
    placeOf(path) {
      for (let length = path.length; length >= 0; length--) {
        const node = nodes.get(JSON.stringify(path.slice(0, length)));
        if (node === undefined) continue;
        const { line, col } = lineCounter.linePos(node.range?.[0] ?? 0);
        return { line, column: col };
      }
      return { line: 1, column: 1 };
    },
    markOf(path) {
      const node = nodes.get(JSON.stringify(path));
      if (!isScalar(node) || node.range === undefined || node.range === null) return null;
      const [start, end] = node.range;
      const quoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
      if (!quoted && node.type !== 'PLAIN') return null;
      return quoted ? { start: start + 1, end: end - 1 } : { start, end };
    },
  };
}
