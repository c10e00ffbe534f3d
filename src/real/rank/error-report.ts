/** An error of the user's program as plain data: what it says, and where in the user's own files it came from. */
import { inspect } from "node:util";
import type { Threw } from "../../core/service/ending.ts";

/** Frames kept of a stack: enough to find the place, few enough to read. */
const framesMax = 10;
/** Longest message kept; a program may put megabytes into one. */
const whatCharactersMax = 2000;
const detailsMax = 30;
const detailCharactersMax = 500;
/** Causes of causes, errors of an AggregateError. */
const causesMax = 3;

export function endingOfError(error: unknown): Threw {
  try {
    return isError(error) ? endingOf(error) : threw(`threw ${describeValue(error)}`);
  } catch {
    // An object that throws when it is looked at.
    return threw("threw something that cannot be shown");
  }
}

function threw(what: string, details: readonly string[] = [], frames: readonly string[] = []): Threw {
  return {
    kind: "threw",
    what: clip(what, whatCharactersMax),
    details: details.slice(0, detailsMax).map((line) => clip(line, detailCharactersMax)),
    frames,
  };
}

function endingOf(error: Error): Threw {
  const rejected = reasonOfRejection(error);
  if (rejected !== undefined) return threw(`rejected a promise with ${rejected}, and nobody caught it`);
  const [, ...more] = linesOf(error);
  return threw(headlineOf(error), [...more, ...causesOf(error)], userFrames(error.stack ?? ""));
}

/** Errors of another realm, or of a library's own making, are errors too. */
function isError(error: unknown): error is Error {
  if (error instanceof Error) return true;
  return typeof error === "object" && error !== null && "stack" in error && "message" in error;
}

/** Node wraps what is no error, in a sentence as long as a paragraph. */
function reasonOfRejection(error: Error): string | undefined {
  if (!("code" in error) || error.code !== "ERR_UNHANDLED_REJECTION") return undefined;
  return /with the reason (".*")\.$/s.exec(error.message)?.[1]?.replaceAll(/\s+/g, " ");
}

/** "TypeError: x is not a function". */
function headlineOf(error: Error): string {
  const name = String(error.name || "Error");
  const first = linesOf(error)[0] ?? "";
  return first === "" ? name : `${name}: ${first}`;
}

/** The lines of its message, without empty ones at the ends. */
function linesOf({ message }: Error): string[] {
  return String(message ?? "")
    .trim()
    .split("\n")
    .map((line) => line.trimEnd());
}

function causesOf(error: Error): string[] {
  const lines: string[] = [];
  for (let cause = error.cause; cause !== undefined && lines.length < causesMax; ) {
    lines.push(`caused by ${describeCause(cause)}`);
    cause = isError(cause) ? cause.cause : undefined;
  }
  const errors: unknown = "errors" in error ? error.errors : undefined;
  if (Array.isArray(errors)) for (const each of errors.slice(0, causesMax)) lines.push(`one is ${describeCause(each)}`);
  return lines;
}

function describeCause(cause: unknown): string {
  if (!isError(cause)) return describeValue(cause);
  const [place] = userFrames(cause.stack ?? "");
  if (place === undefined) return headlineOf(cause);
  return `${headlineOf(cause)} (${/\(([^()]+)\)$/.exec(place)?.[1] ?? place})`;
}

function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return String(value).split("\n", 1)[0]!;
  const oneLine = { compact: true, breakLength: Number.POSITIVE_INFINITY };
  return inspect(value, { ...oneLine, depth: 2, maxArrayLength: 10, maxStringLength: 200 });
}

function clip(text: string, charactersMax: number): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}

/** The frames that are neither Node's nor ours. */
function userFrames(stack: string): string[] {
  const frames: string[] = [];
  for (const line of stack.split("\n")) {
    const frame = /^\s+at (.+)$/.exec(line)?.[1]?.replace("file://", "");
    if (frame === undefined || !/:\d+:\d+\)?$/.test(frame)) continue;
    if (/\bnode:|\[worker eval\]/.test(frame) || frame.includes(__dirname)) continue;
    frames.push(frame.replace(/^(async |Object\.(?=<anonymous>))/, ""));
    if (frames.length === framesMax) break;
  }
  return frames;
}
