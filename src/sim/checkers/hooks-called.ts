import { type RecordedCall, RecordingProtocol } from "../../core/ft/recording-protocol.ts";
import { collectiveContext } from "../../core/process/context.ts";
import type { Checker } from "./checker.ts";

/**
 * Under a recorded protocol: a send is posted once, released once and completed once, in that order; a message arrives once,
 * messages of one context and sender arrive in the order of their numbers, each is matched at most once, a receive is over once and has
 * a message by then, and a matched one is held once, unless its sender or its receiver dies meanwhile. A nonblocking collective begins once before the program sees it, and the process acts for one at a time. (Messages of collectives have the numbers of the moment when
 * their operation was started, and may be sent later than others.)
 */
export const hooksCalled: Checker = {
  name: "the protocol hears what the contract promises",
  check: ({ world, stuck, dead }) =>
    stuck.length > 0
      ? []
      : world.processes.flatMap(({ rank, core: { protocol } }) => {
          if (!(protocol instanceof RecordingProtocol)) return [];
          // A dead rank may have matched messages whose bytes never came, and so may a rank that matched messages of the dead.
          const mayBreakOff = (source: number): boolean => dead.has(rank) || dead.has(source);
          const { calls } = protocol;
          const problems = [
            ...sendProblems(calls),
            ...messageProblems(calls, mayBreakOff),
            ...collectiveProblems(calls),
          ];
          return problems.map((what) => `rank ${rank}: ${what}`);
        }),
};

function sendProblems(calls: readonly RecordedCall[]): string[] {
  const problems: string[] = [];
  /** The hooks called for each send; requests are used again, so a new posting starts anew. */
  const said = new Map<number, "posted" | "left" | "complete">();
  const steps = { sendPosted: "posted", sendMayLeave: "left", sendMayComplete: "complete" } as const;
  const before = { left: "posted", complete: "left" } as const;
  for (const { hook, request, answer } of calls) {
    if (!(hook in steps) || (hook !== "sendPosted" && answer === false)) continue;
    const step = steps[hook as keyof typeof steps];
    // A send may be cancelled after it was posted or after it left, and its request used again.
    const known = said.get(request);
    if (step !== "posted" && known !== before[step])
      problems.push(`send ${request} is ${step} after it was ${known ?? "nothing"}`);
    said.set(request, step);
  }
  return problems;
}

function collectiveProblems(calls: readonly RecordedCall[]): string[] {
  const problems: string[] = [];
  const begun = new Set<number>();
  let acting: number | null = null;
  for (const { hook, request } of calls) {
    if (hook === "collectiveBegins" && begun.has(request)) problems.push(`collective ${request} begins twice`);
    if (hook === "collectiveBegins") begun.add(request);
    if (hook === "collectiveSeen") begun.delete(request);
    if (hook === "actsFor" && acting !== null) problems.push(`acts for collectives ${acting} and ${request} at once`);
    if (hook === "actsForProgram" && acting === null) problems.push("acts for the program, and did before");
    if (hook === "collectiveSeen" && acting !== null) problems.push(`collective ${request} is seen by another`);
    if (hook === "actsFor") acting = request;
    if (hook === "actsForProgram") acting = null;
  }
  if (acting !== null) problems.push(`acts for collective ${acting} to the end`);
  return problems;
}

const isCollective = (context: number): boolean => collectiveContext(context) === context;

function messageProblems(calls: readonly RecordedCall[], mayBreakOff: (source: number) => boolean): string[] {
  const problems: string[] = [];
  const last = new Map<string, number>();
  const arrived = new Set<string>();
  const held = new Map<string, number>();
  const matched = new Map<string, number>();
  const over = new Map<string, number>();
  const brokenOff = new Set<string>();
  for (const { hook, source, sequence, context, answer } of calls) {
    const key = `message ${sequence} of rank ${source}`;
    if (hook === "arrived") {
      const stream = `${source} ${context}`;
      const isLate = !isCollective(context) && sequence <= (last.get(stream) ?? -1);
      if (isLate || arrived.has(key)) problems.push(`${key} arrives too late`);
      arrived.add(key);
      last.set(stream, sequence);
    }
    const isOver = hook === "seen" && answer === true;
    if (isOver && !matched.has(key)) problems.push(`${key} is seen and was not matched`);
    const counts = hook === "held" ? held : hook === "matched" ? matched : isOver ? over : null;
    counts?.set(key, (counts.get(key) ?? 0) + 1);
    if (mayBreakOff(source)) brokenOff.add(key);
  }
  for (const [key, times] of matched) if (times !== 1) problems.push(`${key} is matched ${times} times`);
  for (const [key, times] of over) if (times !== 1) problems.push(`${key} is received ${times} times`);
  for (const [key, times] of held) if (times !== 1) problems.push(`${key} is held ${times} times`);
  for (const key of matched.keys()) {
    if (!held.has(key) && !brokenOff.has(key)) problems.push(`${key} is matched and never held`);
  }
  return problems;
}
