import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { ANY_SOURCE, PROC_NULL, TAG_UB } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { TestProgram } from "../testing/program.ts";
import { COMM_NULL, ERRORS_RETURN, INT, SELF, TestRanks, WORLD } from "../testing/ranks.ts";

const NULL_FN = 0;
const DUP_FN = 1;
const REQUEST_NULL = 0x180;

/** A program of one rank whose errors are codes, with a list of what its functions were called with. */
function attributeProgram() {
  const [c] = new TestRanks(1).programs as [TestProgram];
  for (const comm of [WORLD, SELF]) c.call("MPI_Comm_set_errhandler", comm, ERRORS_RETURN);
  const calls: (string | number)[][] = [];

  /** Copies value + 1; both functions note what they were given. */
  function keyval({ copyCode = 0, deleteCode = 0, flag = 1, extra = 0 } = {}): number {
    const copy = c.function((comm, key, state, value, out, flagOut) => {
      calls.push(["copy", comm!, key!, state!, value!]);
      c.program.ints[out! >> 2] = value! + 1;
      c.program.ints[flagOut! >> 2] = flag;
      return copyCode;
    });
    const deletion = c.function((comm, key, value, state) => {
      calls.push(["delete", comm!, key!, value!, state!]);
      return deleteCode;
    });
    return newKeyval(copy, deletion, extra);
  }

  function newKeyval(copy: number, deletion: number, extra = 0): number {
    const out = c.alloc(4);
    c.call("MPI_Comm_create_keyval", copy, deletion, out, extra);
    return c.int(out);
  }

  function attributeOf(comm: number, key: number): number | null {
    const [value, flag] = [c.alloc(4), c.alloc(4)];
    equal(c.call("MPI_Comm_get_attr", comm, key, value, flag), 0);
    return c.int(flag) === 0 ? null : c.int(value);
  }

  const set = (comm: number, key: number, value: number): number => c.call("MPI_Comm_set_attr", comm, key, value);
  const free = (comm: number): number => c.call("MPI_Comm_free", c.ints(comm));
  return { c, calls, keyval, newKeyval, attributeOf, set, free };
}

describe("attributes of communicators", () => {
  it("dup calls the copy functions, free the delete functions, last set first", () => {
    const { c, calls, keyval, newKeyval, attributeOf, set, free } = attributeProgram();
    const [one, two] = [keyval({ extra: 91 }), keyval({ extra: 92 })];
    const [gone, kept] = [keyval({ flag: 0 }), newKeyval(DUP_FN, NULL_FN)];
    const comm = c.get("MPI_Comm_dup", WORLD);
    for (const [key, value] of [
      [one, 10],
      [two, 20],
      [gone, 30],
      [kept, 40],
      [newKeyval(NULL_FN, NULL_FN), 50],
    ]) {
      equal(set(comm, key!, value!), 0);
    }
    const copy = c.get("MPI_Comm_dup", comm);
    deepEqual(calls.splice(0), [
      ["copy", comm, one, 91, 10],
      ["copy", comm, two, 92, 20],
      ["copy", comm, gone, 0, 30],
    ]);
    deepEqual(
      [one, two, gone, kept].map((key) => attributeOf(copy, key)),
      [11, 21, null, 40],
    );
    equal(free(copy), 0);
    deepEqual(calls.splice(0), [
      ["delete", copy, two, 21, 92],
      ["delete", copy, one, 11, 91],
    ]);
    equal(free(comm), 0);
    equal(calls.length, 3);
    equal(c.end(), 0);
  });

  it("a copy function that fails takes the copies and the new communicator with it", () => {
    const { c, calls, keyval, set } = attributeProgram();
    const [good, bad, never] = [keyval(), keyval({ copyCode: 19 }), keyval()];
    for (const key of [good, bad, never]) set(WORLD, key, 5);
    const out = c.ints(-1);
    equal(c.call("MPI_Comm_dup", WORLD, out), 19);
    equal(c.int(out), COMM_NULL);
    const [copied, failed, undone, ...rest] = calls;
    deepEqual(
      [copied, failed],
      [
        ["copy", WORLD, good, 0, 5],
        ["copy", WORLD, bad, 0, 5],
      ],
    );
    deepEqual([undone![0], undone![2], undone![3]], ["delete", good, 6]);
    deepEqual(rest, []);
    equal(c.program.process.communicators.size, 2);
    equal(c.program.communicators.list().length, 0);
    equal(c.end(), 0);
  });

  it("only the rank whose copy function fails is without the duplicate", () => {
    const ranks = new TestRanks(3);
    const codes = ranks.all((c, rank) => {
      c.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
      const key = c.alloc(4);
      c.call(
        "MPI_Comm_create_keyval",
        c.function(() => (rank === 1 ? -5 : 0)),
        NULL_FN,
        key,
        0,
      );
      c.call("MPI_Comm_set_attr", WORLD, c.int(key), 1);
      return c.call("MPI_Comm_dup", WORLD, c.alloc(4));
    });
    // Codes of MPI are never negative.
    deepEqual(codes, [0, ErrorClass.OTHER, 0]);
  });

  it("a delete function that fails keeps the attribute and the communicator", () => {
    const { c, calls, keyval, attributeOf, set, free } = attributeProgram();
    const comm = c.get("MPI_Comm_dup", WORLD);
    const [first, bad, last] = [keyval(), keyval({ deleteCode: 17 }), keyval()];
    for (const key of [first, bad, last]) set(comm, key, 3);
    equal(free(comm), 17);
    deepEqual(
      calls.map(([what, , key]) => [what, key]),
      [
        ["delete", last],
        ["delete", bad],
      ],
    );
    deepEqual(
      [first, bad, last].map((key) => attributeOf(comm, key)),
      [3, 3, null],
    );
    equal(c.call("MPI_Comm_delete_attr", comm, bad), 17);
    equal(set(comm, bad, 4), 17);
    equal(attributeOf(comm, bad), 3);
    equal(set(comm, first, 4), 0);
    equal(attributeOf(comm, first), 4);
  });

  it("idup copies what is set when it is called; a failure leaves nothing", () => {
    const { c, calls, keyval, attributeOf, set } = attributeProgram();
    const key = keyval();
    set(WORLD, key, 7);
    const [out, request] = [c.alloc(4), c.alloc(4)];
    equal(c.call("MPI_Comm_idup", WORLD, out, request), 0);
    equal(calls.length, 1);
    set(WORLD, key, 50);
    equal(c.call("MPI_Wait", request, 0), 0);
    equal(attributeOf(c.int(out), key), 8);
    equal(c.call("MPI_Comm_free", out), 0);

    calls.splice(0);
    const bad = keyval({ copyCode: 15 });
    set(WORLD, bad, 1);
    equal(c.call("MPI_Comm_idup", WORLD, out, request), 15);
    deepEqual([c.int(out), c.int(request)], [COMM_NULL, REQUEST_NULL]);
    deepEqual(calls.at(-1), ["delete", COMM_NULL, key, 51, 0]);
    c.program.process.progress();
    equal(c.program.process.communicators.size, 2);
    equal(c.end(), 0);
  });

  it("the functions may call MPI: messages, and other attributes", () => {
    const { c, newKeyval, attributeOf, set, free } = attributeProgram();
    const other = newKeyval(NULL_FN, NULL_FN);
    const key = newKeyval(
      c.function((comm, _key, _state, value, out, flag) => {
        const inner = c.get("MPI_Comm_dup", SELF);
        c.call("MPI_Bcast", c.ints(1), 1, INT, 0, comm!);
        equal(c.call("MPI_Comm_free", c.ints(inner)), 0);
        c.program.ints[out! >> 2] = value!;
        c.program.ints[flag! >> 2] = 1;
        return 0;
      }),
      c.function((comm) => c.call("MPI_Comm_delete_attr", comm!, other)),
    );
    set(WORLD, key, 1);
    const copy = c.get("MPI_Comm_dup", WORLD);
    set(copy, other, 2);
    // Deletes `other` itself, whose turn it would be before.
    c.call("MPI_Comm_delete_attr", copy, key);
    equal(attributeOf(copy, other), null);
    equal(free(copy), 0);
  });

  it("keyvals: freed ones go on where they are used, others are refused", () => {
    const { c, calls, keyval, attributeOf, set, free } = attributeProgram();
    const key = keyval();
    const comm = c.get("MPI_Comm_dup", WORLD);
    set(comm, key, 1);
    const at = c.ints(key);
    equal(c.call("MPI_Comm_free_keyval", at), 0);
    equal(c.int(at), 0);
    equal(c.call("MPI_Comm_free_keyval", c.ints(key)), 0);
    const copy = c.get("MPI_Comm_dup", comm);
    equal(attributeOf(copy, key), 2);
    equal(c.call("MPI_Comm_delete_attr", copy, key), 0);
    equal(set(copy, key, 1), ErrorClass.KEYVAL);
    equal(free(comm), 0);
    equal(calls.length, 3);
    equal(c.call("MPI_Comm_free_keyval", c.ints(key)), ErrorClass.KEYVAL);
    for (const none of [0, 7, 0x1fff]) equal(set(WORLD, none, 1), ErrorClass.KEYVAL);
    equal(c.call("MPI_Comm_delete_attr", WORLD, keyval()), ErrorClass.KEYVAL);
    const ofTypes = c.alloc(4);
    c.call("MPI_Type_create_keyval", NULL_FN, NULL_FN, ofTypes, 0);
    equal(set(WORLD, c.int(ofTypes), 1), ErrorClass.KEYVAL);
  });

  it("the standard's own are addresses of ints, and not the program's to change", () => {
    const { c, attributeOf, set } = attributeProgram();
    const intOf = (key: number): number => c.int(attributeOf(WORLD, key)!);
    const [tagUb, io, host, wtime, appnum, lastUsed, universe] = [501, 502, 503, 504, 505, 506, 507] as const;
    deepEqual([tagUb, io, host, wtime, appnum, universe].map(intOf), [TAG_UB, ANY_SOURCE, PROC_NULL, 0, 0, 1]);
    const before = intOf(lastUsed);
    const added = c.get("MPI_Add_error_class");
    ok(added > before);
    equal(intOf(lastUsed), added);
    equal(attributeOf(SELF, tagUb), attributeOf(WORLD, tagUb));
    equal(set(WORLD, tagUb, 1), ErrorClass.KEYVAL);
    equal(c.call("MPI_Comm_delete_attr", WORLD, io), ErrorClass.KEYVAL);
    equal(c.call("MPI_Comm_free_keyval", c.ints(host)), ErrorClass.KEYVAL);
  });

  it("MPI_Finalize deletes those of MPI_COMM_SELF while MPI still runs", () => {
    const { c, calls, keyval, newKeyval, set } = attributeProgram();
    const finalized: number[] = [];
    const looks = newKeyval(
      NULL_FN,
      c.function(() => {
        finalized.push(c.get("MPI_Finalized"));
        return c.call("MPI_Barrier", WORLD);
      }),
    );
    const [first, bad] = [keyval(), keyval({ deleteCode: 13 })];
    for (const key of [first, looks, bad]) set(SELF, key, 1);
    equal(c.call("MPI_Finalize"), 13);
    equal(c.get("MPI_Finalized"), 0);
    c.program.self.attributes.drop(c.program.keyvals.find(bad, "communicator"));
    equal(c.call("MPI_Finalize"), 0);
    deepEqual(finalized, [0]);
    equal(calls.at(-1)![2], first);
    equal(c.get("MPI_Finalized"), 1);
  });

  it("an error of a function goes to the program's error handler", () => {
    const { c, keyval, set } = attributeProgram();
    const handled: number[][] = [];
    const handler = c.function((comm, code) => {
      handled.push([c.int(comm!), c.int(code!)]);
      return undefined;
    });
    c.call("MPI_Comm_set_errhandler", WORLD, c.get("MPI_Comm_create_errhandler", handler));
    set(WORLD, keyval({ copyCode: 19 }), 1);
    equal(c.call("MPI_Comm_dup", WORLD, c.alloc(4)), 19);
    deepEqual(handled, [[WORLD, 19]]);
  });
});

describe("attributes of datatypes", () => {
  it("set, get, delete; errors go to MPI_COMM_SELF", () => {
    const { c, calls } = attributeProgram();
    const deletion = c.function((type, key, value, state) => {
      calls.push([type!, key!, value!, state!]);
      return 0;
    });
    const out = c.alloc(4);
    c.call("MPI_Type_create_keyval", DUP_FN, deletion, out, 6);
    const key = c.int(out);
    equal(c.call("MPI_Type_set_attr", INT, key, 1), 0);
    equal(c.call("MPI_Type_set_attr", INT, key, 2), 0);
    const [value, flag] = [c.alloc(4), c.alloc(4)];
    equal(c.call("MPI_Type_get_attr", INT, key, value, flag), 0);
    deepEqual([c.int(value), c.int(flag)], [2, 1]);
    equal(c.call("MPI_Type_delete_attr", INT, key), 0);
    deepEqual(calls, [
      [INT, key, 1, 6],
      [INT, key, 2, 6],
    ]);
    c.call("MPI_Type_get_attr", INT, key, value, flag);
    equal(c.int(flag), 0);
    equal(c.call("MPI_Type_get_attr", INT, 501, value, flag), ErrorClass.KEYVAL);
    equal(c.call("MPI_Type_free_keyval", c.ints(key)), 0);
  });
});
