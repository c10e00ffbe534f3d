/** Where the ranks of a job are, as a table for people. */
import { secondsText } from "../../../core/base/amounts.ts";
import { ANY_SOURCE, ANY_TAG } from "../../../core/base/constants.ts";
import type { RankPlace } from "../../messages/whereabouts.ts";
import type { ProcessNames } from "./process-names.ts";

/** A rank as the job knows it. */
export interface RankStanding {
  readonly rank: number;
  readonly node: number;
  /** "unknown": its node has not answered. "absent": it is being started again. */
  readonly state: RankPlace["state"] | "finished" | "failed" | "unknown" | "absent";
  /** Null: its node has not said. Of one that has finished: it serves others. */
  readonly place: RankPlace | null;
}

const headings = ["rank", "node", "state", "call", "peer", "tag", "communicator", "since"];
const gap = "  ";

/** Tables of more ranks have one line for all that do the same. */
const linesMax = 40;

/** One line each, without line ends; the first has the headings. */
export function whereaboutsTable(standings: readonly RankStanding[], names: ProcessNames): string[] {
  const rows = standings.map((standing) => ({ standing, cells: cellsOf(standing, names) }));
  const shown = rows.length > linesMax ? grouped(rows, names) : rows.map(({ cells }) => cells);
  const used = headings.map((_, i) => shown.some((row) => row[i] !== ""));
  const table = [headings, ...shown].map((row) => row.filter((_, i) => used[i]));
  const widths = table[0]!.map((_, i) => Math.max(...table.map((row) => row[i]!.length)));
  return table.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(gap)}`.trimEnd());
}

function cellsOf({ rank, node, state, place }: RankStanding, names: ProcessNames): string[] {
  const first = [names.shortNameOf(rank), `${node}`];
  if (place === null || state === "finished" || state === "failed")
    return [...first, state === "unknown" ? "its node does not answer" : state, "", "", "", "", ""];
  const since = secondsText(place.forMs);
  switch (place.state) {
    case "starting":
      return [...first, "starting", "", "", "", "", ""];
    case "computing":
      return [...first, "computing", "", "", "", "", since];
    case "over": {
      const what = place.hasEnded ? "has ended, others have not" : "waiting";
      return [...first, what, place.hasEnded ? "" : "MPI_Finalize", place.hasEnded ? "" : "all", "", "", since];
    }
    default: {
      const { kind, tag, call, comm } = place;
      const isMessage = kind === "receive" || kind === "send" || kind === "probe";
      const tagText = isMessage ? (tag === ANY_TAG ? "any" : `${tag}`) : "";
      const isAway = call === "" && kind === "other";
      const what = isAway ? "waiting, or for its turn" : "waiting";
      return [...first, what, call, peerText(place, names), tagText, comm, since];
    }
  }
}

/** Who is waited for: "rank 3", "any rank", "rank 3 (1 of 8 requests)". */
function peerText({ peer, kind, requests, isOneEnough }: RankPlace, names: ProcessNames): string {
  const of = requests > 1 ? ` (${isOneEnough ? "one" : "first"} of ${requests} requests)` : "";
  if (peer === ANY_SOURCE && kind !== "collective") return `any rank${of}`;
  if (peer >= 0) return `${kind === "send" ? "to " : ""}${names.nameOf(peer)}${of}`;
  return kind === "collective" ? "other members" : of.trim();
}

interface Row {
  readonly standing: RankStanding;
  readonly cells: readonly string[];
}

/** Ranks that do the same, but for how long: one line, with the longest time. */
function grouped(rows: readonly Row[], names: ProcessNames): string[][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = row.cells.slice(2, -1).join("\0");
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].map((group) => {
    const longest = group.reduce((a, b) => ((b.standing.place?.forMs ?? 0) > (a.standing.place?.forMs ?? 0) ? b : a));
    const nodes = [...new Set(group.map(({ standing }) => standing.node))];
    const ranks = group.map(({ standing }) => standing.rank);
    return [rangesOf(ranks, names), rangesOf(nodes, null), ...longest.cells.slice(2)];
  });
}

/** "0-7, 12"; spawned ones by their names. */
function rangesOf(numbers: readonly number[], names: ProcessNames | null): string {
  const parts: string[] = [];
  for (let i = 0; i < numbers.length; ) {
    let end = i;
    while (end + 1 < numbers.length && numbers[end + 1] === numbers[end]! + 1) end++;
    const nameOf = (number: number): string => names?.shortNameOf(number) ?? `${number}`;
    parts.push(end === i ? nameOf(numbers[i]!) : `${nameOf(numbers[i]!)}-${nameOf(numbers[end]!)}`);
    i = end + 1;
  }
  return parts.join(", ");
}

/** "rank 1 on node 0 waits in MPI_Recv for rank 0 (tag 5, MPI_COMM_WORLD)". */
export function waitText({ call, kind, peer, tag, comm }: RankPlace, names: ProcessNames): string {
  const isMessage = kind === "receive" || kind === "send" || kind === "probe";
  const details = [...(isMessage && tag !== ANY_TAG ? [`tag ${tag}`] : []), ...(comm === "" ? [] : [comm])];
  const whom = peer >= 0 ? ` for ${names.nameOf(peer)}` : peer === ANY_SOURCE && isMessage ? " for any rank" : "";
  const where = call === "" ? "" : ` in ${call}`;
  return `waits${where}${whom}${details.length === 0 ? "" : ` (${details.join(", ")})`}`;
}
