/**
 * What must hold after a round, however often and wherever its processes were killed. Each check looks at the evidence
 * alone and says in a line what is wrong; `packages/ramet/test/crash/campaign.test.ts` shows each of them fail.
 */
import type { EventOf } from '../../packages/ramet/src/schema/events.ts';
import type { Evidence } from './evidence.ts';
import { everyAgent } from './plan.ts';
import type { RecordedAgent } from './recorded.ts';

/** What an undisturbed run of the same plan has left. */
export interface Undisturbed {
  reports: ReadonlyMap<string, string>;
  files: Readonly<Record<string, string>>;
}

export interface CheckOptions {
  undisturbed: Undisturbed;
  /** An interrupted session continued with another prompt: agents wait to be asked. */
  mayBeGivenUp: boolean;
}

type Check = (evidence: Evidence, options: CheckOptions) => string[];

export const CHECKS: Readonly<Record<string, Check>> = {
  'the last run ends well and prints the answer': endsWell,
  'every agent reports what it reports undisturbed': sameReports,
  'the files are those of an undisturbed run': sameFiles,
  'no effect is there twice': effectsOnce,
  'no response on record is asked for again': neverAskedAgain,
  'every response on record is one that the server gave, once': responsesKnown,
  'every report reaches its parent once': reportsOnce,
  'every message is heard': messagesOnce,
  'every agent is done, and none twice there': everybodyDone,
  'nobody is done before it has reported': noneDoneTooEarly,
  'no agent is reported as interrupted instead of resumed': nobodyGivenUp,
  'no request is refused': requestsValid,
  'views and bill agree with the server': billAgrees,
  'nothing is left running or lying about': nothingLeft,
};

/** `check: what is wrong`, for every problem found. */
export function problemsOf(evidence: Evidence, options: CheckOptions): string[] {
  return Object.entries(CHECKS).flatMap(([name, check]) =>
    check(evidence, options).map((problem) => `${name}: ${problem}`),
  );
}

function endsWell({ end, alreadyEnded, recorded }: Evidence): string[] {
  if (alreadyEnded) return [];
  if (end.hung) return [`it hangs; it had said ${JSON.stringify(end.stdout + end.stderr)}`];
  const answer = mainOf(recorded.agents)?.lastText ?? '';
  if (end.code === 0 && end.stdout === `${answer}\n` && end.stderr === '') return [];
  return [`code ${end.code}, ${JSON.stringify(end.stdout)}, ${JSON.stringify(end.stderr)}`];
}

function sameReports({ recorded }: Evidence, { undisturbed }: CheckOptions): string[] {
  return Array.from(undisturbed.reports).flatMap(([task, report]) => {
    const said = agentsOf(recorded.agents, task).map(({ lastText }) => lastText);
    return said.length === 1 && said[0] === report
      ? []
      : [`${task} says ${JSON.stringify(said)}, not ${report}`];
  });
}

function sameFiles({ files }: Evidence, { undisturbed }: CheckOptions): string[] {
  const names = new Set([...Object.keys(files), ...Object.keys(undisturbed.files)]);
  return [...names].flatMap((name) => {
    const [found, wanted] = [sorted(files[name]), sorted(undisturbed.files[name])];
    return found === wanted ? [] : [`${name} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`];
  });
}

/** Commands of one agent follow each other; what was made up for comes later than it would have. */
function sorted(text: string | undefined): string | undefined {
  return text?.split('\n').sort().join('\n');
}

function effectsOnce({ effects }: Evidence): string[] {
  const counts = Map.groupBy(effects, (line) => line);
  return Array.from(counts).flatMap(([line, all]) =>
    all.length > 1 ? [`${line} is there ${all.length} times`] : [],
  );
}

/** Compactions and refreshes apart, which are questions aside. */
function neverAskedAgain({ recorded, asked }: Evidence): string[] {
  const conversation = asked.filter(({ moment }) => moment !== 'summary');
  return responsesIn(recorded.agents).flatMap(({ usage, source }) => {
    const first = asked[usage.output_tokens - 1];
    if (first === undefined || source !== undefined) return [];
    const again = conversation.filter(
      ({ prompt, number }) => prompt === first.prompt && number > first.number,
    );
    return again.map(
      ({ number, run }) => `request ${number} of run ${run} is request ${first.number} (${first.task})`,
    );
  });
}

function responsesKnown({ recorded, asked }: Evidence): string[] {
  const responses = responsesIn(recorded.agents);
  const doubled = responses.length - new Set(responses.map(({ usage }) => usage.output_tokens)).size;
  const strange = responses.filter(({ usage }) => {
    const sent = asked[usage.output_tokens - 1]?.record?.usage;
    return (
      sent?.input_tokens !== usage.input_tokens ||
      sent?.cache_read_input_tokens !== usage.cache_read_input_tokens
    );
  });
  return [
    ...(doubled > 0 ? [`${doubled} are on record twice`] : []),
    ...strange.map(({ usage }) => `response ${usage.output_tokens} is not what the server sent`),
  ];
}

function reportsOnce({ recorded }: Evidence): string[] {
  return Array.from(recorded.agents.values()).flatMap(({ parent, task, id }) => {
    if (parent === null) return [];
    const told = recorded.agents
      .get(parent)
      ?.told.filter((block) => textOf(block).includes(`Scope: ${task}. [`));
    const times = told?.length ?? 0;
    return times === 1 ? [] : [`${task} (${id}) is reported ${times} times to ${parent}`];
  });
}

/** A message that may have been sent is sent again as such; as it was it comes once at most. */
function messagesOnce({ plan, recorded }: Evidence): string[] {
  const heard = (mainOf(recorded.agents)?.told ?? [])
    .map(textOf)
    .filter((text) => text.startsWith('<agent-message'));
  return everyAgent(plan.root)
    .filter(({ talks }) => talks)
    .flatMap(({ task }) => {
      const first = heard.filter((text) => text.includes(`news from ${task}.`)).length;
      const again = heard.filter((text) => text.includes(`news from ${task}, again.`)).length;
      return first > 1 || first + again === 0
        ? [`${task} is heard ${first} times, and again ${again} times`]
        : [];
    });
}

function everybodyDone({ plan, shown, recorded }: Evidence): string[] {
  const open = shown.filter(({ status }) => status !== 'done');
  const wanted = everyAgent(plan.root).length;
  const tasks = Array.from(recorded.agents.values(), ({ task }) => task).sort();
  return [
    ...open.map(({ id, status, cause }) => `${id} is ${status}: ${cause}`),
    ...(shown.length === wanted
      ? []
      : [`there are ${shown.length} agents, not ${wanted}: ${tasks.join(' ')}`]),
  ];
}

function noneDoneTooEarly({ recorded }: Evidence): string[] {
  return Array.from(recorded.agents.values()).flatMap((agent) => {
    const ends = agent.events.filter((event) => event.type === 'agent.ended' && event.status === 'done');
    const report = agent.lastText.startsWith(`Scope: ${agent.task}. [`);
    return ends.length === 0 || (ends.length === 1 && report)
      ? []
      : [`${agent.task} is done ${ends.length} times, at last with ${JSON.stringify(agent.lastText)}`];
  });
}

function nobodyGivenUp({ asked }: Evidence, { mayBeGivenUp }: CheckOptions): string[] {
  if (mayBeGivenUp) return [];
  return asked
    .filter(({ moment }) => moment === 'resume')
    .map(({ task, run }) => `${task} had to ask in run ${run}`);
}

function requestsValid({ unmatched, asked }: Evidence): string[] {
  const refused = asked.filter(({ record }) => record?.outcome === 'refused');
  return [
    ...unmatched.map(({ message }) => message),
    ...refused.map(({ number, task }) => `request ${number} of ${task} was refused`),
  ];
}

function billAgrees({ recorded, billed, viewFailures }: Evidence): string[] {
  if (viewFailures.length > 0) return [...viewFailures];
  const answered = responsesIn(recorded.agents).map(({ usage }) => usage.output_tokens);
  const broken = recorded.events.map(({ event }) =>
    event.type === 'request.failed' ? (event.usage?.output_tokens ?? 0) : 0,
  );
  const sum = [...answered, ...broken].reduce((total, tokens) => total + tokens, 0);
  return sum === billed ? [] : [`the ledger has ${billed} output tokens, the server sent ${sum}`];
}

function nothingLeft({ processes, temporary, sessions }: Evidence): string[] {
  return [
    ...processes.map((line) => `a process: ${line}`),
    ...temporary.map((name) => `a temporary file: ${name}`),
    ...(sessions.length === 1 ? [] : [`${sessions.length} sessions`]),
  ];
}

function responsesIn(agents: ReadonlyMap<string, RecordedAgent>): EventOf<'response.completed'>[] {
  return Array.from(agents.values()).flatMap(({ events }) =>
    events.filter((event) => event.type === 'response.completed'),
  );
}

function agentsOf(agents: ReadonlyMap<string, RecordedAgent>, task: string): RecordedAgent[] {
  return Array.from(agents.values()).filter((agent) => agent.task === task);
}

function mainOf(agents: ReadonlyMap<string, RecordedAgent>): RecordedAgent | undefined {
  return agentsOf(agents, 'root')[0];
}

function textOf(block: Record<string, unknown>): string {
  return String(block.type === 'tool_result' ? block.content : block.text);
}
