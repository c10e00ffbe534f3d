/**
 * Who goes, and where to, when somebody wants a replica or a node moved in a job whose lost replicas come back as clones (ADR 79). A replica goes alone: those beside it stay where they are. Numbers of nodes stay.
 * Nodes in reserve are counted behind those that the job began with, and have the numbers that they are named by when a replica comes to them; one that has taken the place of a lost node has that node's.
 *
 * Two replicas of a rank are never on one node: its loss would take both.
 */
import type { ProcessName } from "../base/identity.ts";

export interface ReplicaPlaces {
  /** By process. */
  readonly players: readonly ProcessName[];
  readonly placement: readonly number[];
  /** Of each rank: how many processes play it. */
  readonly plan: readonly number[];
  /** Those that the job began with, and those whose numbers were ever used. */
  readonly nodesFirst: number;
  readonly nodes: number;
  readonly spares: number;
  /** Those in reserve, in order. */
  readonly sparesLeft: readonly number[];
  isNodeAlive(node: number): boolean;
  /** Does the program of that process run? "done": it is over, and the process serves others. */
  stateOf(process: number): "running" | "done" | "dead";
  /** So many more processes have places on that node, which is there. */
  roomOf(node: number): number;
  /** The same for one that is started. */
  readonly roomOfNew: number;
}

export interface ReplicaMoveOrder {
  /** All replicas of a node; or one of a rank: that one, that on a node, or the last that lives: the first usually does what the rank does to files. */
  readonly moved:
    | { readonly kind: "node"; readonly node: number }
    | { readonly kind: "rank"; readonly rank: number; readonly replica: number | null; readonly from?: number | null };
  /** Null: the next in reserve, or one that is started. */
  readonly onto: number | null;
}

export interface ReplicaMove {
  readonly processes: readonly number[];
  readonly from: number;
  readonly node: number;
  /** Who takes that number: a spare, 0: a process that is started; null: the node is there. */
  readonly spare: number | null;
}

/** Or the obstacle. */
export function replicaMoveOf(places: ReplicaPlaces, { moved, onto }: ReplicaMoveOrder): ReplicaMove | string {
  const { nodesFirst, placement } = places;
  if (nodesFirst === 1) return "the job began on one node, whose ranks are connected with no other";
  const processes = moved.kind === "node" ? processesOn(places, moved.node) : processOf(places, moved);
  if (typeof processes === "string") return processes;
  const from = placement[processes[0]!]!;
  const over = processes.find((process) => places.stateOf(process) === "done");
  if (over !== undefined) return `the program of rank ${places.players[over]!.rank} is over there`;
  const target = onto === null ? anyTarget(places) : targetAt(places, onto);
  if (typeof target === "string") return target;
  const { node, spare } = target;
  if (node === from) return `${moved.kind === "node" ? "its ranks are" : "it is"} on node ${node} already`;
  const twin = twinOn(places, processes, node);
  if (twin !== null) return `node ${node} has ${nameOf(twin)}, and one loss would take both`;
  const room = spare === null ? places.roomOf(node) : places.roomOfNew;
  if (room < processes.length)
    return `node ${node} has ${room === 0 ? "no place" : `places for ${room}`} more, and ${processes.length} ${processes.length === 1 ? "is" : "are"} wanted`;
  return { processes, from, node, spare };
}

function processesOn({ placement, stateOf, nodes }: ReplicaPlaces, node: number): number[] | string {
  if (node >= nodes) return `the job has ${upTo("node", nodes)}`;
  const here = [...placement.keys()].filter((process) => placement[process] === node && stateOf(process) !== "dead");
  return here.length === 0 ? "it has no ranks" : here;
}

function processOf(
  { players, plan, placement, stateOf }: ReplicaPlaces,
  { rank, replica, from = null }: Extract<ReplicaMoveOrder["moved"], { kind: "rank" }>,
): number[] | string {
  const replicas = plan[rank];
  if (replicas === undefined) return `the job has ${upTo("rank", plan.length)}`;
  if (replica !== null && replica >= replicas)
    return replicas === 1 ? `rank ${rank} has replica 0 alone` : `rank ${rank} has replicas 0 to ${replicas - 1}`;
  const process = [...players.keys()].findLast((each) => {
    const isIt = players[each]!.rank === rank && (replica === null || players[each]!.replica === replica);
    return isIt && stateOf(each) !== "dead" && (from === null || placement[each] === from);
  });
  if (process !== undefined) return [process];
  const who = replica === null ? `rank ${rank}` : nameOf({ rank, replica });
  return from === null ? `${who} is lost` : `${who} is not on node ${from}`;
}

interface Target {
  readonly node: number;
  readonly spare: number | null;
}

/** The number of a node that is started: none that the user may mean a spare by. */
const nextNode = ({ nodes, nodesFirst, spares }: ReplicaPlaces): number => Math.max(nodes, nodesFirst + spares);

function anyTarget(places: ReplicaPlaces): Target {
  const [spare] = places.sparesLeft;
  return spare === undefined ? { node: nextNode(places), spare: 0 } : { node: places.nodesFirst + spare - 1, spare };
}

function targetAt(places: ReplicaPlaces, node: number): Target | string {
  const { nodes, nodesFirst, spares, sparesLeft, isNodeAlive } = places;
  if (node < nodes && isNodeAlive(node)) return { node, spare: null };
  const spare = node - nodesFirst + 1;
  if (spare >= 1 && spare <= spares) {
    if (sparesLeft.includes(spare)) return { node, spare };
    return `spare ${spare} is not in reserve; spares in reserve: ${sparesLeft.length === 0 ? "none" : sparesLeft.join(", ")}`;
  }
  // Nobody is there any more: a process is started.
  if (node < nodes || node === nextNode(places)) return { node, spare: 0 };
  return `the next node that can be started is ${nextNode(places)}`;
}

/** A replica on that node of a rank of which another one shall come. */
function twinOn({ players, placement }: ReplicaPlaces, processes: readonly number[], node: number): ProcessName | null {
  const ranks = new Set(processes.map((process) => players[process]!.rank));
  // One that is lost comes back where it was.
  const twin = players.findIndex(
    ({ rank }, each) => placement[each] === node && ranks.has(rank) && !processes.includes(each),
  );
  return twin < 0 ? null : players[twin]!;
}

const nameOf = ({ rank, replica }: ProcessName): string => `replica ${replica} of rank ${rank}`;
const upTo = (what: string, count: number): string => (count === 1 ? `${what} 0 alone` : `${what}s 0 to ${count - 1}`);
