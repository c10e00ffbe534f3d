import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { ChoiceKind } from "../../core/ft/choices.ts";
import { type TestChoice, TestChoices, TestProtocol } from "../../core/ft/testing/choices.ts";
import { Random } from "../../sim/random.ts";
import { assertReplayed, LateSends, until } from "../../sim/testing/lives.ts";
import { World } from "../../sim/world.ts";
import { restoreProcess, saveProcess } from "../process-state.ts";
import { TestProgram } from "../testing/program.ts";
import { ERRORS_RETURN, INFO_NULL, INT, WORLD } from "../testing/ranks.ts";

const ANY_SOURCE = -1;
const UNDEFINED = -32766;
const senders = [1, 2, 3] as const;
const statusBytes = 32;

/** Rank 0 of a world; what the others send arrives when it looks or waits, in an order that the seed decides. */
class Receiver {
  readonly c: TestProgram;
  readonly choices: TestChoices | null;
  /** What the program has seen. */
  readonly seen: unknown[] = [];
  readonly #late: LateSends;
  readonly #others: readonly TestProgram[];
  readonly #world: World;
  readonly #random: Random;
  /** The process shall stop in its next wait. */
  stops = false;

  constructor(seed: number, choices: TestChoices | null) {
    this.choices = choices;
    const protocol = (rank: number) => (rank === 0 && choices !== null ? () => new TestProtocol(choices) : null);
    this.#world = new World({ ranks: 4, seed, protocol });
    this.#random = new Random(seed);
    this.#late = new LateSends(senders.length, this.#world, this.#random);
    const [c, ...others] = this.#world.processes.map((process) => new TestProgram(this.#world, process));
    for (const each of [c!, ...others]) each.call("MPI_Init", 0, 0);
    this.c = c!;
    this.#others = others;
    const { host, process } = this.c.program;
    host.look = () => {
      if (this.#random.chance(0.4)) this.#late.sendOne();
      process.progress();
    };
    host.waitUntil = (isReady) => {
      for (;;) {
        while (process.progress());
        if (isReady()) return true;
        if (this.stops) return false;
        assert(this.#late.sendOne(), "the program waits for what never comes");
      }
    };
    host.wait = (request) => host.waitUntil(() => process.engine.isComplete(request));
    host.now = () => this.#random.below(1e9) / 7;
    this.c.program.suspension.unwinding = { start() {}, rewound() {} };
  }

  /** Each of the others sends a number, some time. */
  send(tag: number): void {
    for (const [i, c] of this.#others.entries()) {
      this.later(i, () => c.call("MPI_Send", c.ints(100 * tag + i + 1), 1, INT, 0, tag, WORLD));
    }
  }

  later(sender: number, act: () => void): void {
    this.#late.add(sender, act);
  }

  sender(index: number): TestProgram {
    return this.#others[index]!;
  }

  /** Handles of receives from each of the others, and where their numbers go. */
  receives(tag: number): { handles: number; buffers: number } {
    this.send(tag);
    const [handles, buffers] = [this.c.alloc(12), this.c.alloc(12)];
    for (const [i, from] of senders.entries()) {
      this.c.call("MPI_Irecv", buffers + 4 * i, 1, INT, from, tag, WORLD, handles + 4 * i);
    }
    return { handles, buffers };
  }

  see(...what: unknown[]): void {
    this.seen.push(what);
  }
}

type Act = (receiver: Receiver) => void;

const acts: Readonly<Record<string, Act>> = {
  MPI_Test(r) {
    const { c } = r;
    const { handles, buffers } = r.receives(1);
    const [flag, status] = [c.alloc(4), c.alloc(statusBytes)];
    for (const i of [0, 1, 2]) {
      until(() => {
        c.call("MPI_Test", handles + 4 * i, flag, status);
        r.see(c.int(flag), c.int(buffers + 4 * i) * c.int(flag), c.int(status) * c.int(flag));
        return c.int(flag) === 1;
      });
    }
  },
  MPI_Testall(r) {
    const { c } = r;
    const { handles, buffers } = r.receives(2);
    const flag = c.alloc(4);
    until(() => {
      c.call("MPI_Testall", 3, handles, flag, 0);
      r.see(c.int(flag), c.int(flag) === 1 ? c.list(buffers, 3) : []);
      return c.int(flag) === 1;
    });
  },
  MPI_Testany(r) {
    const { c } = r;
    const { handles, buffers } = r.receives(3);
    const [flag, index] = [c.alloc(4), c.alloc(4)];
    until(() => {
      c.call("MPI_Testany", 3, handles, index, flag, 0);
      const i = c.int(index);
      r.see(c.int(flag), i, i < 0 ? 0 : c.int(buffers + 4 * i));
      return c.int(flag) === 1 && i === UNDEFINED;
    });
  },
  MPI_Testsome(r) {
    const { c } = r;
    const { handles } = r.receives(4);
    const [count, indices, statuses] = [c.alloc(4), c.alloc(12), c.alloc(3 * statusBytes)];
    until(() => {
      c.call("MPI_Testsome", 3, handles, count, indices, statuses);
      r.see(c.int(count), c.list(indices, Math.max(0, c.int(count))));
      return c.int(count) === UNDEFINED;
    });
  },
  MPI_Waitany(r) {
    const { c } = r;
    const { handles } = r.receives(5);
    for (let i = 0; i < 4; i++) {
      const [index, status] = [c.alloc(4), c.alloc(statusBytes)];
      c.call("MPI_Waitany", 3, handles, index, status);
      r.see(c.int(index), c.int(status));
    }
  },
  MPI_Waitsome(r) {
    const { c } = r;
    const { handles } = r.receives(6);
    const [count, indices] = [c.alloc(4), c.alloc(12)];
    until(() => {
      c.call("MPI_Waitsome", 3, handles, count, indices, 0);
      r.see(c.int(count), c.list(indices, Math.max(0, c.int(count))));
      return c.int(count) === UNDEFINED;
    });
  },
  MPI_Request_get_status(r) {
    const { c } = r;
    const { handles } = r.receives(7);
    const [flag, index, status, count, indices] = [
      c.alloc(4),
      c.alloc(4),
      c.alloc(statusBytes),
      c.alloc(4),
      c.alloc(12),
    ];
    for (const i of [0, 1]) {
      c.call("MPI_Request_get_status", c.int(handles + 4 * i), flag, status);
      r.see(c.int(flag), c.int(status) * c.int(flag));
      c.call("MPI_Request_get_status_any", 3, handles, index, flag, status);
      r.see(c.int(flag), c.int(index));
      c.call("MPI_Request_get_status_some", 3, handles, count, indices, c.alloc(3 * statusBytes));
      r.see(c.int(count), c.list(indices, c.int(count)));
    }
    until(() => {
      c.call("MPI_Request_get_status_all", 3, handles, flag, 0);
      r.see(c.int(flag));
      return c.int(flag) === 1;
    });
    c.call("MPI_Waitall", 3, handles, 0);
  },
  MPI_Iprobe(r) {
    const { c } = r;
    r.send(8);
    const [flag, status, buffer] = [c.alloc(4), c.alloc(statusBytes), c.alloc(4)];
    for (let found = 0; found < 3; ) {
      c.call("MPI_Iprobe", ANY_SOURCE, 8, WORLD, flag, status);
      r.see(c.int(flag), c.int(flag) === 1 ? c.list(status, 2) : []);
      if (c.int(flag) === 0) continue;
      c.call("MPI_Recv", buffer, 1, INT, c.int(status), 8, WORLD, 0);
      r.see(c.int(buffer));
      found++;
    }
    r.send(9);
    until(() => {
      c.call("MPI_Iprobe", 2, 9, WORLD, flag, status);
      r.see(c.int(flag));
      return c.int(flag) === 1;
    });
    for (const from of senders) c.call("MPI_Recv", buffer, 1, INT, from, 9, WORLD, 0);
  },
  MPI_Improbe(r) {
    const { c } = r;
    r.send(10);
    const [flag, message, buffer] = [c.alloc(4), c.alloc(4), c.alloc(4)];
    for (let found = 0; found < 3; ) {
      c.call("MPI_Improbe", ANY_SOURCE, 10, WORLD, flag, message, 0);
      r.see(c.int(flag));
      if (c.int(flag) === 0) continue;
      c.call("MPI_Mrecv", buffer, 1, INT, message, 0);
      r.see(c.int(buffer));
      found++;
    }
  },
  MPI_Probe(r) {
    const { c } = r;
    r.send(11);
    const [status, buffer] = [c.alloc(statusBytes), c.alloc(4)];
    for (let i = 0; i < 3; i++) {
      c.call("MPI_Probe", ANY_SOURCE, 11, WORLD, status);
      c.call("MPI_Recv", buffer, 1, INT, c.int(status), 11, WORLD, 0);
      r.see(c.int(status), c.int(buffer));
    }
  },
  MPI_Mprobe(r) {
    const { c } = r;
    r.send(12);
    const [message, buffer] = [c.alloc(4), c.alloc(4)];
    for (let i = 0; i < 3; i++) {
      c.call("MPI_Mprobe", ANY_SOURCE, 12, WORLD, message, 0);
      c.call("MPI_Mrecv", buffer, 1, INT, message, 0);
      r.see(c.int(buffer));
    }
  },
  MPI_Parrived(r) {
    const { c } = r;
    const other = r.sender(0);
    const sent = other.alloc(4);
    other.call("MPI_Psend_init", other.ints(7, 8), 2, 1n, INT, 0, 13, WORLD, INFO_NULL, sent);
    other.call("MPI_Start", sent);
    r.later(0, () => other.call("MPI_Pready_range", 0, 1, other.int(sent)));
    const [received, buffer, flag] = [c.alloc(4), c.alloc(8), c.alloc(4)];
    c.call("MPI_Precv_init", buffer, 2, 1n, INT, 1, 13, WORLD, INFO_NULL, received);
    c.call("MPI_Start", received);
    until(() => {
      c.call("MPI_Parrived", c.int(received), 1, flag);
      r.see(c.int(flag), c.int(flag) === 1 ? c.list(buffer, 2) : []);
      return c.int(flag) === 1;
    });
    c.call("MPI_Wait", received, 0);
    other.call("MPI_Wait", sent, 0);
  },
  MPI_Wtime(r) {
    for (let i = 0; i < 3; i++) r.see(r.c.value("MPI_Wtime"));
  },
};

function lived(seed: number, act: Act, known: readonly TestChoice[] = []): Receiver {
  const receiver = new Receiver(seed, new TestChoices(known));
  act(receiver);
  return receiver;
}

for (const [name, act] of Object.entries(acts)) {
  test(`L1 replay: ${name} says in a second life what it said in the first`, () => {
    assertReplayed((seed, known) => lived(seed, act, known));
  });
}

test("L1 replay: one life with all calls", () => {
  const whole: Act = (receiver) => {
    for (const act of Object.values(acts)) act(receiver);
  };
  for (let seed = 0; seed < 5; seed++) {
    const first = lived(seed, whole);
    assert.deepEqual(lived(seed + 100, whole, first.choices!.all).seen, first.seen);
  }
});

test("L1 replay: where nothing can be chosen nobody is asked", () => {
  const { choices } = lived(1, (r) => {
    const { c } = r;
    const [flag, out, status] = [c.alloc(4), c.alloc(4), c.alloc(statusBytes)];
    const none = c.ints(0x180, 0x180);
    c.call("MPI_Test", none, flag, status);
    c.call("MPI_Testall", 2, none, flag, 0);
    c.call("MPI_Testany", 2, none, out, flag, status);
    c.call("MPI_Testsome", 2, none, out, c.alloc(8), 0);
    c.call("MPI_Waitany", 2, none, out, status);
    c.call("MPI_Waitsome", 2, none, out, c.alloc(8), 0);
    c.call("MPI_Request_get_status", 0x180, flag, status);
    c.call("MPI_Request_get_status_any", 2, none, out, flag, status);
    c.call("MPI_Request_get_status_some", 2, none, out, c.alloc(8), 0);
    c.call("MPI_Iprobe", -3, 0, WORLD, flag, status);
    c.call("MPI_Improbe", -3, 0, WORLD, flag, out, status);
    r.send(1);
    // From one source it is always the same message.
    c.call("MPI_Probe", 2, 1, WORLD, status);
    c.call("MPI_Mprobe", 2, 1, WORLD, out, status);
    c.call("MPI_Mrecv", c.alloc(4), 1, INT, out, 0);
    c.value("MPI_Wtick");
  });
  assert.deepEqual(choices!.all, []);
});

/** In the middle of a replayed wait the process stops, and goes on: here, or in another process from an image. */
function interrupted(name: string, known: TestChoice, moves: boolean): void {
  const first = new Receiver(5, new TestChoices([known]));
  const { c } = first;
  const { handles, buffers } = first.receives(1);
  const [a, b, status] = [c.alloc(12), c.alloc(12), c.alloc(3 * statusBytes)];
  const args: Readonly<Record<string, readonly number[]>> = {
    MPI_Test: [handles + 4, a, status],
    MPI_Testany: [3, handles, a, b, status],
    MPI_Waitany: [3, handles, a, status],
    MPI_Waitsome: [3, handles, a, b, status],
  };
  first.stops = true;
  c.value(name, ...args[name]!);
  assert.equal(first.choices!.taken, 1, "it knows what it waits for");
  assert.equal(c.program.suspension.isReady(), false);
  let second = first;
  if (moves) {
    const state = saveProcess(c.program);
    second = new Receiver(6, new TestChoices());
    second.c.memory.arena.copyFrom(c.memory.arena);
    restoreProcess(second.c.program, state);
    second.c.watched.restored();
    second.send(1);
  }
  second.stops = false;
  second.c.program.suspension.isRewinding = true;
  assert.equal(second.c.value(name, ...args[name]!), 0);
  assert.equal(second.choices!.taken, moves ? 0 : 1, "nothing is taken twice");
  assert.deepEqual(second.choices!.all.length, moves ? 0 : 1, "nothing is chosen");
  const expected: Readonly<Record<string, () => void>> = {
    MPI_Test: () => assert.deepEqual([second.c.int(a), second.c.int(status)], [1, 2]),
    MPI_Testany: () => assert.deepEqual([second.c.int(a), second.c.int(b)], [1, 1]),
    MPI_Waitany: () => assert.equal(second.c.int(a), 1),
    MPI_Waitsome: () => assert.deepEqual([second.c.int(a), ...second.c.list(b, 2)], [2, 1, 2]),
  };
  expected[name]!();
  assert.equal(second.c.int(buffers + 4), 102);
  assert.equal(second.c.int(handles + 4), 0x180);
}

const interruptions: Readonly<Record<string, TestChoice>> = {
  MPI_Test: { kind: ChoiceKind.TEST, outcome: [] },
  MPI_Testany: { kind: ChoiceKind.ANY, outcome: [1] },
  MPI_Waitany: { kind: ChoiceKind.ANY, outcome: [1] },
  MPI_Waitsome: { kind: ChoiceKind.SOME, outcome: [1, 2] },
};

for (const [name, known] of Object.entries(interruptions)) {
  test(`L1 replay: ${name} that is interrupted takes what is known once`, () => interrupted(name, known, false));
  test(`L1 replay: ${name} that is interrupted carries what is known in its image`, () =>
    interrupted(name, known, true));
}

for (const name of ["MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe"]) {
  test(`L1 replay: ${name} that is interrupted finds the known message`, () => {
    const args = (c: TestProgram) => {
      const [flag, message, status] = [c.alloc(4), c.alloc(4), c.alloc(statusBytes)];
      const outs = [...(name.startsWith("MPI_I") ? [flag] : []), ...(/mprobe/i.test(name) ? [message] : []), status];
      return { flag, message, status, all: [ANY_SOURCE, 1, WORLD, ...outs] };
    };
    // The first message of rank 3 to us.
    const receiver = new Receiver(2, new TestChoices([{ kind: ChoiceKind.PROBE, outcome: [3, firstNumber()] }]));
    const { c, choices } = receiver;
    const { flag, message, status, all } = args(c);
    receiver.stops = true;
    c.value(name, ...all);
    assert.equal(choices!.taken, 1);
    assert.equal(c.program.suspension.isReady(), false);
    receiver.send(1);
    receiver.stops = false;
    c.program.suspension.isRewinding = true;
    assert.equal(c.value(name, ...all), 0);
    assert.equal(choices!.all.length, 1);
    assert.deepEqual(c.list(status, 2), [3, 1]);
    if (name.startsWith("MPI_I")) assert.equal(c.int(flag), 1);
    const buffer = c.alloc(4);
    if (/mprobe/i.test(name)) c.call("MPI_Mrecv", buffer, 1, INT, message, 0);
    else c.call("MPI_Recv", buffer, 1, INT, 3, 1, WORLD, 0);
    assert.equal(c.int(buffer), 103);
  });
}

/** Of the first message of a channel. */
function firstNumber(): number {
  const { choices } = lived(1, acts["MPI_Probe"]!);
  return choices!.all[0]!.outcome![1]!;
}

test("L1 replay: a live call that is interrupted has chosen nothing", () => {
  const receiver = new Receiver(1, new TestChoices());
  const { c, choices } = receiver;
  const { handles } = receiver.receives(1);
  const index = c.alloc(4);
  receiver.stops = true;
  c.value("MPI_Waitany", 3, handles, index, 0);
  assert.deepEqual(choices!.all, []);
  receiver.stops = false;
  c.program.suspension.isRewinding = true;
  c.value("MPI_Waitany", 3, handles, index, 0);
  assert.deepEqual(choices!.all, [{ kind: ChoiceKind.ANY, outcome: [c.int(index)] }]);
});

test("M1 §3.8.2 MPI_Mprobe that is interrupted does not lose the message it has seen", () => {
  const receiver = new Receiver(1, null);
  const { c } = receiver;
  const [message, buffer] = [c.alloc(4), c.alloc(4)];
  receiver.stops = true;
  c.value("MPI_Mprobe", 2, 1, WORLD, message, 0);
  assert.equal(c.program.suspension.isReady(), false);
  receiver.send(1);
  receiver.stops = false;
  c.program.host.waitUntil(() => c.program.suspension.isReady());
  c.program.suspension.isRewinding = true;
  c.value("MPI_Mprobe", 2, 1, WORLD, message, 0);
  c.call("MPI_Mrecv", buffer, 1, INT, message, 0);
  assert.equal(c.int(buffer), 102);
});

test("L1 replay: without a protocol that replays the program sees what there is", () => {
  for (const [name, act] of Object.entries(acts)) {
    const free = new Receiver(3, null);
    act(free);
    if (name !== "MPI_Wtime") assert.deepEqual(free.seen, lived(3, act).seen, name);
  }
});

for (const name of ["MPI_Probe", "MPI_Mprobe"]) {
  const probe = (receiver: Receiver): number => {
    const { c } = receiver;
    const outs = name === "MPI_Probe" ? [c.alloc(statusBytes)] : [c.alloc(4), c.alloc(statusBytes)];
    c.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
    receiver.later(0, () => receiver.sender(0).call("MPIX_Comm_revoke", WORLD));
    return c.call(name, ANY_SOURCE, 1, WORLD, ...outs);
  };

  test(`L1 ${name} from any source ends when the communicator is revoked, and has chosen nothing`, () => {
    const receiver = new Receiver(1, new TestChoices());
    assert.equal(probe(receiver), ErrorClass.REVOKED);
    assert.deepEqual(receiver.choices!.all, []);
  });

  test(`L1 replay: ${name} ends when the communicator is revoked before the known message has come`, () => {
    const receiver = new Receiver(2, new TestChoices([{ kind: ChoiceKind.PROBE, outcome: [3, firstNumber()] }]));
    assert.equal(probe(receiver), ErrorClass.REVOKED);
  });
}
