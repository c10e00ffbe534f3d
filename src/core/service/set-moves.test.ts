import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import type { SetMove } from "./moved-sets.ts";
import { SetMoves, type SetMovesParts } from "./set-moves.ts";

/** Two nodes with two ranks each, which are one set; a third has been emptied. Checkpoints count when the test says so. */
class Host {
  readonly orders: string[] = [];
  readonly moves: SetMoves;
  stands = true;
  knowsSent = true;
  #answer: ((isSaved: boolean) => void) | null = null;

  constructor() {
    const order =
      (name: string) =>
      (...words: readonly unknown[]): void =>
        void this.orders.push([name, ...words].join(" "));
    const alive = [true, true, false];
    const parts = {
      core: {
        outcome: undefined,
        state: { nodes: alive },
        isNodeAlive: (node: number) => alive[node],
        moveRanks: (ranks: readonly number[], node: number) => order("places")(ranks, node),
        restartMoved: (node: number) => order("restart")(node),
        leftByMoved: (node: number) => order("left")(node),
      },
      recovery: {
        sets: 2,
        standsStill: () => this.stands,
        newest: () => ({ number: 4, position: 9 }),
        oldest: () => ({ number: 3, position: 7 }),
        membersOf: () => [0, 1],
        split: ({ rank, as }: { rank: number; as: number }) => order("split")(rank, as),
        letGo: order("let go"),
      },
      saved: (sets: readonly number[], isHeld: boolean, answer: (isSaved: boolean) => void) => {
        order(isHeld ? "hold" : "save")(sets);
        this.#answer = answer;
      },
      setsOn: (node: number) => (node < 2 ? [node] : []),
      sentBy: () => (this.knowsSent ? [] : null),
      shareImages: () => "",
      dropImages: order("drop"),
      endOf: (node: number) => () => order("end")(node),
      nowMs: () => 0,
      moved: () => order("moved")(),
      note: () => {},
      listed: () => "",
    };
    this.moves = new SetMoves(parts as unknown as SetMovesParts);
  }

  saved(): void {
    this.#answer?.(true);
  }

  begin(move: SetMove): this {
    this.moves.begin(move);
    return this;
  }
}

const alone: SetMove = { ranks: [1], from: 0, node: 1, split: 0 };

describe("a rank that leaves its set", () => {
  it("goes when all others are saved and its neighbours stand still; the older checkpoint is dropped", () => {
    const host = new Host().begin(alone);
    deepEqual(host.orders.splice(0), ["save 1"]);
    host.saved();
    deepEqual(host.orders.splice(0), ["hold 0"]);
    host.saved();
    deepEqual(host.orders.splice(0), ["places 1 1", "split 1 2", "drop 0 3", "restart 1", "left 0", "end 0", "end 1"]);
    equal(host.moves.isUnderWay, true);
    host.moves.began(1);
    deepEqual([host.orders, host.moves.isUnderWay, host.moves.count], [["moved"], false, 1]);
  });

  it("stays where a rank is lost before its neighbours have been saved; they go on", () => {
    const host = new Host().begin(alone);
    host.saved();
    host.moves.fallen(new Set([1]));
    host.saved();
    deepEqual([host.orders, host.moves.isUnderWay], [["save 1", "hold 0", "let go 0"], false]);
  });

  for (const lacking of ["stands", "knowsSent"] as const) {
    it(`stays where its neighbours have gone on, or have not said what they had sent (${lacking})`, () => {
      const host = new Host().begin(alone);
      host[lacking] = false;
      host.saved();
      host.saved();
      deepEqual(host.orders, ["save 1", "hold 0", "let go 0"]);
    });
  }
});

describe("a node whose place another process takes", () => {
  it("falls once", () => {
    const host = new Host().begin({ ranks: [0, 1], from: 0, node: 0, split: null });
    host.saved();
    deepEqual(host.orders, ["save 0", "places 0,1 0", "restart 0", "end 0"]);
  });
});
