/** An error of the user's program as plain data: what it says, and where in the user's own files it came from. */
import type { Threw } from "../../core/service/ending.ts";

/** Frames kept of a stack: enough to find the place, few enough to read. */
const framesMax = 10;
/** Longest message kept; a program may put megabytes into one. */
const whatCharactersMax = 2000;

export function endingOfError(error: unknown): Threw {
  if (!(error instanceof Error) && !hasStack(error)) {
    return { kind: "threw", what: clip(`threw ${describeValue(error)}`), frames: [] };
  }
  const { name, message, stack } = error;
  const firstLine = (message.split("\n", 1)[0] ?? "").trim();
  return {
    kind: "threw",
    what: clip(firstLine === "" ? name : `${name}: ${firstLine}`),
    frames: userFrames(stack ?? ""),
  };
}

/** Errors of another realm, or of a library's own making, are errors too. */
function hasStack(error: unknown): error is Error {
  return typeof error === "object" && error !== null && "stack" in error && "message" in error;
}

function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  try {
    return String(value);
  } catch {
    return "something that cannot be shown";
  }
}

function clip(text: string): string {
  return text.length > whatCharactersMax ? `${text.slice(0, whatCharactersMax)}…` : text;
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
