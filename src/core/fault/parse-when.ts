/** The moment of an entry: `at …`, `in recovery …`, `every …`. */
import type { Fault, SetScope, Span, When } from "./plan.ts";
import { Refusal, type Words } from "./words.ts";

/** Shapes outside these bounds draw times that are nearly zero or never come. */
const shapeBounds = { least: 0.1, most: 100 };
/** A shorter period would keep a job from doing anything else. */
const periodMsMin = 1;

export function parseWhen(words: Words, fault: Fault): When {
  if (words.take("in")) {
    words.expect("recovery");
    return parseRecovery(words);
  }
  if (words.take("every")) return parseEvery(words);
  words.expect("at");
  const span = parseSpan(words, 0);
  if (span !== null) return { kind: "time", after: span };
  const moment = words.oneOf(["call", "checkpoint", "commit", "log", "init", "finish"]);
  switch (moment) {
    case "call":
      return parseCall(words, fault);
    case "checkpoint":
      return parseCheckpoint(words);
    case "commit":
      return {
        kind: "checkpoint",
        window: "commit",
        number: words.wholeNumberIfAny(1),
        set: parseScope(words) ?? "own",
      };
    case "log":
      words.expect("full");
      return { kind: "log-full", set: parseScope(words) ?? "own" };
    case "init":
      return { kind: "init", rank: parseRank(words) };
    case "finish":
      return { kind: "finish" };
  }
}

/** The moments of faults that concern one rank alone: a time, or a call of its own. */
export function parseSimpleWhen(words: Words): When {
  words.expect("at");
  const span = parseSpan(words, 0);
  if (span !== null) return { kind: "time", after: span };
  words.expect("call");
  return { kind: "call", count: words.wholeNumber(1), rank: null };
}

/** A time, fixed or drawn; null when the next words are no time. */
function parseSpan(words: Words, leastMs: number): Span | null {
  const ms = words.timeIfAny(leastMs);
  if (ms !== null) return words.take("±") ? around(ms, words.time()) : { kind: "fixed", ms };
  if (!words.take("random")) return null;
  const kind = words.oneOf(["between", "exponential", "weibull"]);
  switch (kind) {
    case "between": {
      const least = words.time();
      words.expect("and");
      const most = words.time(leastMs);
      if (least > most) throw new Refusal("nothing is between a later and an earlier time; give the earlier one first");
      return { kind, leastMs: least, mostMs: most };
    }
    case "exponential":
      words.expect("mean");
      return { kind, meanMs: words.time(leastMs) };
    case "weibull": {
      words.expect("shape");
      const shape = words.decimal(shapeBounds);
      words.expect("scale");
      return { kind, shape, scaleMs: words.time(leastMs) };
    }
  }
}

function around(ms: number, spreadMs: number): Span {
  if (spreadMs < ms) return { kind: "around", ms, spreadMs };
  throw new Refusal(`what follows ± must be less than what precedes it; the most here is below ${ms}ms`);
}

function parseEvery(words: Words): When {
  const period = parseSpan(words, periodMsMin) ?? words.fail();
  let times = parseTimes(words);
  const fromMs = words.take("from") ? words.time() : null;
  times ??= parseTimes(words);
  return { kind: "every", period, times, fromMs };
}

function parseTimes(words: Words): number | null {
  return words.take("times") ? words.wholeNumber(1) : null;
}

function parseCall(words: Words, fault: Fault): When {
  const count = words.wholeNumber(1);
  const rank = parseRank(words);
  if (rank !== null || hasRanks(fault)) return { kind: "call", count, rank };
  // Neither a service nor a link makes calls, and a random victim is not known beforehand.
  throw new Refusal(`it does not say whose call; allowed: "at call ${count} of rank 0"`);
}

function hasRanks(fault: Fault): boolean {
  if (fault.kind === "kill") return fault.victim.kind !== "service" && fault.victim.kind !== "random";
  return (fault.kind === "stop" || fault.kind === "continue") && fault.node !== "random";
}

function parseCheckpoint(words: Words): When {
  const number = words.wholeNumberIfAny(1);
  let set = parseScope(words);
  const window = (["before", "while", "after"] as const).find((word) => words.take(word)) ?? "after";
  set ??= parseScope(words);
  return { kind: "checkpoint", window, number, set: set ?? "own" };
}

function parseRecovery(words: Words): When {
  let set = parseScope(words);
  const number = words.take("number") ? words.wholeNumber(1) : null;
  set ??= parseScope(words);
  return { kind: "recovery", number, set: set ?? "own" };
}

/** `of set 1`, `of any set`. */
function parseScope(words: Words): SetScope | null {
  if (!words.take("of")) return null;
  if (words.take("set")) return words.wholeNumber(0);
  words.expect("any");
  words.expect("set");
  return "any";
}

function parseRank(words: Words): number | null {
  if (!words.take("of")) return null;
  words.expect("rank");
  return words.wholeNumber(0);
}
