import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { restoreProcess, saveProcess } from "../process-state.ts";
import { TestDisk } from "../testing/disk.ts";
import { INFO_NULL, INT, TestRanks, WORLD } from "../testing/ranks.ts";

const FILE_NULL = 0x118;
const CREATE = 2;
const RDONLY = 16;
const RDWR = 32;
const STATUS_IGNORE = 0;

function newRanks(count: number, disk: TestDisk): TestRanks {
  const ranks = new TestRanks(count);
  for (const c of ranks.programs) disk.giveTo(c);
  return ranks;
}

const open = (ranks: TestRanks, name: string, mode: number): number[] =>
  ranks.get("MPI_File_open", (c) => [WORLD, c.text(name), mode, INFO_NULL]);

test("M9 §14.2.1 a file that one member cannot open is open nowhere, and all hear the same", () => {
  const disk = new TestDisk();
  const ranks = newRanks(3, disk);
  // The second member finds its folder empty.
  new TestDisk().giveTo(ranks.programs[1]!);
  const outcomes = ranks.all((c) => {
    const out = c.alloc(4);
    return [c.call("MPI_File_open", WORLD, c.text("x"), CREATE | RDWR, INFO_NULL, out), c.int(out)];
  });
  assert.deepEqual(outcomes, new Array(3).fill([ErrorClass.NO_SUCH_FILE, FILE_NULL]));
  assert.deepEqual(
    ranks.all((c) => c.program.files.list().length),
    [0, 0, 0],
  );
  assert.equal(ranks.programs[0]!.program.process.communicators.size, 2, "the communicator of the file is gone");
});

test("M9 §14.4.4 the hidden file of the shared pointer goes with the file, and one member needs none", () => {
  const disk = new TestDisk();
  const ranks = newRanks(2, disk);
  const files = open(ranks, "x", CREATE | RDWR);
  ranks.all((c, rank) => c.call("MPI_File_write_shared", files[rank]!, c.ints(rank), 1, INT, STATUS_IGNORE));
  assert.equal(disk.names().length, 2, "the data, and the pointer; no lock");
  ranks.all((c, rank) => c.call("MPI_File_close", c.ints(files[rank]!)));
  assert.deepEqual(disk.names(), ["x"]);
  const alone = newRanks(1, disk);
  const [file] = open(alone, "y", CREATE | RDWR);
  alone.programs[0]!.call("MPI_File_write_shared", file!, alone.programs[0]!.ints(1), 1, INT, STATUS_IGNORE);
  assert.deepEqual(disk.names(), ["x", "y"]);
});

test("M9 a member that has died is not waited for: it may hold the lock", () => {
  const disk = new TestDisk();
  const ranks = newRanks(2, disk);
  const [file] = open(ranks, "x", CREATE | RDWR);
  const [c] = ranks.programs;
  c!.call("MPI_File_write_shared", file!, c!.ints(7), 1, INT, STATUS_IGNORE);
  const [pointer] = disk.names();
  writeFileSync(join(disk.path, `${pointer}.lock`), "");
  c!.program.process.peerFailed({ rank: 1, replica: 0 }, 1);
  const code = c!.call("MPI_File_write_shared", file!, c!.ints(7), 1, INT, STATUS_IGNORE);
  assert.equal(code, ErrorClass.PROC_FAILED);
});

test("M9 a run that was killed inside the lock, and has our name, leaves nothing that counts", () => {
  const disk = new TestDisk();
  const position = (): number[] => {
    const ranks = newRanks(2, disk);
    const files = open(ranks, "x", CREATE | RDWR);
    ranks.all((c, rank) => c.call("MPI_File_write_shared", files[rank]!, c.ints(rank), 1, INT, STATUS_IGNORE));
    return ranks.all((c, rank) => {
      const out = c.alloc(8);
      c.call("MPI_File_get_position_shared", files[rank]!, out);
      return c.long(out);
    });
  };
  assert.deepEqual(position(), [8, 8], "in bytes, as no view is set");
  const [pointer] = disk.names();
  writeFileSync(join(disk.path, `${pointer}.lock`), "");
  assert.deepEqual(position(), [8, 8]);
});

test("M9 images: an open file with its view and both pointers goes on in another run", () => {
  const disk = new TestDisk();
  const ranks = new TestRanks(2);
  const descriptors = ranks.programs.map((c) => disk.giveTo(c, "first"));
  const files = open(ranks, "data", CREATE | RDWR);
  // Rank r sees every second int, from its own on.
  const made = ranks.all((c, rank) => {
    const type = c.get("MPI_Type_create_resized", INT, 0, 8);
    c.call("MPI_Type_commit", c.ints(type));
    return {
      type,
      view: c.call("MPI_File_set_view", files[rank]!, BigInt(4 * rank), INT, type, c.text("native"), INFO_NULL),
    };
  });
  assert.deepEqual(
    made.map(({ view }) => view),
    [0, 0],
  );
  ranks.all((c, rank) => c.call("MPI_File_write", files[rank]!, c.ints(10 + rank, 20 + rank), 2, INT, STATUS_IGNORE));
  ranks.all((c, rank) => c.call("MPI_File_write_shared", files[rank]!, c.ints(rank), 0, INT, STATUS_IGNORE));
  const [c] = ranks.programs;
  c!.call("MPI_File_read_shared", files[0]!, c!.alloc(4), 1, INT, STATUS_IGNORE);

  const world = { files: disk.files };
  const images = ranks.programs.map(({ program }, rank) => saveProcess(program, { open: descriptors[rank]! }, world));
  // Whatever this run does now is not known to the other one.
  c!.call("MPI_File_read_shared", files[0]!, c!.alloc(4), 1, INT, STATUS_IGNORE);

  const other = new TestRanks(2);
  for (const [rank, d] of other.programs.entries()) {
    d.memory.arena.copyFrom(ranks.programs[rank]!.memory.arena);
    restoreProcess(d.program, images[rank]!, { open: disk.giveTo(d, "second") }, world);
    d.watched.restored();
  }
  const shared = other.all((d, rank) => {
    const out = d.alloc(8);
    d.call("MPI_File_get_position_shared", files[rank]!, out);
    return d.long(out);
  });
  assert.deepEqual(shared, [1, 1]);
  other.all((d, rank) => d.call("MPI_File_write", files[rank]!, d.ints(30 + rank), 1, INT, STATUS_IGNORE));
  other.all((d, rank) => d.call("MPI_File_write_shared", files[rank]!, d.ints(rank), 0, INT, STATUS_IGNORE));
  const bytes = readFileSync(join(disk.path, "data"));
  assert.deepEqual([...new Int32Array(bytes.buffer, bytes.byteOffset, 6)], [10, 11, 20, 21, 30, 31]);
  other.all((d, rank) => d.call("MPI_File_close", d.ints(files[rank]!)));
  assert.deepEqual(disk.names(), ["data"], "the first run's pointer is gone too");
});

test("M9 §14.2.1 what the system refuses has its class, and a world without files says so", () => {
  const disk = new TestDisk();
  const ranks = newRanks(1, disk);
  const [c] = ranks.programs;
  const out = c!.alloc(4);
  const tryOpen = (name: string, mode: number): number =>
    c!.call("MPI_File_open", WORLD, c!.text(name), mode, INFO_NULL, out);
  writeFileSync(join(disk.path, "closed"), "");
  chmodSync(join(disk.path, "closed"), 0);
  if (process.getuid?.() !== 0) assert.equal(tryOpen("closed", RDONLY), ErrorClass.ACCESS);
  assert.equal(tryOpen("closed/inside", RDONLY), ErrorClass.BAD_FILE);
  assert.equal(tryOpen("none/inside", CREATE | RDWR), ErrorClass.NO_SUCH_FILE);
  assert.equal(tryOpen("", RDONLY), ErrorClass.BAD_FILE);
  assert.equal(tryOpen("x".repeat(300), RDONLY), ErrorClass.BAD_FILE);
  c!.program.disk = null;
  assert.equal(tryOpen("closed", RDONLY), ErrorClass.ACCESS);
});

test("M9 §9.3 a handler of the program gets the address of the code, and may change what the call returns", () => {
  const ranks = newRanks(1, new TestDisk());
  const [c] = ranks.programs;
  const codes: number[] = [];
  const handler = c!.get(
    "MPI_File_create_errhandler",
    c!.function((_file, code) => {
      codes.push(c!.int(code!));
      c!.program.ints[code! >> 2] = 0;
      return 0;
    }),
  );
  c!.call("MPI_File_set_errhandler", FILE_NULL, handler);
  assert.equal(c!.call("MPI_File_delete", c!.text("none"), INFO_NULL), ErrorClass.SUCCESS);
  assert.deepEqual(codes, [ErrorClass.NO_SUCH_FILE]);
});
