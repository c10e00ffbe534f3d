import assert from "node:assert/strict";
import { test } from "node:test";
import { placementOf } from "./placement.ts";
import { SpawnAdmission } from "./spawn-admission.ts";

/** Ranks 0 and 1 are there, on nodes 0 and 1; 2 to 5 can be spawned, in turn on both. */
class World {
  readonly core: SpawnAdmission<string>;
  isFreezing = false;
  #free = [2, 3, 4, 5];
  readonly #said: string[] = [];

  constructor() {
    const say = (word: string): void => void this.#said.push(word);
    const free = (): number[] => this.#free;
    this.core = new SpawnAdmission(placementOf([0, 1, 0, 1, 0, 1]), {
      dispatcher: {
        admit: (count) => (free().length < count ? undefined : free().splice(0, count)),
        withdraw: (admitted) => say(`withdraw ${admitted.join()}`),
        get spares() {
          return free().length;
        },
      },
      isFreezing: () => this.isFreezing,
      joined: (children) => say(`joined ${children.join()}`),
      start: (node, ranks, order) => say(`node ${node} starts ${ranks.join()} of ${order.number}: ${order.programs}`),
      end: (node, ranks) => say(`node ${node} ends ${ranks.join()}`),
      answer: (rank, outcome) => {
        const rest =
          outcome.kind === "spawned" ? outcome.children.join() : outcome.kind === "refused" ? outcome.why : "";
        say(`${rank} hears ${outcome.kind} ${rest}`.trim());
      },
    });
  }

  get said(): string[] {
    return this.#said.splice(0);
  }

  ask(rank: number, processes: number): void {
    this.core.asked({ rank, processes, programs: "a.c" });
  }
}

test("§11.8 processes join, each node starts its part, and the asking rank hears when the last has", () => {
  const world = new World();
  world.ask(0, 3);
  assert.deepEqual(world.said, ["joined 2,3,4", "node 0 starts 2,4 of 0: a.c", "node 1 starts 3 of 0: a.c"]);
  world.core.ready(1, 0, "");
  assert.deepEqual(world.said, []);
  world.core.ready(0, 0, "");
  assert.deepEqual(world.said, ["0 hears spawned 2,3,4"]);
  world.core.ready(0, 0, "");
  assert.deepEqual(world.said, [], "once");
});

test("§11.8 more than there is room for: refused, with how many there could be", () => {
  const world = new World();
  world.ask(1, 5);
  assert.deepEqual(world.said, ["1 hears refused this job can start 4 more, not 5"]);
});

test("§11.8 all or none: one node cannot, and what the others have started is ended", () => {
  const world = new World();
  world.ask(0, 2);
  world.said;
  world.core.ready(0, 0, "no memory is left");
  assert.deepEqual(world.said, [], "the other node is still at it");
  world.core.ready(1, 0, "");
  assert.deepEqual(world.said, ["withdraw 2,3", "node 0 ends 2", "node 1 ends 3", "0 hears refused no memory is left"]);
});

test("§11.8 a node falls before it has started its part: the wish is refused, every wait has an end", () => {
  const world = new World();
  world.ask(0, 2);
  world.ask(1, 2);
  world.core.ready(0, 0, "");
  world.said;
  world.core.nodeEnded(1);
  assert.deepEqual(world.said.at(-1), "0 hears refused node 1 is gone");
  world.core.ready(0, 1, "");
  assert.deepEqual(world.said.at(-1), "1 hears refused node 1 is gone");
  world.core.nodeEnded(0);
  assert.deepEqual(world.said, []);
});

test("§11.8 a node that falls when it has started its part takes nothing back: its processes have died", () => {
  const world = new World();
  world.ask(0, 2);
  world.core.ready(1, 0, "");
  world.said;
  world.core.nodeEnded(1);
  world.core.ready(0, 0, "");
  assert.deepEqual(world.said, ["0 hears spawned 2,3"]);
});

test("X7 §11.8 a job that is being frozen admits nobody: the rank asks again when it goes on", () => {
  const world = new World();
  world.isFreezing = true;
  world.ask(0, 1);
  assert.deepEqual(world.said, ["0 hears later"]);
  world.isFreezing = false;
  world.ask(0, 1);
  assert.equal(world.said[0], "joined 2", "nothing was spent");
});

test("§11.8 a wish whose program cannot be had is refused, and nobody joins", () => {
  const world = new World();
  world.core.refuse(0, "there is no b.c");
  assert.deepEqual(world.said, ["0 hears refused there is no b.c"]);
});

test("§11.8 a wish for nobody is granted at once", () => {
  const world = new World();
  world.ask(0, 0);
  assert.deepEqual(world.said, ["0 hears spawned"]);
});
