import { equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { tellHowStarted } from "./how-started.ts";
import { INFO_ENV } from "./program.ts";
import { JobEnded } from "./testing/program.ts";
import { INT, TestRanks, WORLD } from "./testing/ranks.ts";

const started = { command: "solver.c", args: ["-v", "7"] };
const noRank = 99;

describe("U1 how a program in C was started", () => {
  it("MPI_INFO_ENV tells command, arguments and the first error handler", () => {
    const [c] = new TestRanks(1).programs;
    tellHowStarted(c!.program, { ...started, initialHandler: "mpi_errors_return" });
    const info = c!.program.infos.get(INFO_ENV);
    equal(info.get("command"), "solver.c");
    equal(info.get("argv"), "-v 7");
    equal(info.get("mpi_initial_errhandler"), "mpi_errors_return");
  });

  it("arguments that are too long for a value of an info are not told, and the program begins", () => {
    const [c] = new TestRanks(1).programs;
    const args = ["x".repeat(1000), "y".repeat(24)];
    tellHowStarted(c!.program, { ...started, args, initialHandler: undefined });
    const info = c!.program.infos.get(INFO_ENV);
    equal(info.get("command"), "solver.c");
    equal(info.get("argv"), undefined);
  });

  it("errors are returned from the start where that was wanted, and fatal otherwise", () => {
    const send = (initialHandler: string | undefined): number => {
      const [c] = new TestRanks(1).programs;
      tellHowStarted(c!.program, { ...started, initialHandler });
      return c!.call("MPI_Send", c!.alloc(4), 1, INT, noRank, 0, WORLD);
    };
    equal(send("mpi_errors_return"), ErrorClass.RANK);
    for (const handler of [undefined, "mpi_errors_are_fatal", "mpi_errors_abort", "something else"]) {
      try {
        send(handler);
        equal(handler, "fatal");
      } catch (error) {
        equal(error instanceof JobEnded, true, `${handler}`);
      }
    }
  });
});
