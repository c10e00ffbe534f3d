/**
 * The nodes of a simulated world as the dispatcher knows them: processes that end, stand still, fall silent, and are replaced by others
 * with the same number. What a node says arrives in the order in which it was said, and before the news of its end.
 */
import type { World } from "../world.ts";

/** A node of the world, until it is gone; then another has its number. */
export interface SimNode {
  readonly node: number;
  /** Term of the dispatcher that it listens and speaks to. */
  term: number;
  /** How many node processes had this number before. */
  readonly life: number;
  isGone: boolean;
  /** Does the node run ranks already? */
  hasBegun: boolean;
  /** When its last words arrive. */
  lastSaidNs: number;
  /** When the last words to it arrive. */
  toldNs: number;
  /** Orders that arrived while it stood still. */
  readonly unheard: (() => void)[];
  /** Its words arrive when it is heard again. */
  isMuted: boolean;
  readonly held: (() => void)[];
}

const newNode = (node: number, life: number, term: number): SimNode => ({
  node,
  term,
  life,
  isGone: false,
  hasBegun: false,
  lastSaidNs: 0,
  toldNs: 0,
  unheard: [],
  isMuted: false,
  held: [],
});

export class SimNodes {
  readonly #world: World;
  readonly #present: SimNode[];

  /** The nodes of a job that begins: they run their ranks. */
  constructor(world: World) {
    this.#world = world;
    this.#present = Array.from({ length: world.nodes }, (_, node) => ({ ...newNode(node, 0, 0), hasBegun: true }));
  }

  /** Those that have their numbers now, by number. */
  get all(): readonly SimNode[] {
    return this.#present;
  }

  at(node: number): SimNode {
    return this.#present[node]!;
  }

  /** Where the rank is, or was last: a rank that has been moved begins its next life elsewhere. */
  of(rank: number): SimNode {
    return this.at(this.#world.processes[rank]!.node);
  }

  ranksOf(node: number): number[] {
    return this.#world.processes.filter((process) => process.node === node).map(({ rank }) => rank);
  }

  /** Has the process its number still, or another? */
  isPresent(process: SimNode): boolean {
    return this.#present[process.node] === process;
  }

  /** Another process has the number from now on. */
  replace(node: number, life: number, term: number): void {
    this.#present[node] = newNode(node, life, term);
  }

  /** An order reaches a node; one that stands still hears it when it goes on. */
  whenRunning(process: SimNode, hear: () => void): void {
    if (this.#world.isStopped(process.node) && !process.isGone) process.unheard.push(hear);
    else hear();
  }

  continue(node: number): void {
    this.#world.continueNode(node);
    for (const hear of this.at(node).unheard.splice(0)) hear();
  }

  /** The node runs, and no word of it arrives until the function that is returned has been called. */
  mute(node: number): () => void {
    const process = this.at(node);
    process.isMuted = true;
    return () => {
      process.isMuted = false;
      for (const hear of process.held.splice(0)) hear();
    };
  }

  /** A node says something, which arrives after that time, behind everything that it has said before. */
  say(process: SimNode, delayNs: number, hear: () => void): void {
    process.lastSaidNs = Math.max(process.lastSaidNs, this.#world.nowNs + delayNs);
    this.#world.plan(process.lastSaidNs, () => {
      // Of the end of a muted node the operating system tells.
      if (process.isMuted && !process.isGone) process.held.push(hear);
      else hear();
    });
  }
}
