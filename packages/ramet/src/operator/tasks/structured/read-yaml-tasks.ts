/** Tasks from YAML, with the place of every value. Aliases are refused: a few lines of them can stand for gigabytes. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar } from 'yaml';
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
    return readTaskValues(value, placesOf(nodes, lineCounter, text), { ...options, strict: true });
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

/** After the first value that is whole on its line. */
function newMarkIn(node: Node | undefined, text: string): ReturnType<ValuePlaces['newMarkOf']> {
  if (isScalar(node)) return markedText(node, text);
  if (!isMap(node)) return null;
  for (const { key, value } of node.items) {
    if (!isScalar(key) || !isScalar(value) || !isOneLine(value, text)) continue;
    const [from, end] = [key.range?.[0] ?? 0, value.range?.[1] ?? 0];
    if (node.flow === true) return { start: end, end, around: [', status: ', ''] };
    const lineEnd = text.indexOf('\n', end);
    const at = lineEnd === -1 ? text.length : lineEnd;
    const indent = ' '.repeat(from - (text.lastIndexOf('\n', from - 1) + 1));
    return { start: at, end: at, around: [`\n${indent}status: `, ''] };
  }
  return null;
}

/** A task that is a text alone becomes an entry with a title. */
function markedText(node: Scalar, text: string): ReturnType<ValuePlaces['newMarkOf']> {
  if (!isOneLine(node, text)) return null;
  const [start, end] = [node.range?.[0] ?? 0, node.range?.[1] ?? 0];
  const title = node.type === 'PLAIN' ? JSON.stringify(node.value) : text.slice(start, end);
  return { start, end, around: [`{ title: ${title}, status: `, ' }'] };
}

function isOneLine({ type, range }: Scalar, text: string): boolean {
  if (range === undefined || range === null) return false;
  const isInLine = type === 'PLAIN' || type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE';
  return isInLine && range[1] > range[0] && !text.slice(range[0], range[1]).includes('\n');
}

function placesOf(nodes: ReadonlyMap<string, Node>, lineCounter: LineCounter, text: string): ValuePlaces {
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
    newMarkOf: (path) => newMarkIn(nodes.get(JSON.stringify(path)), text),
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
