/**
 * The first acts of a dispatcher that takes over from one that has crashed (ADR 13). The successor has read the journal and knows every
 * decision. It does not know which orders have arrived, nor the words of nodes that no dispatcher has heard. So it asks every node for its state.
 * Nodes answer with the state and not with events: which lives of which ranks they have, how each of them stands, how many deaths they have
 * heard of. Every order that follows can be given twice: deaths are recognised by their order, returns by their incarnations, orders of an older
 * dispatcher by its term.
 *
 *   a death that was written down and perhaps not told   is told again to nodes that have not heard of it
 *   a restart that was ordered and did not happen        is a fall: that life never was, and the next one begins
 *   an end of a rank that was said to nobody             is heard now
 *   an outcome that was decided                          is ordered again
 *   a process of a node that has been replaced           is refused
 *   a checkpoint that was being taken                    is given up (`Recovery.takeOver`), and ranks that stand still for it go on
 *
 * A node is told nothing before it has answered (`isLinked`): an order that came before the answer would not be in it, and a death that came
 * before earlier ones would be out of order. After its answer a node hears all that it lacks, and from then on everything that all nodes hear.
 *
 * A node that does not answer is silent, and dies of it; one that the operating system knows to be gone is reported to the dispatcher as
 * ever.
 */
import type { Dispatcher } from "./dispatcher.ts";
import type { Ending } from "./ending.ts";
import type { Death } from "./outcome.ts";
import type { Placement } from "./placement.ts";

/** One life of a rank. */
export interface RankLife {
  readonly rank: number;
  readonly incarnation: number;
}

/** How a life stands, whether or not a dispatcher was told. */
export type LifeStands =
  | { readonly kind: "running" }
  /** Its program is over, and it serves. */
  | { readonly kind: "done" }
  | { readonly kind: "ended"; readonly ending: Ending };

/** The answer of a node to a dispatcher that it does not know. */
export interface NodeAnswer {
  readonly node: number;
  /** How many processes have had its number before. */
  readonly life: number;
  /** How many deaths it has heard of, since the job's beginning. */
  readonly deathsHeard: number;
  readonly ranks: readonly (RankLife & { readonly stands: LifeStands; readonly hasCaughtUp: boolean })[];
}

/** Orders to one node. */
interface TakeoverPorts {
  /** A process that has been replaced, or of another job: it must end, and nothing that it says counts. */
  refuse(node: number, life: number): void;
  /** The node must end in order. */
  end(node: number): void;
  tell(node: number, death: Death): void;
  /** Ranks that stand still for a checkpoint go on. */
  goOn(node: number): void;
  /** These lives have begun on other nodes. */
  returned(node: number, lives: readonly RankLife[]): void;
  /** Threads of these ranks must end: the ranks are dead, and no life begins in their place. */
  endRanks(node: number, ranks: readonly number[]): void;
}

interface TakeoverOptions {
  /** Of each process that there can be. */
  readonly placement: Placement;
  /** How many of them were there from the start. */
  readonly ranks: number;
}

type Core = Pick<Dispatcher, "state" | "outcome" | "heard" | "falls" | "rankDone" | "rankEnded" | "withdraw">;

/** The way it ended is not known. */
const neverBegan: Ending = { kind: "vanished", code: 1 };

export class Takeover {
  readonly #options: TakeoverOptions;
  readonly #core: Core;
  readonly #ports: TakeoverPorts;
  /** Nodes that have answered, or were started by the successor, and the lives there that are not the first. */
  readonly #linked = new Map<number, readonly RankLife[]>();

  /** `core`: the successor, whose term has begun (`Dispatcher.takeOver`). */
  constructor(options: TakeoverOptions, core: Core, ports: TakeoverPorts) {
    this.#options = options;
    this.#core = core;
    this.#ports = ports;
  }

  /** May orders go to that node? Otherwise its answer has everything follow that it lacks. */
  isLinked(node: number): boolean {
    return this.#linked.has(node);
  }

  /** The successor has started another process for that node, which was told everything. */
  started(node: number): void {
    this.#linked.set(node, []);
  }

  /** These lives have begun on a node, and linked nodes were told. */
  began(node: number, lives: readonly RankLife[]): void {
    const earlier = this.#linked.get(node);
    if (earlier !== undefined) this.#linked.set(node, [...earlier, ...lives]);
  }

  answered(answer: NodeAnswer, nowMs: number): void {
    const { node, life } = answer;
    const { nodes, deaths, outcome } = this.#core.state;
    const known = nodes[node];
    if (known === undefined || known.gone || known.life !== life || this.#isOfAnotherJob(answer)) {
      this.#ports.refuse(node, life);
      return;
    }
    this.#core.heard(node);
    const lives = this.#presentLives(answer.ranks);
    const others = [...this.#linked];
    this.#linked.set(node, lives);
    if (outcome !== undefined) {
      this.#ports.end(node);
      return;
    }
    for (const death of deaths.slice(answer.deathsHeard)) this.#ports.tell(node, death);
    this.#ports.goOn(node);
    const dead = answer.ranks.filter(({ rank }) => this.#rank(rank).state === "dead").map(({ rank }) => rank);
    if (dead.length > 0) this.#ports.endRanks(node, dead);
    for (const [other, itsLives] of others) {
      this.#returned(other, lives);
      this.#returned(node, this.#presentLives(itsLives));
    }
    this.#hear(answer, nowMs);
  }

  /** A life that no dispatcher can have ordered, because a record comes before its orders. */
  #isOfAnotherJob({ node, ranks, deathsHeard }: NodeAnswer): boolean {
    const { placement } = this.#options;
    const isStrange = ({ rank, incarnation }: RankLife): boolean =>
      placement[rank] !== node || incarnation > this.#rank(rank).incarnation;
    return deathsHeard > this.#core.state.deaths.length || ranks.some(isStrange);
  }

  /** Those of these lives that are present ones, and not the first: others have heard of a death. */
  #presentLives(lives: readonly RankLife[]): RankLife[] {
    return lives
      .filter(({ rank, incarnation }) => incarnation > 0 && this.#rank(rank).incarnation === incarnation)
      .map(({ rank, incarnation }) => ({ rank, incarnation }));
  }

  #returned(node: number, lives: readonly RankLife[]): void {
    if (lives.length > 0) this.#ports.returned(node, lives);
  }

  /** The dispatcher hears how each life stands that should be there; the end of a life that it does not wait for means nothing to it. */
  #hear({ node, ranks }: NodeAnswer, nowMs: number): void {
    const there = new Map(ranks.map((it) => [it.rank, it]));
    const expected = [...this.#options.placement.keys()]
      .filter((rank) => this.#options.placement[rank] === node && this.#isExpected(rank))
      .map((rank) => ({ rank, incarnation: this.#rank(rank).incarnation }));
    for (const { rank, incarnation } of expected) {
      const found = there.get(rank);
      if (found?.incarnation !== incarnation) this.#neverBegan(rank, incarnation, nowMs);
      else {
        if (found.hasCaughtUp) this.#core.falls.caughtUp(rank);
        if (found.stands.kind === "done") this.#core.rankDone(rank, incarnation, nowMs);
        if (found.stands.kind === "ended") this.#core.rankEnded(rank, incarnation, found.stands.ending, nowMs);
      }
    }
  }

  #neverBegan(rank: number, incarnation: number, nowMs: number): void {
    // The rank that wanted to spawn it has no answer yet, and asks again.
    if (rank >= this.#options.ranks) this.#core.withdraw([rank]);
    else this.#core.rankEnded(rank, incarnation, neverBegan, nowMs);
  }

  #isExpected(rank: number): boolean {
    const { state } = this.#rank(rank);
    return state === "running" || state === "done";
  }

  #rank(rank: number): { readonly incarnation: number; readonly state: string } {
    return this.#core.state.ranks[rank] ?? { incarnation: -1, state: "absent" };
  }
}
