/** A rank that sleeps can be frozen; thawed it sleeps for the rest. Row M6. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, thaw } from "banyan";
import { folderOf, program } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

test("M6 images: a job is frozen in the middle of a sleep, which goes on when it is thawed", {
  ...timeLimit(120_000),
  ...long,
}, async () => {
  const path = program(
    "c/sleeper.c",
    `#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    double start = MPI_Wtime();
    printf("asleep\\n");
    sleep(5);
    double took = MPI_Wtime() - start;
    printf("slept %s\\n", took >= 4.95 ? "well" : "badly");
    MPI_Finalize();
    return 0;
}
`,
  );
  const jobFolder = folderOf("sleeping");
  const job = launch(path, { ranks: 2, jobFolder });
  const lines: string[] = [];
  for await (const event of job) {
    if (event.kind !== "line") continue;
    lines.push(event.text);
    if (lines.length === 2) job.freeze();
  }
  assert.equal((await job.done).reason.kind, "frozen");
  assert.deepEqual(lines, ["asleep", "asleep"]);
  const thawed = thaw(jobFolder);
  const rest: string[] = [];
  for await (const event of thawed) if (event.kind === "line") rest.push(event.text);
  assert.equal((await thawed.done).code, 0);
  assert.deepEqual(rest, ["slept well", "slept well"]);
});
