/**
 * Ranks are moved to other nodes of a simulated world, alone or with their sets, when the seed wants it: the host of what core/service/set-moves.ts decides, as
 * real/job/recovery is for processes. A rank that leaves the others of its set becomes a set of its own (ADR 73).
 *
 * Whoever wants a move while lost ranks come back, or another move is under way, is refused; the seed's orders are repeated a few times, as a user would.
 */
import type { SentInSet } from "../../core/ft/set-split.ts";
import type { Dispatcher } from "../../core/service/dispatcher.ts";
import { type SetMove, setMoveOf } from "../../core/service/moved-sets.ts";
import type { Recovery } from "../../core/service/recovery.ts";
import { type MadeMove, SetMoves, type SetMovesParts } from "../../core/service/set-moves.ts";
import type { Random } from "../random.ts";
import type { World } from "../world.ts";

/** The rank `at` is about to do that action, in whichever life: then a rank, or all of its node, shall go elsewhere. */
export interface DrawnMove {
  readonly at: number;
  readonly action: number;
  readonly rank: number;
  readonly moved: "rank" | "node";
  /** A rank that is a set of its own stays: the next one that is not goes, if there is one. */
  readonly divides: boolean;
  /** The number of a node that there may be; one that is not there yet is started. Where the rank is there already it goes to the next one. */
  readonly onto: number;
}

/** So many nodes may come to be. */
const newNodesMax = 2;

/** Several, so that sets are divided more than once; some soon after each other. */
export function drawMoves(
  random: Random,
  { nodes, actions }: { readonly nodes: number; readonly actions: readonly number[] },
): { readonly moves: readonly DrawnMove[]; readonly nodesMax: number } {
  const nodesMax = nodes + random.between(1, newNodesMax);
  const moves = Array.from({ length: random.pick([1, 2, 2, 3, 5]) }, (): DrawnMove => {
    const at = random.below(actions.length);
    return {
      at,
      action: random.between(0, actions[at]!),
      rank: random.below(actions.length),
      moved: random.chance(0.1) ? "node" : "rank",
      divides: random.chance(0.8),
      onto: random.below(nodesMax),
    };
  });
  return { moves, nodesMax };
}

export const moveSteps = ["ordered", "standing", "decided", "made"] as const;
/**
 * In this order: it was ordered; all members of a set that is divided stand still, and their images are not stored; it was decided, and its ranks have fallen; the moved ranks have
 * begun.
 */
export type MoveStep = (typeof moveSteps)[number];

interface SimMovesOptions {
  readonly world: World;
  readonly setOf: readonly number[];
  readonly moves: readonly DrawnMove[];
}

interface SimMovesPorts extends Pick<SetMovesParts, "shareImages" | "dropImages" | "endOf"> {
  /** Those that are there now: both begin anew when the dispatcher has crashed. */
  dispatcher(): Dispatcher;
  recovery(): Recovery;
  /** Something is told to the dispatcher, if there is one and the job is not over. */
  feed(tell: (nowMs: number) => void): void;
  nowMs(): number;
  /** For faults. */
  reached(step: MoveStep, ranks: readonly number[]): void;
}

/** Checkpoints of some sets are waited for. */
interface Saving {
  readonly missing: Set<number>;
  readonly answer: (isSaved: boolean) => void;
}

/** A refused order is repeated, and so is a checkpoint that was given up; not for ever: a world that is stuck comes to rest. */
const triesMax = 30;
const againNs = 60_000;

export class SimMoves {
  /**
   * Orders that were begun, that were refused for good; moves that a loss has ended before anything was moved; that were decided, and ranks that became sets of their own by
   * them; of those, from sets that had been divided before; messages that waited for a receive then, and numbers that had not been sent; and moves whose ranks have begun
   * elsewhere.
   */
  readonly counts = {
    begun: 0,
    refused: 0,
    givenUp: 0,
    decided: 0,
    divided: 0,
    dividedAgain: 0,
    waiting: 0,
    unsent: 0,
    made: 0,
  };
  readonly #options: SimMovesOptions;
  readonly #ports: SimMovesPorts;
  readonly #left: Set<DrawnMove>;
  /** Of the present dispatcher. */
  #moves: SetMoves;
  #savings = new Set<Saving>();
  /** By rank: what it has said at its last checkpoint. */
  #sent = new Map<number, { readonly checkpoint: number; readonly sent: readonly SentInSet[] }>();
  /** The one under way. */
  #present: SetMove | null = null;
  readonly #dividedSets = new Set<number>();

  constructor(options: SimMovesOptions, ports: SimMovesPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#left = new Set(options.moves);
    this.#moves = this.#newMoves();
  }

  #newMoves(): SetMoves {
    const ports = this.#ports;
    return new SetMoves({
      core: ports.dispatcher(),
      recovery: ports.recovery(),
      saved: (sets, isHeld, answer) => this.#save(sets, isHeld, answer),
      setsOn: (node) => this.#setsOn(node),
      sentBy: (rank, checkpoint) => {
        const said = this.#sent.get(rank);
        return said?.checkpoint === checkpoint ? said.sent : null;
      },
      shareImages: (split) => {
        const problem = ports.shareImages(split);
        if (problem !== "") return problem;
        const { counts } = this;
        counts.divided++;
        if (this.#dividedSets.has(split.set)) counts.dividedAgain++;
        this.#dividedSets.add(split.set);
        for (const { waiting, unsent } of split.sent) {
          counts.waiting += waiting.length;
          counts.unsent += unsent.length;
        }
        return "";
      },
      dropImages: (set, checkpoint) => ports.dropImages(set, checkpoint),
      endOf: (node) => ports.endOf(node),
      nowMs: () => ports.nowMs(),
      moved: (move) => this.#made(move),
      note: () => {},
      listed: () => "",
    });
  }

  // Orders

  /** A rank is about to do that action. */
  passes(rank: number, action: number): void {
    const { world } = this.#options;
    for (const move of this.#left) {
      if (move.at !== rank || move.action !== action) continue;
      this.#left.delete(move);
      // A program runs at this moment.
      world.plan(world.nowNs, () => this.#order(move, triesMax));
    }
  }

  #order(drawn: DrawnMove, tries: number): void {
    const { world } = this.#options;
    let isRefused = true;
    this.#ports.feed(() => {
      isRefused = !this.#begin(drawn);
    });
    if (!isRefused) return;
    if (tries > 1) world.plan(world.nowNs + againNs, () => this.#order(drawn, tries - 1));
    else this.counts.refused++;
  }

  /** False: it cannot be now. */
  #begin(drawn: DrawnMove): boolean {
    const { world, setOf } = this.#options;
    if (this.#moves.isUnderWay || !this.#ports.recovery().isQuiet) return false;
    const nodes = this.#ports.dispatcher().state.nodes.length;
    const { placement } = world;
    const rank = drawn.divides ? this.#neighbourFrom(drawn.rank) : drawn.rank;
    const from = placement[rank]!;
    // Those that are there, and one that can be started.
    const places = Math.min(nodes + 1, world.nodesMax);
    const onto = drawn.onto % places === from ? (from + 1) % places : drawn.onto % places;
    const move = setMoveOf(
      { setOf, placement, nodes, canSplit: true },
      {
        moved: drawn.moved === "node" ? { kind: "node", node: from } : { kind: "rank", rank },
        onto,
        ofNodeMax: setOf.length,
      },
    );
    if (typeof move === "string") return false;
    this.counts.begun++;
    this.#present = move;
    this.#moves.begin(move);
    this.#ports.reached("ordered", move.ranks);
    return true;
  }

  /** The first rank, from that one on, that is not alone in its set; that one, if there is none. */
  #neighbourFrom(rank: number): number {
    const { setOf } = this.#options;
    const isNotAlone = (each: number): boolean => setOf.indexOf(setOf[each]!) !== setOf.lastIndexOf(setOf[each]!);
    const inOrder = setOf.map((_, i) => (rank + i) % setOf.length);
    return inOrder.find(isNotAlone) ?? rank;
  }

  #made({ ranks }: MadeMove): void {
    this.counts.made++;
    this.#present = null;
    this.#ports.reached("made", ranks);
  }

  #setsOn(node: number): number[] {
    const { world, setOf } = this.#options;
    return [...new Set(setOf.filter((_, rank) => world.placement[rank] === node))];
  }

  // Checkpoints

  #save(sets: readonly number[], isHeld: boolean, answer: (isSaved: boolean) => void): void {
    const { world } = this.#options;
    const saving: Saving = { missing: new Set(sets), answer };
    this.#savings.add(saving);
    const again = (tries: number): void => {
      if (!this.#savings.has(saving) || tries === 0) return;
      this.#ports.feed((nowMs) => {
        for (const set of saving.missing) this.#ports.recovery().take(set, nowMs);
      });
      world.plan(world.nowNs + againNs, () => again(tries - 1));
    };
    this.#ports.feed((nowMs) => {
      const recovery = this.#ports.recovery();
      for (const set of sets) {
        if (isHeld) recovery.takeAndHold(set, nowMs);
        else recovery.take(set, nowMs);
      }
    });
    world.plan(world.nowNs + againNs, () => again(triesMax));
  }

  /** A checkpoint of a set counts. */
  committed(set: number): void {
    const { world } = this.#options;
    for (const saving of this.#savings) {
      if (!saving.missing.delete(set) || saving.missing.size > 0) continue;
      this.#savings.delete(saving);
      const moves = this.#moves;
      world.plan(world.nowNs, () => {
        this.#ports.feed(() => {
          if (moves === this.#moves) this.#saved(saving);
        });
      });
    }
  }

  #saved({ answer }: Saving): void {
    const wasMoving = this.#present;
    const { deaths } = this.#ports.dispatcher().state;
    const before = deaths.length;
    answer(true);
    if (wasMoving === null || deaths.length === before) return;
    this.counts.decided++;
    this.#ports.reached("decided", wasMoving.ranks);
  }

  /** All members of a set have been captured. */
  captured(set: number): void {
    if (this.#present?.split === set) this.#ports.reached("standing", this.#present.ranks);
  }

  /** A rank has said what it had sent at a checkpoint. */
  said(rank: number, checkpoint: number, sent: readonly SentInSet[]): void {
    this.#sent.set(rank, { checkpoint, sent });
  }

  // Lives

  /** These ranks are lost, or have been moved. */
  fallen(ranks: readonly number[]): void {
    const wasUnderWay = this.#moves.isUnderWay;
    this.#moves.fallen(new Set(ranks.map((rank) => this.#options.setOf[rank]!)));
    if (!wasUnderWay || this.#moves.isUnderWay) return;
    this.counts.givenUp++;
    this.#present = null;
  }

  began(rank: number): void {
    this.#moves.began(rank);
  }

  /** A dispatcher has crashed, and a successor has taken over: moves that were not decided are forgotten. */
  takeOver(): void {
    this.#savings = new Set();
    this.#sent = new Map();
    this.#present = null;
    this.#moves = this.#newMoves();
  }
}
