/**
 * Where ranks begin their next life. Every rank has its place on one node, until somebody moves it there (moved-sets.ts); what changes is the process
 * behind the node's number. A node that is gone gets a successor, which is set up with all its ranks at once; on a node that lives
 * the ranks begin beside the others. A set may have members on both.
 *
 * A node that is gone stays so until `Recovery` has all its ranks prepared, and until there is a process for its place (volunteers.ts). If
 * the job ends meanwhile, or they cannot begin again, nobody takes its place, and the dispatcher must hear that: it waits for the last
 * node.
 */
import { assert } from "../base/assert.ts";
import type { Placement } from "./placement.ts";
import type { SetRestart } from "./recovery.ts";

interface RestartPlacementPorts {
  /** Which process takes the place of that node, by its number; null: none yet, `taken` follows. */
  successorOf(node: number): number | null;
  /** That successor takes the place of that node. Of each set, `members` are those of this node. */
  replace(node: number, restarts: readonly SetRestart[], successor: number): void;
  /** The node lives: some of its ranks begin again there. Threads that they still have must go first. */
  restartRanks(node: number, restarts: readonly SetRestart[]): void;
  /** No process takes the place of that node, which is gone. */
  notReplaced(node: number): void;
  /** Has it been decided that the job ends? */
  isEnding(): boolean;
}

export class RestartPlacement {
  readonly #placement: Placement;
  readonly #ports: RestartPlacementPorts;
  /** Nodes whose places no process has taken yet, and whose ranks are being prepared. */
  readonly #gone = new Set<number>();
  /** Places for which there is no process yet: how their ranks will begin. */
  readonly #vacant = new Map<number, readonly SetRestart[]>();

  constructor(placement: Placement, ports: RestartPlacementPorts) {
    this.#placement = placement;
    this.#ports = ports;
  }

  /** The dispatcher wants another in the place of that node. Said before `Recovery` hears of its ranks. */
  gone(node: number): void {
    this.#gone.add(node);
  }

  /** The members of these sets begin again: all that was lost together. */
  restart(restarts: readonly SetRestart[]): void {
    for (const node of this.#nodesOf(restarts.flatMap(({ members }) => members))) {
      const here = restarts
        .map((restart) => ({ ...restart, members: restart.members.filter((rank) => this.#placement[rank] === node) }))
        .filter(({ members }) => members.length > 0);
      const vacant = this.#vacant.get(node);
      if (vacant !== undefined) this.#vacant.set(node, withLater(vacant, here));
      else if (!this.#gone.delete(node)) this.#ports.restartRanks(node, here);
      else if (this.#ports.isEnding()) this.#ports.notReplaced(node);
      else this.#replace(node, here);
    }
  }

  #replace(node: number, here: readonly SetRestart[]): void {
    const successor = this.#ports.successorOf(node);
    if (successor === null) this.#vacant.set(node, here);
    else this.#ports.replace(node, here, successor);
  }

  /** There is a process for a place that had none. */
  taken(node: number, successor: number): void {
    const here = this.#vacant.get(node);
    assert(here !== undefined, `nobody waits for a process in place ${node}`);
    this.#vacant.delete(node);
    this.#ports.replace(node, here, successor);
  }

  /** These ranks cannot begin again, and the job ends. */
  hopeless(ranks: readonly number[]): void {
    for (const node of this.#nodesOf(ranks)) if (this.#gone.delete(node)) this.#ports.notReplaced(node);
  }

  #nodesOf(ranks: readonly number[]): Set<number> {
    return new Set(
      ranks.map((rank) => {
        const node = this.#placement[rank];
        assert(node !== undefined, `rank ${rank} has no place`);
        return node;
      }),
    );
  }
}

/** A set that has fallen again while its place was vacant begins its present life. */
function withLater(earlier: readonly SetRestart[], later: readonly SetRestart[]): SetRestart[] {
  const again = new Set(later.map(({ set }) => set));
  return [...earlier.filter(({ set }) => !again.has(set)), ...later];
}
