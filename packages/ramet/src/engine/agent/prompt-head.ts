/** What stands before an agent's first message, frozen from its specification. */
import { freezeHead, type PromptHead } from '../../conversation/conversation.ts';
import { freezeBlock, freezeTool } from '../../conversation/frozen-block.ts';
import { toolSchema } from '../../tools/tool.ts';
import type { AgentSpec } from './runtime.ts';

export function headOf(spec: Pick<AgentSpec, 'model' | 'thinking' | 'tools' | 'system'>): PromptHead {
  return freezeHead({
    model: spec.model,
    thinking: spec.thinking,
    tools: spec.tools.map((tool) => freezeTool(toolSchema(tool))),
    system: spec.system.map((text) => freezeBlock({ type: 'text', text })),
  });
}
