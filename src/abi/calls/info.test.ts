import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { World } from "../../sim/world.ts";
import { TestProgram } from "../testing/program.ts";
import { ERRORS_RETURN, INFO_NULL, SELF, TestRanks } from "../testing/ranks.ts";

const INFO_ENV = 0x131;

function infoProgram() {
  const [c] = new TestRanks(3).programs as [TestProgram];
  c.call("MPI_Comm_set_errhandler", SELF, ERRORS_RETURN);
  const info = c.get("MPI_Info_create");
  const set = (key: string, value: string): number => c.call("MPI_Info_set", info, c.text(key), c.text(value));
  const stringOf = (of: number, key: string): string | null => {
    const [room, to, flag] = [c.ints(1024), c.alloc(1024), c.alloc(4)];
    equal(c.call("MPI_Info_get_string", of, c.text(key), room, to, flag), 0);
    return c.int(flag) === 0 ? null : c.program.text(to);
  };
  return { c, info, set, stringOf };
}

describe("info objects", () => {
  it("keys in the order of setting, copies that are copies", () => {
    const { c, info, set, stringOf } = infoProgram();
    set("b", "1");
    set("a", "2");
    set("b", "3");
    const copy = c.get("MPI_Info_dup", info);
    equal(c.call("MPI_Info_delete", info, c.text("a")), 0);
    deepEqual([stringOf(info, "a"), stringOf(info, "b"), stringOf(copy, "a")], [null, "3", "2"]);
    deepEqual([c.get("MPI_Info_get_nkeys", info), c.get("MPI_Info_get_nkeys", copy)], [1, 2]);
    const key = c.alloc(256);
    equal(c.call("MPI_Info_get_nthkey", copy, 1, key), 0);
    equal(c.program.text(key), "a");
    const at = c.ints(info);
    equal(c.call("MPI_Info_free", at), 0);
    equal(c.int(at), INFO_NULL);
    equal(c.call("MPI_Info_get_nkeys", info, c.alloc(4)), ErrorClass.INFO);
  });

  it("what does not fit is cut; lengths are those of the value", () => {
    const { c, info, set } = infoProgram();
    set("key", "Grüße");
    const [room, to, flag] = [c.ints(5), c.alloc(16), c.alloc(4)];
    c.call("MPI_Info_get_string", info, c.text("key"), room, to, flag);
    // Bytes, and the closing zero with them.
    deepEqual([c.int(room), c.program.text(to), c.int(flag)], [8, "Grü", 1]);
    c.program.bytes.fill(65, to, to + 16);
    c.program.ints[room >> 2] = 0;
    c.call("MPI_Info_get_string", info, c.text("key"), room, to, flag);
    deepEqual([c.int(room), c.program.bytes[to]], [8, 65]);
    // Here the room is without the zero.
    c.call("MPI_Info_get", info, c.text("key"), 2, to, flag);
    deepEqual([c.program.text(to), c.program.bytes[to + 3]], ["Gr", 65]);
    const length = c.alloc(4);
    c.call("MPI_Info_get_valuelen", info, c.text("key"), length, flag);
    equal(c.int(length), 7);
    c.call("MPI_Info_get_valuelen", info, c.text("none"), length, flag);
    deepEqual([c.int(length), c.int(flag)], [7, 0]);
  });

  it("refuses keys and values that are too long, keys that are not set, objects that are none", () => {
    const { c, info, set } = infoProgram();
    equal(set("k".repeat(255), "v".repeat(1023)), 0);
    equal(set("k".repeat(256), "v"), ErrorClass.INFO_KEY);
    equal(set("", "v"), ErrorClass.INFO_KEY);
    equal(set("k", "v".repeat(1024)), ErrorClass.INFO_VALUE);
    equal(c.call("MPI_Info_delete", info, c.text("none")), ErrorClass.INFO_NOKEY);
    equal(c.call("MPI_Info_get_nthkey", info, 1, c.alloc(256)), ErrorClass.ARG);
    equal(c.call("MPI_Info_dup", INFO_NULL, c.alloc(4)), ErrorClass.INFO);
    equal(c.call("MPI_Info_set", INFO_ENV, c.text("a"), c.text("b")), ErrorClass.INFO);
    equal(c.call("MPI_Info_free", c.ints(INFO_ENV)), ErrorClass.INFO);
  });

  it("how the program was started", () => {
    const { c, stringOf } = infoProgram();
    const argv = c.ints(c.text("solver"), c.text("-n"), c.text("7"));
    const info = c.get("MPI_Info_create_env", 3, argv);
    deepEqual(
      ["command", "argv", "maxprocs", "host"].map((key) => stringOf(info, key)),
      ["solver", "-n 7", "3", "test"],
    );
    equal(stringOf(c.get("MPI_Info_create_env", 0, 0), "command"), null);
    equal(stringOf(INFO_ENV, "maxprocs"), "3");
  });

  it("exists before MPI_Init and after MPI_Finalize", () => {
    const world = new World({ ranks: 1 });
    const c = new TestProgram(world, world.processes[0]!);
    const info = c.get("MPI_Info_create");
    equal(c.call("MPI_Info_set", info, c.text("a"), c.text("b")), 0);
    c.call("MPI_Init", 0, 0);
    c.call("MPI_Finalize");
    equal(c.call("MPI_Info_free", c.ints(info)), 0);
  });
});
