import assert from "node:assert/strict";
import { test } from "node:test";
import { ANY_SOURCE } from "../core/base/constants.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { Now } from "../core/binding/operations.ts";
import { ProcessOperations } from "../core/binding/process-operations.ts";
import { watched } from "../core/binding/testing/watched-operations.ts";
import { ChoiceKind } from "../core/ft/choices.ts";
import { type TestChoice, TestChoices, TestProtocol } from "../core/ft/testing/choices.ts";
import { noSpawner } from "../core/process/spawner.ts";
import { Random } from "../sim/random.ts";
import type { SimProcess } from "../sim/sim-process.ts";
import { assertReplayed, LateSends, until } from "../sim/testing/lives.ts";
import { World } from "../sim/world.ts";
import type { Host } from "./host.ts";
import { Mpi } from "./mpi.ts";
import type { Request } from "./request.ts";

const senders = [1, 2, 3] as const;

/** Rank 0 of a world; what the others send arrives when it looks or waits, in an order that the seed decides. */
class Receiver {
  readonly mpi: Mpi;
  readonly choices: TestChoices | null;
  /** What the program has seen. */
  readonly seen: unknown[] = [];
  readonly #late: LateSends;
  readonly #others: readonly Mpi[];
  readonly #world: World;
  readonly #random: Random;

  constructor(seed: number, choices: TestChoices | null) {
    this.choices = choices;
    const protocol = (rank: number) => (rank === 0 && choices !== null ? () => new TestProtocol(choices) : null);
    this.#world = new World({ ranks: 4, seed, protocol });
    this.#random = new Random(seed);
    this.#late = new LateSends(senders.length, this.#world, this.#random);
    const [mpi, ...others] = this.#world.processes.map((process) => {
      const host = this.#host(process);
      return new Mpi(host, watched(new ProcessOperations(host)).operations);
    });
    this.mpi = mpi!;
    this.#others = others;
  }

  #host({ core }: SimProcess): Host {
    const waitUntil = (isReady: () => boolean): boolean => {
      for (;;) {
        while (core.progress());
        if (isReady()) return true;
        assert(core.rank === 0 && this.#late.sendOne(), "the program waits for what never comes");
      }
    };
    return {
      process: core,
      survivesDeaths: true,
      spawner: noSpawner(1, "this is a test"),
      processorName: "test",
      wait: (request) => waitUntil(() => core.engine.isComplete(request)),
      waitUntil,
      look: () => {
        if (core.rank === 0 && this.#random.chance(0.4)) this.#late.sendOne();
        core.progress();
      },
      waitForGate: () => assert.fail("there are no boards"),
      whenReady: () => assert.fail("nobody awaits"),
      receiveNow: () => Now.MUST_POST,
      abort: (_code, message) => assert.fail(message),
      result() {},
      now: () => this.#random.below(1e9) / 7,
      moveClockTo() {},
      checkpoint() {},
      restored: () => null,
      awaiting: 0,
      exit: () => assert.fail("nobody dies here"),
      tracer: null,
    };
  }

  /** Each of the others sends a number, some time. */
  send(tag: number): void {
    for (const [i, mpi] of this.#others.entries()) {
      this.#late.add(i, () => mpi.world.send(Int32Array.of(100 * tag + i + 1), { dest: 0, tag }));
    }
  }

  revokeLater(): void {
    this.#late.add(0, () => this.#others[0]!.world.revoke());
  }

  receives(tag: number): { requests: Request[]; buffers: Int32Array[] } {
    this.send(tag);
    const buffers = senders.map(() => new Int32Array(1));
    const requests = senders.map((source, i) => this.mpi.world.irecv(buffers[i]!, { source, tag }));
    return { requests, buffers };
  }

  see(...what: unknown[]): void {
    this.seen.push(what);
  }
}

type Act = (receiver: Receiver) => void;

const acts: Readonly<Record<string, Act>> = {
  test(r) {
    const { requests, buffers } = r.receives(1);
    for (const [i, request] of requests.entries()) {
      until(() => {
        const status = request.test();
        r.see(status?.source, status === null ? 0 : buffers[i]![0]);
        return status !== null;
      });
    }
  },
  "peek and isComplete"(r) {
    const { requests } = r.receives(2);
    for (const request of requests) {
      r.see(request.isComplete);
      until(() => {
        r.see(request.peek()?.source);
        return request.isComplete;
      });
      request.wait();
    }
  },
  testAll(r) {
    const { requests } = r.receives(3);
    until(() => {
      const statuses = r.mpi.testAll(requests);
      r.see(statuses?.map(({ source }) => source));
      return statuses !== null;
    });
  },
  testAny(r) {
    const { requests } = r.receives(4);
    until(() => {
      const found = r.mpi.testAny(requests);
      r.see(found?.index, found?.status.source);
      return found?.index === r.mpi.UNDEFINED;
    });
  },
  testSome(r) {
    const { requests } = r.receives(5);
    until(() => {
      r.see(r.mpi.testSome(requests).map(({ index, status }) => [index, status.source]));
      return requests.every(({ isActive }) => !isActive);
    });
  },
  waitAny(r) {
    const { requests } = r.receives(6);
    for (let i = 0; i < 4; i++) r.see(r.mpi.waitAny(requests).index);
  },
  waitSome(r) {
    const { requests } = r.receives(7);
    until(() => {
      r.see(r.mpi.waitSome(requests).map(({ index }) => index));
      return requests.every(({ isActive }) => !isActive);
    });
  },
  iprobe(r) {
    const { world } = r.mpi;
    r.send(8);
    const buffer = new Int32Array(1);
    for (let found = 0; found < 3; ) {
      const status = world.iprobe({ source: ANY_SOURCE, tag: 8 });
      r.see(status?.source);
      if (status === null) continue;
      world.irecv(buffer, { source: status.source, tag: 8 }).wait();
      r.see(buffer[0]);
      found++;
    }
  },
  improbe(r) {
    r.send(9);
    const buffer = new Int32Array(1);
    for (let found = 0; found < 3; ) {
      const message = r.mpi.world.improbe({ tag: 9 });
      r.see(message?.recv(buffer).source, buffer[0]);
      if (message !== null) found++;
    }
  },
  probe(r) {
    r.send(10);
    const buffer = new Int32Array(1);
    for (let i = 0; i < 3; i++) {
      const { source } = r.mpi.world.probe({ tag: 10 });
      r.mpi.world.irecv(buffer, { source, tag: 10 }).wait();
      r.see(source, buffer[0]);
    }
  },
  mprobe(r) {
    r.send(11);
    const buffer = new Int32Array(1);
    for (let i = 0; i < 3; i++) r.see(r.mpi.world.mprobe({ tag: 11 }).recv(buffer).source, buffer[0]);
  },
  wtime(r) {
    for (let i = 0; i < 3; i++) r.see(r.mpi.wtime());
  },
};

function lived(seed: number, act: Act, known: readonly TestChoice[] = []): Receiver {
  const receiver = new Receiver(seed, new TestChoices(known));
  act(receiver);
  return receiver;
}

for (const [name, act] of Object.entries(acts)) {
  test(`L1 replay in TypeScript: ${name} says in a second life what it said in the first`, () => {
    assertReplayed((seed, known) => lived(seed, act, known));
  });
}

test("L1 replay in TypeScript: where nothing can be chosen nobody is asked", () => {
  const { choices } = lived(1, (r) => {
    const { world } = r.mpi;
    const { requests } = r.receives(1);
    r.mpi.waitAll(requests);
    for (const request of requests) r.see(request.test(), request.peek(), request.isComplete);
    r.see(r.mpi.testAll(requests), r.mpi.testAny(requests), r.mpi.testSome(requests));
    r.see(r.mpi.waitAny(requests), r.mpi.waitSome(requests));
    r.send(2);
    world.probe({ source: 2 });
    world.mprobe({ source: 2, tag: 2 }).recv(new Int32Array(1));
  });
  assert.deepEqual(choices!.all, []);
});

test("L1 replay in TypeScript: without a protocol that replays the program sees what there is", () => {
  for (const [name, act] of Object.entries(acts)) {
    const free = new Receiver(3, null);
    act(free);
    // Only `test` does not look when the request is complete: later arrivals come at other times then.
    if (name !== "test") assert.deepEqual(free.seen, lived(3, act).seen, name);
  }
});

for (const name of ["probe", "mprobe"] as const) {
  for (const [life, known] of [
    ["first", []],
    ["second", [{ kind: ChoiceKind.PROBE, outcome: [3, 1] }]],
  ] as const) {
    test(`L1 ${name} from any source ends when the communicator is revoked, in a ${life} life`, () => {
      const receiver = new Receiver(1, new TestChoices(known));
      receiver.revokeLater();
      assert.throws(() => receiver.mpi.world[name]({ tag: 1 }), { code: ErrorClass.REVOKED });
    });
  }
}
