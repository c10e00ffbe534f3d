import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { CONGRUENT, IDENT, SIMILAR, UNDEFINED, UNEQUAL } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { TestProgram } from "../testing/program.ts";
import { COMM_NULL, ERRORS_RETURN, INFO_NULL, INT, SELF, TestRanks, WORLD } from "../testing/ranks.ts";

const SUM = 0x21;
const REQUEST_NULL = 0x180;

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
/** Errors are codes from here on. */
const lenient = (c: TestProgram): number => c.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);

/** World ranks of the members of each rank's communicator; null for MPI_COMM_NULL. */
function membersOf(ranks: TestRanks, comms: readonly number[]): (number[] | null)[] {
  return ranks.all((c, rank) => {
    const comm = comms[rank]!;
    if (comm === COMM_NULL) return null;
    const group = c.get("MPI_Comm_group", comm);
    const size = c.get("MPI_Group_size", group);
    const [from, to] = [c.ints(...range(size)), c.alloc(4 * size)];
    c.call("MPI_Group_translate_ranks", group, size, from, c.get("MPI_Comm_group", WORLD), to);
    return c.list(to, size);
  });
}

/** An allreduce of one from every member: it works, and the others are in it. */
function sumsOf(ranks: TestRanks, comms: readonly number[]): number[] {
  return ranks.all((c, rank) => {
    if (comms[rank] === COMM_NULL) return 0;
    const [from, to] = [c.ints(1), c.alloc(4)];
    c.call("MPI_Allreduce", from, to, 1, INT, SUM, comms[rank]!);
    return c.int(to);
  });
}

function freeAll(ranks: TestRanks, comms: readonly number[]): void {
  ranks.all((c, rank) => {
    const at = c.ints(comms[rank]!);
    if (comms[rank] !== COMM_NULL) equal(c.call("MPI_Comm_free", at), 0);
    equal(c.int(at), COMM_NULL);
  });
}

/** Even world ranks on one side, odd ones on the other; the leaders are ranks 0 and 1 of the world. */
function interOf(ranks: TestRanks): number[] {
  const halves = ranks.get("MPI_Comm_split", (_, rank) => [WORLD, rank % 2, rank]);
  return ranks.get("MPI_Intercomm_create", (_, rank) => [
    halves[rank]!,
    0,
    rank < 2 ? WORLD : COMM_NULL,
    1 - (rank % 2),
    7,
  ]);
}

describe("communicators", () => {
  it("dup: the same members, messages of its own, no name and no hints of the old one", () => {
    const ranks = new TestRanks(5, { nodes: 2 });
    ranks.all((c) => {
      const info = c.get("MPI_Info_create");
      c.call("MPI_Info_set", info, c.text("mpi_assert_no_any_tag"), c.text("true"));
      c.call("MPI_Comm_set_info", WORLD, info);
    });
    const copies = ranks.get("MPI_Comm_dup", () => [WORLD]);
    deepEqual(membersOf(ranks, copies), new Array(5).fill(range(5)));
    deepEqual(sumsOf(ranks, copies), [5, 5, 5, 5, 5]);
    ranks.all((c, rank) => {
      equal(c.get("MPI_Comm_compare", WORLD, copies[rank]!), CONGRUENT);
      equal(c.get("MPI_Comm_compare", WORLD, WORLD), IDENT);
      const length = c.alloc(4);
      c.call("MPI_Comm_get_name", copies[rank]!, c.alloc(128), length);
      equal(c.int(length), 0);
      equal(c.get("MPI_Info_get_nkeys", c.get("MPI_Comm_get_info", copies[rank]!)), 0);
      equal(c.get("MPI_Info_get_nkeys", c.get("MPI_Comm_get_info", WORLD)), 1);
    });
    freeAll(ranks, copies);
    equal(Math.max(...ranks.all((c) => c.end())), 0);
  });

  it("dup_with_info has the hints of the call, set_info adds to them those that are known", () => {
    const ranks = new TestRanks(2);
    const infos = ranks.all((c) => c.get("MPI_Info_create"));
    ranks.all((c, rank) => c.call("MPI_Info_set", infos[rank]!, c.text("mpi_assert_no_any_tag"), c.text("true")));
    const copies = ranks.get("MPI_Comm_dup_with_info", (_, rank) => [WORLD, infos[rank]!]);
    ranks.all((c, rank) => {
      const more = c.get("MPI_Info_create");
      c.call("MPI_Info_set", more, c.text("mpi_assert_exact_length"), c.text("true"));
      c.call("MPI_Info_set", more, c.text("unheard_of"), c.text("true"));
      c.call("MPI_Comm_set_info", copies[rank]!, more);
      equal(c.get("MPI_Info_get_nkeys", c.get("MPI_Comm_get_info", copies[rank]!)), 2);
      equal(c.get("MPI_Info_get_nkeys", infos[rank]!), 1);
    });
  });

  it("idup: several at once; the handle is there with the request", () => {
    const ranks = new TestRanks(3);
    const outs = ranks.all((c) => range(4).map(() => ({ comm: c.alloc(4), request: c.alloc(4) })));
    ranks.all((c, rank) => {
      for (const { comm, request } of outs[rank]!) equal(c.call("MPI_Comm_idup", WORLD, comm, request), 0);
    });
    for (const i of range(4).reverse()) {
      const comms = ranks.all((c, rank) => {
        const { comm, request } = outs[rank]![i]!;
        equal(c.call("MPI_Wait", request, 0), 0);
        equal(c.int(request), REQUEST_NULL);
        return c.int(comm);
      });
      deepEqual(sumsOf(ranks, comms), [3, 3, 3]);
      freeAll(ranks, comms);
    }
    ranks.all((c) => equal(c.program.process.communicators.size, 2));
  });

  it("split: colours, keys, MPI_UNDEFINED", () => {
    const ranks = new TestRanks(5, { nodes: 2 });
    const parts = ranks.get("MPI_Comm_split", (_, rank) => [WORLD, rank === 4 ? UNDEFINED : rank % 2, -rank]);
    deepEqual(membersOf(ranks, parts), [[2, 0], [3, 1], [2, 0], [3, 1], null]);
    deepEqual(sumsOf(ranks, parts), [2, 2, 2, 2, 0]);
    const backwards = ranks.get("MPI_Comm_split", (_, rank) => [WORLD, 0, -rank]);
    ranks.all((c, rank) => {
      equal(c.get("MPI_Comm_compare", WORLD, backwards[rank]!), SIMILAR);
      lenient(c);
      equal(c.call("MPI_Comm_split", WORLD, -1, 0, c.alloc(4)), ErrorClass.ARG);
    });
  });

  it("split_type: the ranks of a node; what is finer does not exist", () => {
    const ranks = new TestRanks(4, { nodes: 2 });
    const nodes = [
      [0, 1],
      [0, 1],
      [2, 3],
      [2, 3],
    ];
    const [shared, unguided, guided, undefinedType] = [221, 222, 223, UNDEFINED];
    const split = (type: number, info = INFO_NULL) =>
      membersOf(
        ranks,
        ranks.get("MPI_Comm_split_type", () => [WORLD, type, 0, info]),
      );
    deepEqual(split(shared!), nodes);
    const infos = ranks.all((c) => c.get("MPI_Info_create"));
    deepEqual(split(unguided!, infos[0]!), nodes);
    deepEqual(split(guided!), new Array(4).fill(null));
    // The call before has told what it split by.
    deepEqual(split(guided!, infos[0]!), nodes);
    deepEqual(split(undefinedType!), new Array(4).fill(null));
    ranks.all((c) => {
      lenient(c);
      equal(c.call("MPI_Comm_split_type", WORLD, 5, 0, INFO_NULL, c.alloc(4)), ErrorClass.ARG);
    });
  });

  it("create and create_group: the group's members in its order, for the others MPI_COMM_NULL", () => {
    const ranks = new TestRanks(4);
    const groups = ranks.all((c) => c.get("MPI_Group_incl", c.get("MPI_Comm_group", WORLD), 2, c.ints(3, 1)));
    const created = ranks.get("MPI_Comm_create", (_, rank) => [WORLD, groups[rank]!]);
    deepEqual(membersOf(ranks, created), [null, [3, 1], null, [3, 1]]);
    // Only the members call.
    const grouped = ranks.all((c, rank) =>
      rank % 2 === 1 ? c.get("MPI_Comm_create_group", WORLD, groups[rank]!, 5) : COMM_NULL,
    );
    deepEqual(sumsOf(ranks, grouped), [0, 2, 0, 2]);
    equal(ranks.programs[0]!.get("MPI_Comm_create_group", WORLD, groups[0]!, 5), COMM_NULL);
    const named = ranks.all((c, rank) => {
      if (rank % 2 === 0) return COMM_NULL;
      return c.get("MPI_Comm_create_from_group", groups[rank]!, c.text("org.test"), INFO_NULL, ERRORS_RETURN);
    });
    deepEqual(membersOf(ranks, named), [null, [3, 1], null, [3, 1]]);
    const [c, , , last] = ranks.programs;
    c!.call("MPI_Comm_set_errhandler", SELF, ERRORS_RETURN);
    equal(c!.call("MPI_Comm_create", SELF, groups[0]!, c!.alloc(4)), ErrorClass.GROUP);
    equal(last!.call("MPI_Comm_rank", named[3]!, last!.alloc(4)), 0);
    equal(last!.call("MPI_Bcast", 0, 0, INT, 9, named[3]!), ErrorClass.ROOT);
  });

  it("inter-communicators: create, remote side, dup, split, create, merge", () => {
    for (const nodes of [1, 3]) {
      const ranks = new TestRanks(5, { nodes, seed: nodes });
      const inter = interOf(ranks);
      ranks.all((c, rank) => {
        equal(c.get("MPI_Comm_test_inter", inter[rank]!), 1);
        equal(c.get("MPI_Comm_test_inter", WORLD), 0);
        equal(c.get("MPI_Comm_size", inter[rank]!), rank % 2 === 0 ? 3 : 2);
        equal(c.get("MPI_Comm_remote_size", inter[rank]!), rank % 2 === 0 ? 2 : 3);
        equal(c.get("MPI_Group_size", c.get("MPI_Comm_remote_group", inter[rank]!)), rank % 2 === 0 ? 2 : 3);
        equal(c.get("MPI_Comm_compare", WORLD, inter[rank]!), UNEQUAL);
      });
      const copies = ranks.get("MPI_Comm_dup", (_, rank) => [inter[rank]!]);
      ranks.all((c, rank) => equal(c.get("MPI_Comm_compare", inter[rank]!, copies[rank]!), CONGRUENT));
      const merged = ranks.get("MPI_Intercomm_merge", (_, rank) => [copies[rank]!, rank % 2 === 0 ? 1 : 0]);
      deepEqual(membersOf(ranks, merged), new Array(5).fill([1, 3, 0, 2, 4]));
      const pairs = ranks.get("MPI_Comm_split", (_, rank) => [inter[rank]!, rank >> 1, 0]);
      deepEqual(
        ranks.all((c, rank) => (pairs[rank] === COMM_NULL ? 0 : c.get("MPI_Comm_remote_size", pairs[rank]!))),
        [1, 1, 1, 1, 0],
      );
      // The first of each side.
      const firsts = ranks.get("MPI_Comm_create", (c, rank) => {
        const side = c.get("MPI_Comm_group", inter[rank]!);
        return [inter[rank]!, c.get("MPI_Group_incl", side, 1, c.ints(0))];
      });
      deepEqual(membersOf(ranks, firsts), [[0], [1], null, null, null]);
    }
  });

  it("an inter-communicator from two groups needs no communicator", () => {
    const ranks = new TestRanks(4);
    const inter = ranks.get("MPI_Intercomm_create_from_groups", (c, rank) => {
      const world = c.get("MPI_Comm_group", WORLD);
      const [low, high] = [c.get("MPI_Group_incl", world, 1, c.ints(2)), c.get("MPI_Group_excl", world, 1, c.ints(2))];
      const sides = rank === 2 ? [low, 0, high, 1] : [high, 1, low, 0];
      return [...sides, c.text("org.test"), INFO_NULL, ERRORS_RETURN];
    });
    deepEqual(
      ranks.all((c, rank) => c.get("MPI_Comm_remote_size", inter[rank]!)),
      [1, 1, 3, 1],
    );
    ranks.all((c) => equal(c.program.process.communicators.size, 3));
    freeAll(ranks, inter);
  });

  it("two groups that have a member in common make no inter-communicator", () => {
    const ranks = new TestRanks(3);
    const outcomes = (args: (rank: number) => number[]): number[] =>
      ranks.all((c, rank) => {
        for (const comm of [WORLD, SELF]) c.call("MPI_Comm_set_errhandler", comm, ERRORS_RETURN);
        const out = c.ints(77);
        const code = c.call("MPI_Intercomm_create", ...args(rank), 5, out);
        equal(c.int(out), COMM_NULL);
        return code;
      });
    // Every rank with itself, and all of them with themselves.
    deepEqual(
      outcomes((rank) => [SELF, 0, WORLD, rank]),
      [ErrorClass.COMM, ErrorClass.COMM, ErrorClass.COMM],
    );
    deepEqual(
      outcomes(() => [WORLD, 1, WORLD, 1]),
      [ErrorClass.COMM, ErrorClass.COMM, ErrorClass.COMM],
    );
  });

  it("a leader that refuses the other group tells its own: nobody waits", () => {
    const ranks = new TestRanks(3);
    const outcomes = (remoteOf: (c: TestProgram, world: number) => number, remoteLeader: number): number[][] =>
      ranks.all((c) => {
        c.call("MPI_Comm_set_errhandler", SELF, ERRORS_RETURN);
        const world = c.get("MPI_Comm_group", WORLD);
        const out = c.ints(77);
        const sides = [world, 2, remoteOf(c, world), remoteLeader];
        const code = c.call("MPI_Intercomm_create_from_groups", ...sides, c.text("x"), INFO_NULL, ERRORS_RETURN, out);
        equal(c.program.process.communicators.size, 2, "the communicator of the group is gone");
        return [code, c.int(out)];
      });
    // A group cannot speak to itself; one that was never made, or is empty, is nobody.
    deepEqual(
      outcomes((_c, world) => world, 0).map(([code]) => code),
      new Array(3).fill(ErrorClass.GROUP),
    );
    deepEqual(
      outcomes(() => 0x12345, 0).map(([code]) => code),
      new Array(3).fill(ErrorClass.GROUP),
    );
    deepEqual(
      outcomes((c, world) => c.get("MPI_Group_incl", world, 0, c.ints(0)), 0),
      new Array(3).fill([0, COMM_NULL]),
    );
  });

  it("intercomm_create refuses leaders, tags and communicators that are none", () => {
    const [c] = new TestRanks(1).programs;
    c!.call("MPI_Comm_set_errhandler", SELF, ERRORS_RETURN);
    const create = (leader: number, bridge: number, remote: number, tag: number) =>
      c!.call("MPI_Intercomm_create", SELF, leader, bridge, remote, tag, c!.alloc(4));
    equal(create(1, WORLD, 0, 0), ErrorClass.RANK);
    equal(create(0, WORLD, 1, 0), ErrorClass.RANK);
    equal(create(0, COMM_NULL, 0, 0), ErrorClass.COMM);
    equal(create(0, WORLD, 0, -1), ErrorClass.TAG);
    equal(c!.call("MPI_Comm_remote_size", SELF, c!.alloc(4)), ErrorClass.COMM);
    equal(c!.call("MPI_Intercomm_merge", SELF, 0, c!.alloc(4)), ErrorClass.COMM);
  });

  it("names: cut to what fits, without spaces at the end; MPI_COMM_NULL has one too", () => {
    const [c] = new TestRanks(1).programs;
    const nameOf = (comm: number): string => {
      const [to, length] = [c!.alloc(128), c!.alloc(4)];
      c!.call("MPI_Comm_get_name", comm, to, length);
      const name = c!.program.text(to);
      equal(c!.int(length), name.length);
      return name;
    };
    equal(nameOf(WORLD), "MPI_COMM_WORLD");
    equal(nameOf(COMM_NULL), "MPI_COMM_NULL");
    c!.call("MPI_Comm_set_name", SELF, c!.text(" mine  "));
    equal(nameOf(SELF), " mine");
    c!.call("MPI_Comm_set_name", SELF, c!.text("x".repeat(200)));
    equal(nameOf(SELF), "x".repeat(127));
    equal(c!.get("MPI_Comm_get_parent"), COMM_NULL);
  });

  it("free: the predefined ones stay, a freed handle is none, requests go on; disconnect waits for them", () => {
    const ranks = new TestRanks(2);
    ranks.all((c) => {
      lenient(c);
      equal(c.call("MPI_Comm_free", c.ints(WORLD)), ErrorClass.COMM);
      c.call("MPI_Comm_set_errhandler", SELF, ERRORS_RETURN);
      equal(c.call("MPI_Comm_disconnect", c.ints(SELF)), ErrorClass.COMM);
      equal(c.call("MPI_Comm_free", c.ints(COMM_NULL)), ErrorClass.COMM);
    });
    const copies = ranks.get("MPI_Comm_dup", () => [WORLD]);
    const buffers = ranks.all((c, rank) => {
      const [buffer, request] = [c.ints(10 + rank), c.alloc(4)];
      const call = rank === 0 ? "MPI_Isend" : "MPI_Irecv";
      c.call(call, buffer, 1, INT, 1 - rank, 3, copies[rank]!, request);
      return { buffer, request };
    });
    freeAll(ranks, copies);
    ranks.all((c, rank) => {
      equal(c.call("MPI_Wait", buffers[rank]!.request, 0), 0);
      equal(c.int(buffers[rank]!.buffer), 10);
      equal(c.call("MPI_Comm_rank", copies[rank]!, c.alloc(4)), ErrorClass.COMM);
    });

    const others = ranks.get("MPI_Comm_dup", () => [WORLD]);
    const [sender, receiver] = ranks.programs;
    const into = receiver!.alloc(4);
    const received = receiver!.alloc(4);
    receiver!.call("MPI_Irecv", into, 1, INT, 0, 3, others[1]!, received);
    ranks.all((c, rank) => {
      if (rank === 0) sender!.call("MPI_Isend", c.ints(77), 1, INT, 1, 3, others[0]!, c.alloc(4));
      equal(c.call("MPI_Comm_disconnect", c.ints(others[rank]!)), 0);
    });
    equal(receiver!.int(into), 77);
  });
});
