/** Why a job ended, in one sentence for people, and where in the program. */
import { relative } from "node:path";
import { secondsText } from "../../../core/base/amounts.ts";
import { unreachable } from "../../../core/base/assert.ts";
import { describeEnding, type Threw } from "../../../core/service/ending.ts";
import type { GivenUp } from "../../../core/service/falls.ts";
import type { NodeLoss, Reason } from "../../../core/service/outcome.ts";
import type { ProcessNames } from "./process-names.ts";

type JobFailure = Exclude<Reason, { kind: "finished" | "frozen" }>;

export function describeFailure(reason: JobFailure, afterMs: number, names: ProcessNames): string {
  const after = `after ${secondsText(afterMs)}`;
  switch (reason.kind) {
    case "rank-failed": {
      const where = `${whereOf(reason)}${whyGivenUp(reason.givenUp)}${whoIsMissing(reason.unplayed)}`;
      return `${names.nameOf(reason.rank)} on node ${reason.node} failed ${after}: ${describeEnding(reason.ending)}${where}`;
    }
    case "node-failed":
      return `node ${reason.node} (${names.listOf(reason.ranks)}) ${describeEnd(reason.loss, after)}${whyGivenUp(reason.givenUp)}${whoIsMissing(reason.unplayed)}`;
    case "aborted":
      return `${names.nameOf(reason.rank)} on node ${reason.node} aborted the job ${after}${reason.message === "" ? "" : `: ${reason.message}`}`;
    case "interrupted":
      return `interrupted ${after} by ${reason.signal}`;
    case "timeout":
      return `stopped ${after}: the job's time is over`;
    case "stuck":
      return `stopped ${after}: ${reason.message}`;
    case "output-closed":
      return `stopped ${after}: nobody reads the output any more`;
    case "unfinalized":
    case "unusable":
      return reason.message;
    default:
      return unreachable(reason);
  }
}

function whereOf(reason: JobFailure): string {
  const place = framesOf(reason)[0];
  if (place === undefined) return "";
  return threwOf(reason) === undefined ? ` in ${place}` : ` (${placeOf(place)})`;
}

/** Which rule ended a job whose dead are otherwise replaced, and what to do. */
function whyGivenUp(givenUp: GivenUp | undefined): string {
  if (givenUp === undefined) return "";
  const { rule, falls } = givenUp;
  switch (rule) {
    case "same-call":
      return `; it is not started again: it fell ${falls} times at the same call, and nothing else kept it from getting further. The program seems to end its own process there (memory?); see what it does with --protocol none`;
    case "no-progress":
      return `; it is not started again: it fell ${falls} times, and no rank of the job got further than before. Start the job again with checkpoints more often (--checkpoint-every), or where nodes last longer`;
    default:
      return unreachable(rule);
  }
}

/** Ranks of which this was the last replica. */
function whoIsMissing(unplayed: readonly number[] | undefined): string {
  if (unplayed === undefined) return "";
  const ranks = `${unplayed.length === 1 ? "rank" : "ranks"} ${unplayed.join(", ")}`;
  return `; the job cannot go on: no replica of ${ranks} is left, and there is no checkpoint to go back to. Start it again with more replicas, on more nodes`;
}

/** The user's frames, with paths relative to the working directory where that is shorter. */
export function framesOf(reason: JobFailure): string[] {
  const frames = reason.kind === "rank-failed" && "frames" in reason.ending ? reason.ending.frames : [];
  return frames.map(withShortPath);
}

/** What else the program's error says. */
export function detailsOf(reason: JobFailure): string[] {
  return threwOf(reason)?.details.map(withShortPath) ?? [];
}

function threwOf(reason: JobFailure): Threw | undefined {
  return reason.kind === "rank-failed" && reason.ending.kind === "threw" ? reason.ending : undefined;
}

function withShortPath(line: string): string {
  return line.replace(/(^|\()(\/[^()]+?)(?=:\d+(?::\d+)?\)?$)/, (_all, before, path) => before + shorter(path));
}

const describeEnd = (loss: NodeLoss, after: string): string =>
  loss.kind === "left" ? `has left ${after}` : `failed ${after}: ${describeLoss(loss)}`;

function describeLoss(loss: Exclude<NodeLoss, { kind: "left" }>): string {
  switch (loss.kind) {
    case "signal":
      return `killed by ${loss.signal}`;
    case "exit":
      return `its process exited with code ${loss.code}`;
    case "silent":
      return `no sign of life for ${secondsText(loss.silentMs)}`;
    case "cut":
      return `its link to the dispatcher was cut: ${loss.why}`;
    case "moved":
      return "its ranks were moved";
    case "switched-off":
      return "the whole job was switched off";
    default:
      return unreachable(loss);
  }
}

/** "solve (src/solver.ts:12:5)" → "src/solver.ts:12:5". */
function placeOf(frame: string): string {
  return /\(([^()]+)\)$/.exec(frame)?.[1] ?? frame;
}

function shorter(path: string): string {
  const fromHere = relative("", path);
  return fromHere.length < path.length ? fromHere : path;
}
