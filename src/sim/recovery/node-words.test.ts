/** Words between a protocol's part in nodes and its part for the job, where nodes are lost and the dispatcher crashes. */
import { deepEqual, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { delayed } from "../../../test/protocols/delayed/definition.ts";
import type { JobPart } from "../../core/ft/job-part.ts";
import type { NewProtocol } from "../../core/ft/protocol.ts";
import { Random } from "../random.ts";
import type { PartsPorts, ProtocolParts } from "./protocol-parts.ts";
import { RecoveringWorld } from "./recovering-world.ts";

const ranks = 4;
const nodes = 2;

/** The part in a node, in one life: it counts, and is answered with the same numbers. */
interface NodeLife {
  readonly life: number;
  said: number;
  readonly heard: number[];
}

class EchoingParts implements ProtocolParts {
  readonly lives: NodeLife[][] = Array.from({ length: nodes }, () => []);
  readonly #ports: PartsPorts;

  constructor(ports: PartsPorts) {
    this.#ports = ports;
  }

  readonly job: JobPart = {
    prepare: ({ set, incarnation }) => this.#ports.job.prepared(set, incarnation, { forRanks: undefined }),
    mayCommit: () => true,
    committed() {},
    rankSaid() {},
    nodeSaid: (node, words) => this.#ports.job.toNode(node, words),
    forNode: () => undefined,
    tick() {},
    nextTimeMs: Number.POSITIVE_INFINITY,
  };

  beginAll(): void {
    for (let node = 0; node < nodes; node++) this.begin(node);
  }

  /** Each node is a set. */
  begin(node: number): void {
    this.lives[node]!.push({ life: this.lives[node]!.length, said: 0, heard: [] });
  }

  /** The program of a rank of that node goes on. */
  speak(node: number): void {
    const now = this.lives[node]!.at(-1)!;
    this.#ports.sayOf(node, { life: now.life, number: now.said++ });
  }

  nodeHeard(node: number, words: unknown): void {
    const { life, number } = words as { readonly life: number; readonly number: number };
    this.lives[node]![life]!.heard.push(number);
  }

  newProtocol(rank: number): NewProtocol {
    return delayed.rank!({
      rank,
      replica: 0,
      ranks,
      setOf: Int32Array.from(setOf),
      options: {},
      passed: new Float64Array(1),
      resources: undefined,
    });
  }

  dispatcherCrashed(): void {}
  crashed(): void {}
  disowned(): void {}
  endSuspects(): void {}
  trimmed(): void {}
  lose(): void {}
  loseAll(): void {}
}

const setOf = Array.from({ length: ranks }, (_, rank) => Math.floor((rank * nodes) / ranks));

/** What nodes have said and heard, of programs that compute; node 1 is killed, and the dispatcher crashes or does not. */
function livesIn(seed: number, crashes: boolean): NodeLife[][] {
  const random = new Random(seed);
  const there: RecoveringWorld<never, never, EchoingParts> = new RecoveringWorld(
    {
      world: { ranks, nodes, seed },
      setOf,
      services: { random, delayNsMax: 5_000, detectionNs: 5_000, restartNs: 5_000 },
      isCorrupt: () => false,
      checkpointPatienceNs: null,
      newParts: (ports) => new EchoingParts(ports),
      newTrouble: (world, ports) => ({
        happened: 1,
        fired: [],
        begin() {
          world.plan(40_000, () => ports.killNode(1));
          if (crashes) world.plan(20_000, () => ports.lose("dispatcher", undefined));
        },
        passes: () => false,
        finished() {},
        checkpoint() {},
        restarted() {},
        logFull() {},
        lives() {},
      }),
    },
    {
      prepare() {},
      start: (rank) => {
        const incarnation = there.recovery.incarnationOf(rank);
        there.world.start(rank, function* (process) {
          for (let step = 0; step < 20; step++) {
            yield process.compute(5_000);
            there.parts.speak(process.node);
          }
          there.finished(rank, incarnation);
        });
      },
      imageOf: () => {
        throw new Error("nobody is captured");
      },
      fell() {},
      captured() {},
    },
  );
  there.begin();
  deepEqual(there.world.run(), []);
  deepEqual(there.problemOfEnd, "");
  return there.parts.lives;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe("words between nodes and the job's part of a protocol", () => {
  it("X1: every word of a node is answered, in order, unless the node is lost", () => {
    for (let seed = 1; seed <= 10; seed++) {
      const [first, second] = livesIn(seed, false);
      deepEqual(
        first!.map(({ said }) => said),
        [40],
        "node 0 has lived once",
      );
      // The job ends when all programs are over: the last answers may come too late.
      const { heard } = first![0]!;
      deepEqual(heard, upTo(heard.length));
      ok(heard.length > 30, `${heard.length} of 40 words were answered`);
      deepEqual(second!.length, 2, "node 1 has lived twice");
      for (const { heard: ofLife, said } of second!) {
        deepEqual(ofLife, upTo(ofLife.length));
        ok(ofLife.length > 0 && ofLife.length <= said);
      }
    }
  });

  it("rule 7: words on their way to a dispatcher that crashes are lost, and none comes twice", () => {
    let lost = 0;
    for (let seed = 1; seed <= 10; seed++) {
      for (const { said, heard } of livesIn(seed, true).flat()) {
        deepEqual(
          heard,
          [...new Set(heard)].sort((a, b) => a - b),
        );
        if (heard.length > 0) lost += upTo(heard.at(-1)! + 1).length - heard.length;
        ok(heard.length <= said);
      }
    }
    ok(lost > 0, "no word was lost");
  });
});
