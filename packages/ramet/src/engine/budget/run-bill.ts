/** The bill of a run. Agents that go on before their parent does spend on its next one from the start (RES-2). */
import type { Agent } from '../agent/agent.ts';
import { Spending } from './budget.ts';

/** Opens the bill of the next run before it begins. */
export function openBill(agent: Agent): Spending {
  const { budget, type, spending: parent } = agent.spec;
  const now = agent.runtime.clock.now();
  agent.nextBill ??= new Spending(budget, now, { label: `${type} agent`, parent });
  agent.spending = agent.nextBill;
  return agent.nextBill;
}

/** The bill of a run that begins. */
export function takeBill(agent: Agent): Spending {
  const bill = openBill(agent);
  agent.nextBill = null;
  return bill;
}
