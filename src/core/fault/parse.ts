/**
 * Text to fault plan. Entries are separated by semicolons or line ends, `#` begins a comment. Every entry is a fault and a
 * moment, with `for <time>` before or after the moment; words that qualify a moment may stand in any order.
 */
import { parseSimpleWhen, parseWhen } from "./parse-when.ts";
import {
  type Entry,
  entriesMax,
  type Fault,
  type FaultPlan,
  flippedBitsMax,
  type LayerVictim,
  type LinkPattern,
  services,
  type Victim,
  type When,
} from "./plan.ts";
import { Refusal, Words } from "./words.ts";

/** The plan, or the reason why the text is none, in one line. */
export function parsePlan(text: string): FaultPlan | string {
  const texts = text
    .split(/\r\n?|\n/)
    .flatMap((line) => line.replace(/#.*/, "").split(";"))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  if (texts.length > entriesMax)
    return `Cannot read the fault plan: it has ${texts.length} entries, and the most is ${entriesMax}`;
  const entries: Entry[] = [];
  for (const [index, entryText] of texts.entries()) {
    const entry = parseEntry(
      entryText,
      entries.some((it) => it.kind === "seed"),
    );
    if (typeof entry === "string") return `Cannot read the fault plan: entry ${index + 1}, "${entryText}": ${entry}`;
    entries.push(entry);
  }
  return { entries };
}

/** The entry, or the mistake in it. */
function parseEntry(text: string, hasSeed: boolean): Entry | string {
  const words = new Words(text);
  try {
    const entry = words.take("seed") ? parseSeed(words, hasSeed) : parseFault(words);
    words.end();
    return entry;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

function parseSeed(words: Words, hasSeed: boolean): Entry {
  if (hasSeed) throw new Refusal("there is a seed already; give one");
  return { kind: "seed", seed: words.wholeNumber(0) };
}

/** Of a message on its way: its number is the moment. */
const sending: When = { kind: "init", rank: null };

function parseFault(words: Words): Entry {
  const fault = parseWhat(words);
  const lasts = fault.kind === "stop" || fault.kind === "cut" || fault.kind === "delay";
  let forMs = lasts && words.take("for") ? words.time() : null;
  if (fault.kind === "flip" && fault.message !== null) return { kind: "fault", fault, when: sending };
  const isSimple = fault.kind === "layer-kill" || fault.kind === "flip";
  const when = isSimple ? parseSimpleWhen(words) : parseWhen(words, fault);
  if (!lasts) return { kind: "fault", fault, when };
  if (forMs === null && words.take("for")) forMs = words.time();
  return { kind: "fault", fault: { ...fault, forMs }, when };
}

function parseWhat(words: Words): Fault {
  const kind = words.oneOf(["kill", "layer-kill", "stop", "continue", "cut", "delay", "restore", "flip"]);
  switch (kind) {
    case "kill":
      return { kind, victim: parseVictim(words) };
    case "layer-kill":
      return { kind, victim: parseLayerVictim(words) };
    case "stop": {
      const isRandom = words.take("random");
      words.expect("node");
      return { kind, node: isRandom ? "random" : words.wholeNumber(0), forMs: null };
    }
    case "continue":
      words.expect("node");
      return { kind, node: words.wholeNumber(0) };
    case "cut":
      return { kind, link: parseLink(words), forMs: null };
    case "delay": {
      const link = parseLink(words);
      words.expect("by");
      return { kind, link, byMs: words.time(), forMs: null };
    }
    case "restore":
      return { kind, link: parseLink(words) };
    case "flip": {
      const bits = words.wholeNumber(1);
      if (bits > flippedBitsMax) throw new Refusal(`"${bits}" is too large; the most is ${flippedBitsMax}`);
      words.oneOf(bits === 1 ? ["bit"] : ["bits"]);
      words.expect("in");
      const message = words.take("message") ? words.wholeNumber(1) : null;
      if (message !== null) words.expect("of");
      words.expect("rank");
      const rank = words.wholeNumber(0);
      return { kind, bits, message, victim: { rank, replica: words.take("replica") ? words.wholeNumber(0) : null } };
    }
  }
}

function parseVictim(words: Words): Victim {
  const kind = words.oneOf(["rank", "node", "set", "service", "random"]);
  switch (kind) {
    case "rank":
      return { kind, rank: words.wholeNumber(0) };
    case "node":
      return { kind, node: words.wholeNumber(0) };
    case "set":
      return { kind, set: words.wholeNumber(0) };
    case "service":
      return { kind, service: words.oneOf(services) };
    case "random":
      return { kind, of: words.oneOf(["rank", "node"]) };
  }
}

function parseLayerVictim(words: Words): LayerVictim {
  const kind = words.oneOf(["rank", "node", "random"]);
  switch (kind) {
    case "rank":
      return { kind, rank: words.wholeNumber(0) };
    case "node":
      return { kind, node: words.wholeNumber(0) };
    case "random":
      return { kind, of: words.oneOf(["rank"]) };
  }
}

function parseLink(words: Words): LinkPattern {
  words.expect("link");
  const [first, second] = words.ends().map((end) => (end === "*" ? end : Number(end))) as [number | "*", number | "*"];
  if (first === second && first !== "*") throw new Refusal(`a link is between two nodes, not ${first} and ${first}`);
  const isSwapped = second !== "*" && (first === "*" || second < first);
  return isSwapped ? { one: second, other: first } : { one: first, other: second };
}
