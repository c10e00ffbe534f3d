/**
 * Scenarios of replicas as text: a small world, what each rank calls, and which process dies when.
 *
 *     world ranks=2 replicas=2
 *     1   send 0
 *     0   receive 1
 *     1.1 dies at 15
 *     ----
 *     …
 *
 * A line is for the ranks that it names (`all`, `2`, `0-1`, `0,3`), in all their replicas; each makes its calls in the order of the lines. A process is
 * `<rank>.<replica>`. Times are microseconds of the world. Messages have 8 bytes unless a number of bytes follows; those of 1000 and less are small.
 */
import { ranksNamed, type ScenarioFile, scenarioFileOf, wrongLine } from "../recorded-scenario.ts";

/** Of a receive: the first message, from whomever. */
export const anyone = -1;

export type ReplicaCall =
  | { readonly kind: "send" | "receive"; readonly peer: number; readonly bytes: number }
  /** The same without waiting, under a name. */
  | { readonly kind: "isend" | "irecv"; readonly name: string; readonly peer: number; readonly bytes: number }
  | { readonly kind: "wait"; readonly name: string }
  | { readonly kind: "compute"; readonly us: number };

export interface ReplicaScenario extends Pick<ScenarioFile, "head" | "recorded"> {
  readonly ranks: number;
  readonly replicas: number;
  readonly calls: readonly { readonly ranks: readonly number[]; readonly call: ReplicaCall; readonly text: string }[];
  readonly deaths: readonly { readonly rank: number; readonly replica: number; readonly us: number }[];
}

const bytesDefault = 8;
const bytesMax = 1 << 20;

/** A text instead: the line that is none, and why. */
export function parseReplicaScenario(text: string): ReplicaScenario | string {
  const { lines, head, recorded } = scenarioFileOf(text);
  const [first = "", ...rest] = lines;
  const world = parseWorld(first);
  if (typeof world === "string") return wrongLine(first, world);
  const calls: ReplicaScenario["calls"][number][] = [];
  const deaths: ReplicaScenario["deaths"][number][] = [];
  for (const line of rest) {
    const death = parseDeath(line, world);
    const call = death === null ? parseCall(line, world.ranks) : death;
    if (typeof call === "string") return wrongLine(line, call);
    if ("us" in call) deaths.push(call);
    else calls.push(call);
  }
  return { ...world, calls, deaths, head, recorded };
}

function parseWorld(line: string): Pick<ReplicaScenario, "ranks" | "replicas"> | string {
  const [name, ...settings] = line.split(/\s+/);
  if (name !== "world") return 'the first line is "world ranks=<number> replicas=<number>"';
  const given = new Map(settings.map((setting) => setting.split("=") as [string, string]));
  const unknown = [...given.keys()].find((key) => !["ranks", "replicas"].includes(key));
  if (unknown !== undefined) return `a world has ranks and replicas, no "${unknown}"`;
  const ranks = Number(given.get("ranks"));
  const replicas = Number(given.get("replicas") ?? 2);
  if (!Number.isInteger(ranks) || ranks < 2 || ranks > 16) return "a world has 2 to 16 ranks";
  if (!Number.isInteger(replicas) || replicas < 1 || replicas > 4) return "each rank has 1 to 4 replicas";
  return { ranks, replicas };
}

/** Null: the line says something else. */
function parseDeath(
  line: string,
  { ranks, replicas }: Pick<ReplicaScenario, "ranks" | "replicas">,
): ReplicaScenario["deaths"][number] | string | null {
  const [, rank, replica, us] = /^(\d+)\.(\d+)\s+dies\s+at\s+(\d{1,9})$/.exec(line) ?? [];
  if (rank === undefined) return null;
  if (Number(rank) >= ranks || Number(replica) >= replicas) return `there is no process ${rank}.${replica}`;
  return { rank: Number(rank), replica: Number(replica), us: Number(us) };
}

function parseCall(line: string, ranks: number): ReplicaScenario["calls"][number] | string {
  const [who = "", ...words] = line.split(/\s+/);
  const named = ranksNamed(who, ranks);
  if (named === null) return `"${who}" are no ranks of 0 to ${ranks - 1}`;
  const call = callOf(words, ranks);
  return typeof call === "string" ? call : { ranks: named, call, text: words.join(" ") };
}

function callOf([kind = "", ...words]: readonly string[], ranks: number): ReplicaCall | string {
  switch (kind) {
    case "send":
    case "receive": {
      const to = peerOf(words, ranks, kind === "receive");
      return typeof to === "string" ? to : { kind, ...to };
    }
    case "isend":
    case "irecv": {
      const [name = "", ...rest] = words;
      const to = peerOf(rest, ranks, kind === "irecv");
      return typeof to === "string" ? to : { kind, name, ...to };
    }
    case "wait":
      return words.length === 1 ? { kind, name: words[0]! } : "wait has the name of a request";
    case "compute": {
      const us = numberOf(words[0]);
      return us === null || words.length !== 1 ? "compute has a number of microseconds" : { kind, us };
    }
    default:
      return "there are send, receive, isend, irecv, wait, compute, and dies at";
  }
}

function peerOf(
  [who = "", size, ...rest]: readonly string[],
  ranks: number,
  mayBeAny: boolean,
): { readonly peer: number; readonly bytes: number } | string {
  const peer = mayBeAny && who === "any" ? anyone : numberOf(who);
  const bytes = size === undefined ? bytesDefault : numberOf(size);
  if (peer === null || peer >= ranks)
    return `"${who}" is no rank of 0 to ${ranks - 1}${mayBeAny ? ", and not any" : ""}`;
  if (bytes === null || bytes > bytesMax || rest.length > 0) return `a message has up to ${bytesMax} bytes`;
  return { peer, bytes };
}

const numberOf = (word: string | undefined): number | null =>
  word !== undefined && /^\d{1,9}$/.test(word) ? Number(word) : null;
