/**
 * Processes that a repairing program spawns, as the dispatcher and the nodes see it: a wish is granted when enough numbers are free on
 * nodes that live, and its processes begin after a while, each at a moment of its own. If one of them dies before it has begun the wish is refused, and
 * the others end.
 */
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { SpawnOutcome } from "../../core/process/communicators/spawn.ts";
import type { Origin } from "../../core/process/spawner.ts";
import type { Random } from "../random.ts";
import type { RankProgram } from "../sim-process.ts";
import type { World } from "../world.ts";

/** What a new process is told: its world, its parents, and the parent that speaks for them. */
export interface Birth extends Origin {
  readonly root: number;
}

interface Wish {
  readonly parents: readonly number[];
  /** The rank among the parents that asks. */
  readonly root: number;
  readonly context: number;
  readonly count: number;
}

export class Births {
  readonly #world: World;
  readonly #random: Random;
  readonly #delayNsMax: number;
  readonly #program: (birth: Birth) => RankProgram;
  readonly #chosen = new Set<number>();
  readonly counts = { granted: 0, refused: 0 };

  constructor(world: World, random: Random, program: (birth: Birth) => RankProgram) {
    this.#world = world;
    this.#random = random;
    this.#program = program;
    this.#delayNsMax = random.pick([1, 30_000, 1_000_000]);
  }

  /** Processes are wanted; `told` is called with what came of it. */
  ask(wanted: number, wish: Wish, told: (outcome: SpawnOutcome) => void): void {
    const answer = (outcome: SpawnOutcome): void => {
      told(outcome);
      this.#world.wake(wish.parents[wish.root]!);
    };
    this.#later(() => {
      const free = this.#world.processes.filter(({ rank, state }) => state === "passive" && !this.#chosen.has(rank));
      const children = free.slice(0, wanted).map(({ rank }) => rank);
      const refuse = (): void => {
        this.counts.refused++;
        answer({ error: ErrorClass.SPAWN, why: "no room", wanted, children: [] });
      };
      if (children.length < wanted) {
        refuse();
        return;
      }
      for (const child of children) this.#chosen.add(child);
      // All of them can be spoken to before the first one speaks.
      for (const child of children) this.#world.bear(child, children);
      let left = children.length;
      const isLost = (): boolean => children.some((child) => this.#world.processes[child]!.state === "dead");
      for (const child of children) {
        this.#later(() => {
          const { state } = this.#world.processes[child]!;
          if (state !== "dead") this.#world.start(child, this.#program({ ...wish, world: children, command: 0 }));
          if (--left > 0) return;
          if (isLost()) {
            for (const other of children) this.#world.crash(other);
            refuse();
            return;
          }
          this.counts.granted++;
          this.#later(() => answer({ error: 0, why: "", wanted, children }));
        });
      }
    });
  }

  #later(act: () => void): void {
    this.#world.plan(this.#world.nowNs + this.#random.below(this.#delayNsMax), act);
  }
}
