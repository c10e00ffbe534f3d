import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "./complain.ts";
import { type Following, translateHabits } from "./mpirun-habits.ts";

const followingOf = (word: string): Following => {
  if (["-n", "--ranks", "--nodes"].includes(word)) return "a value";
  return word === "--debug" ? "perhaps a number" : "nothing";
};
const translated = (line: string): string => translateHabits(line.split(" "), followingOf).words.join(" ");
const noted = (line: string): string[] => translateHabits(line.split(" "), followingOf).notes;

test("M7: words of mpirun become those of banyan run", () => {
  assert.equal(translated("-np 4 a.c 7"), "--ranks 4 a.c 7");
  assert.equal(translated("--np=4 -x A=b -x C a.c"), "--ranks 4 --env A=b --env C a.c");
  assert.equal(
    translated("-H a,b:2 -host c --hostfile f -machinefile g a.c"),
    "--hosts a,b:2 --hosts c --hostfile f --hostfile g a.c",
  );
  assert.equal(translated("-wdir d --tag-output -output-filename o a.c"), "--wdir d --label --output-filename o a.c");
  assert.equal(
    translated("-npernode 2 --map-by ppr:3:node -ppn 4 a.c"),
    "--ranks-per-node 2 --ranks-per-node 3 --ranks-per-node 4 a.c",
  );
  assert.equal(translated("--with-ft mpi a.c"), "--protocol ulfm a.c");
  assert.equal(
    translated("--with-ft no -disable-auto-cleanup --enable-recovery a.c"),
    "--protocol ulfm --protocol ulfm a.c",
  );
  assert.equal(
    translated("-initial-errhandler mpi_errors_return a.c"),
    "--env BANYAN_INITIAL_ERRHANDLER=mpi_errors_return a.c",
  );
  assert.equal(translated("--oversubscribe --allow-run-as-root -genv A b a.c"), "--env A=b a.c");
});

test("M7: what has no effect says so once, what nobody misses says nothing", () => {
  assert.deepEqual(noted("--bind-to none --map-by slot --oversubscribe a.c"), []);
  assert.match(noted("--bind-to core a.c")[0]!, /^--bind-to core has no effect: ranks are threads/);
  assert.match(noted("--mca btl self,tcp a.c")[0]!, /^--mca btl has no effect/);
});

test("M7: words of the program stay as they are, and so do options of banyan run with their values", () => {
  assert.equal(translated("-n 2 a.c -np 4 --host x"), "-n 2 a.c -np 4 --host x");
  assert.equal(translated("--nodes 2 -q a.c -x"), "--nodes 2 -q a.c -x");
});

test("M7: a word that lacks its value is refused", () => {
  assert.throws(() => translated("-np"), UsageError);
  assert.throws(() => translated("--initial-errhandler mpi_errors_ignored a.c"), UsageError);
});

test("M10: a program behind --debug is not taken for its port", () => {
  assert.equal(translated("-n 2 --debug a.wasm 7"), "-n 2 --debug -- a.wasm 7");
  assert.equal(translated("--debug 9400 a.wasm"), "--debug 9400 a.wasm");
  assert.equal(translated("--debug -n 2 a.wasm"), "--debug -n 2 a.wasm");
});
