/** A run of tasks has a lead that asks no model, unless a program gives it a prompt: nothing that is sent to it is read. */
import type { Agent, AgentFamily } from '../../../../engine/shapes.ts';
import { LEAD } from '../../../../schema/team.ts';
import { failure } from '../../../../tools/tool.ts';

export const NOBODY_READS = 'nobody reads what is sent to the lead of a run';

const REMEDY =
  'What is to be known about your task belongs into its evidence, or its note when it fails; a member reads what you send to it';

/** Members that write to such a lead learn that. */
export function refuseUnread(family: AgentFamily, lead: Pick<Agent, 'state'>): void {
  const { team } = family;
  if (team === null) return;
  const inner = team.send.bind(team);
  team.send = async (from, to, ...message) =>
    isLead(to) && lead.state.requests === 0
      ? failure(`Not sent: ${NOBODY_READS}. ${REMEDY}.`)
      : inner(from, to, ...message);
}

function isLead(name: string): boolean {
  return [LEAD, 'main'].includes(name.toLowerCase());
}
