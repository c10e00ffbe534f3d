/**
 * When a node that has fallen is not started again (rule 10). Progress counts, not restarts: kills from outside, however many, do not
 * end a job that gets on. A program that ends its own process at the same place, by its memory or by a crash, looks the same from
 * outside; but it never gets any further.
 *
 * Progress is that some rank of the job has passed a call that none of its lives had passed, or that a set has a checkpoint from
 * further on than the one before. Progress clears the falls that are held against every node. Without it, a fall counts
 *
 *   at the same call   when the node's ranks had come as far as they ever were, and nobody else was still on the way there: then
 *                      nothing kept them from getting further but the place where they are
 *   in vain            always. Replay may be slower than the kills, so there is much more patience.
 *
 * The facts on which later judgements depend are in `FallsState`, which changes by records of the journal only. Ranks say with every
 * heartbeat how far they have come: these numbers are written down at a fall and at the first progress after one, and not before. A
 * dispatcher that takes over hears them again with the next heartbeat.
 */

/** Falls of a node for which it is started again, without progress. */
const sameCallMax = 3;
const inVainMax = 10;

/** Why a node is not started again, and how often it had fallen. */
export interface GivenUp {
  readonly rule: "same-call" | "no-progress";
  readonly falls: number;
}

interface NodeFalls {
  atSameCall: number;
  inVain: number;
}

export interface FallsState {
  /** Falls that are held against each node. */
  readonly nodes: NodeFalls[];
  /** Ranks that have not come as far as their lives before. */
  readonly behind: Set<number>;
  /** Calls that the furthest life of each rank had passed when that was last written down. */
  readonly furthest: number[];
  /** Calls that the ranks of each set had passed at its newest checkpoint. */
  readonly saved: Map<number, number>;
}

/** How many calls the furthest life of a rank has passed. */
export type CallsOfRank = readonly [rank: number, calls: number];

/** A rank has come as far as its lives before. */
interface CaughtUp {
  readonly kind: "caught-up";
  readonly rank: number;
}
/** A rank has passed a call that none of its lives had passed, and falls were held against some node. */
interface Progressed {
  readonly kind: "progressed";
  readonly passed: CallsOfRank;
}
/** A checkpoint of a set counts in which its ranks have passed more calls than in the one before. */
interface Saved {
  readonly kind: "saved";
  readonly set: number;
  readonly calls: number;
}
/** Nothing is held against a node any more: a fault plan wants it to fall. */
interface Excused {
  readonly kind: "excused";
  readonly node: number;
}
export type FallsRecord = CaughtUp | Progressed | Saved | Excused;

interface FallsSize {
  readonly nodes: number;
  readonly ranks: number;
}

export function newFallsState({ nodes, ranks }: FallsSize): FallsState {
  return {
    nodes: Array.from({ length: nodes }, () => ({ atSameCall: 0, inVain: 0 })),
    behind: new Set(),
    furthest: new Array<number>(ranks).fill(0),
    saved: new Map(),
  };
}

/** There is one more. */
export function addNode({ nodes }: FallsState): void {
  nodes.push({ atSameCall: 0, inVain: 0 });
}

/** Changes the state as the record says. */
export function applyToFalls(state: FallsState, record: FallsRecord): void {
  switch (record.kind) {
    case "caught-up":
      state.behind.delete(record.rank);
      break;
    case "progressed":
      noteCalls(state, [record.passed]);
      excuse(state.nodes);
      break;
    case "saved":
      state.saved.set(record.set, record.calls);
      excuse(state.nodes);
      break;
    case "excused":
      excuse([state.nodes[record.node]!]);
      break;
  }
}

/** Those ranks have fallen, and it is held against a node. `passed`: what had not been written down of how far ranks had come. */
export function applyFall(
  state: FallsState,
  { node, ranks, passed }: { node: number; ranks: readonly number[]; passed: readonly CallsOfRank[] },
): void {
  noteCalls(state, passed);
  Object.assign(state.nodes[node]!, nextFall(state, node));
  for (const rank of ranks) state.behind.add(rank);
}

export class Falls {
  readonly #state: FallsState;
  readonly #record: (record: FallsRecord) => void;
  /** Calls that the furthest life of each rank has passed, written down or not. */
  readonly #furthest: number[];

  /** `record` must have the state changed. */
  constructor(state: FallsState, record: (record: FallsRecord) => void) {
    this.#state = state;
    this.#record = record;
    this.#furthest = [...state.furthest];
  }

  /** The present life of a rank has passed this number of calls; every life makes the same calls. */
  passed(rank: number, calls: number): void {
    const furthest = this.#furthest[rank]!;
    if (calls >= furthest) this.caughtUp(rank);
    if (calls <= furthest) return;
    this.#furthest[rank] = calls;
    if (this.#state.nodes.some(isBlamed)) this.#record({ kind: "progressed", passed: [rank, calls] });
  }

  /** A checkpoint counts from now on; in it the ranks of the set have passed this number of calls together. */
  committed(set: number, calls: number): void {
    if (calls > (this.#state.saved.get(set) ?? 0)) this.#record({ kind: "saved", set, calls });
  }

  /** A rank has come as far as its lives before. */
  caughtUp(rank: number): void {
    if (this.#state.behind.has(rank)) this.#record({ kind: "caught-up", rank });
  }

  /** The node falls because a fault plan wants it to, not because of its program. */
  excused(node: number): void {
    if (isBlamed(this.#state.nodes[node]!)) this.#record({ kind: "excused", node });
  }

  /** Some ranks have fallen, and it would be held against that node. Null: they shall begin their next life. */
  judge(node: number): GivenUp | null {
    const { atSameCall, inVain } = nextFall(this.#state, node);
    if (atSameCall > sameCallMax) return { rule: "same-call", falls: atSameCall };
    return inVain > inVainMax ? { rule: "no-progress", falls: inVain } : null;
  }

  /** How far ranks have come, as far as it has not been written down. */
  get unwritten(): CallsOfRank[] {
    const { furthest } = this.#state;
    return this.#furthest.flatMap((calls, rank) => (calls > furthest[rank]! ? [[rank, calls] as const] : []));
  }
}

function nextFall({ nodes, behind }: FallsState, node: number): NodeFalls {
  const { atSameCall, inVain } = nodes[node]!;
  return { atSameCall: atSameCall + (behind.size === 0 ? 1 : 0), inVain: inVain + 1 };
}

const isBlamed = ({ atSameCall, inVain }: NodeFalls): boolean => atSameCall + inVain > 0;

function noteCalls({ furthest }: FallsState, passed: readonly CallsOfRank[]): void {
  for (const [rank, calls] of passed) furthest[rank] = calls;
}

function excuse(nodes: readonly NodeFalls[]): void {
  for (const node of nodes) Object.assign(node, { atSameCall: 0, inVain: 0 });
}
