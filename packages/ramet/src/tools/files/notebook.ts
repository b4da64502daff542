/** A Jupyter notebook as text: every cell with its index, source and text outputs. */
import * as z from '../../schema/zod.ts';
import { stripAnsi } from '../../system/text/visible-text.ts';

const Lines = z.union([z.string(), z.array(z.string())]);
const Output = z.object({
  output_type: z.string(),
  text: z.optional(Lines),
  data: z.optional(z.record(z.string(), z.unknown())),
  traceback: z.optional(z.array(z.string())),
});
const Cell = z.object({ cell_type: z.string(), source: Lines, outputs: z.optional(z.array(Output)) });
const Notebook = z.object({ cells: z.array(Cell) });

/** Null when the text is no notebook; it is then shown like any other file. */
export function renderNotebook(text: string): string | null {
  const parsed = Notebook.safeParse(parseOrNull(text));
  return parsed.success ? parsed.data.cells.map(renderCell).join('\n') : null;
}

function renderCell(cell: z.infer<typeof Cell>, index: number): string {
  const outputs = (cell.outputs ?? []).map(renderOutput).filter((output) => output !== '');
  const parts = [`[cell ${index}: ${cell.cell_type}]`, joined(cell.source)];
  if (outputs.length > 0) parts.push(`[output of cell ${index}]`, ...outputs);
  return `${parts.join('\n')}\n`;
}

function renderOutput(output: z.infer<typeof Output>): string {
  if (output.traceback !== undefined) return stripAnsi(output.traceback.join('\n'));
  if (output.text !== undefined) return stripAnsi(joined(output.text));
  const plain = Lines.safeParse(output.data?.['text/plain']);
  const others = Object.keys(output.data ?? {}).filter((type) => !type.startsWith('text/'));
  const notes = others.map((type) => `(${type} output left out)`);
  return [...(plain.success ? [joined(plain.data)] : []), ...notes].join('\n');
}

function joined(lines: string | string[]): string {
  return (typeof lines === 'string' ? lines : lines.join('')).replace(/\n$/, '');
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
