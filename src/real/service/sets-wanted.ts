/** Which ranks fall together under message logging, and where they are; what `--sets` and its relatives mean. */
import { membersOf, setsByNode, setsByRank, setsFromLists } from "../../core/service/correlated-sets.ts";
import { nodeOfRanks, nodeOfSets } from "../../core/service/placement.ts";
import { placeByTraffic } from "../../core/service/traffic-sets.ts";
import { readTraffic } from "./traffic-file.ts";

export type SetsWanted = "node" | "rank" | "traffic" | readonly (readonly number[])[];

export interface SetsAndPlaces {
  /** Correlated set of each rank. */
  readonly setOf: readonly number[];
  readonly nodeOf: readonly number[];
  /** Nobody knows the traffic: it is measured, for the next time. */
  readonly isMeasured: boolean;
}

interface JobSize {
  readonly ranks: number;
  readonly nodes: number;
}

/** What is wanted; or what is wrong with it. */
export function setsAndPlaces(
  sets: SetsWanted,
  { ranks, nodes }: JobSize,
  trafficFile: string,
): SetsAndPlaces | string {
  const blocks = nodeOfRanks(ranks, nodes);
  if (sets === "node") return { setOf: setsByNode(blocks), nodeOf: blocks, isMeasured: false };
  if (sets === "rank") return { setOf: setsByRank(ranks), nodeOf: blocks, isMeasured: false };
  if (sets === "traffic") return byTraffic(blocks, trafficFile);
  const setOf = setsFromLists(sets, ranks);
  if (typeof setOf === "string") return `Cannot use these sets: ${setOf}`;
  const nodeOf = nodeOfSets(setOf, nodes);
  if (!("tooLarge" in nodeOf)) return { setOf, nodeOf, isMeasured: false };
  const members = membersOf(setOf)[nodeOf.tooLarge]!.join(", ");
  return `Cannot use these sets: ranks ${members} are one set, and no node has room for them all; make it smaller, or the nodes fewer`;
}

/** Where every rank is a set of its own all messages are logged: the logs of such a run are its traffic. */
function byTraffic(blocks: number[], file: string): SetsAndPlaces | string {
  if (file === "") return "Cannot use sets of traffic: say where it is kept, with trafficFile";
  const traffic = readTraffic(file, blocks.length);
  if (typeof traffic === "string") return traffic;
  if (traffic === null) return { setOf: setsByRank(blocks.length), nodeOf: blocks, isMeasured: true };
  const nodeOf = placeByTraffic(traffic, blocks);
  return { setOf: setsByNode(nodeOf), nodeOf, isMeasured: false };
}
