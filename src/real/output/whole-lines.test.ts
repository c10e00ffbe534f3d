import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import type { LineChunk } from "../messages/lines.ts";
import { LineMerge } from "./line-merge.ts";
import { WholeLines } from "./whole-lines.ts";

/** Prints of processes that play rank 0; `what` is what it has printed so far, and `text` what follows. */
class Printing {
  readonly #lines = new WholeLines();
  readonly #merge: LineMerge;
  shown = "";

  constructor() {
    this.#merge = new LineMerge(({ bytes }, done) => {
      this.shown += bytes.toString();
      done();
    });
  }

  print(process: number, before: string, text: string, flush = false): void {
    const number = before.split("\n").length - 1;
    const offset = before.length - (before.lastIndexOf("\n") + 1);
    const chunk = { stream: "stdout", number, offset, bytes: Buffer.from(text), flush } as const;
    this.#offer(0, this.#lines.take({ process, rank: 0 }, chunk));
  }

  end(): void {
    for (const { rank, chunk } of this.#lines.finish()) this.#offer(rank, chunk);
    this.#merge.finishAll();
  }

  #offer(rank: number, chunk: LineChunk | null): void {
    if (chunk !== null) this.#merge.accept({ kind: "rank", rank }, chunk, () => {});
  }
}

describe("X2 lines of ranks that several processes play", () => {
  it("no two processes share a line, however it is printed", () => {
    const printing = new Printing();
    printing.print(0, "", "took 1");
    printing.print(1, "", "took 93 ms\nnext ");
    printing.print(0, "took 1", "7 ms\nnext one\n");
    equal(printing.shown, "took 93 ms\nnext one\n");
    printing.print(1, "took 93 ms\nnext ", "one\nlast");
    printing.end();
    equal(printing.shown, "took 93 ms\nnext one\nlast");
  });

  it("what shall be seen at once is, and the rest follows", () => {
    const printing = new Printing();
    printing.print(0, "", "how many? ", true);
    equal(printing.shown, "how many? ");
    printing.print(1, "", "how many? ", true);
    printing.print(1, "how many? ", "3\n");
    printing.print(0, "how many? ", "3\n");
    equal(printing.shown, "how many? 3\n");
  });

  it("R6 a process that comes back inside a line goes on with what its source had of it", () => {
    const printing = new Printing();
    printing.print(1, "", "one\ntwo ");
    printing.print(0, "one\ntwo ", "three\nfour\n");
    equal(printing.shown, "one\ntwo three\nfour\n");
    printing.print(1, "one\ntwo ", "3\n");
    equal(printing.shown, "one\ntwo three\nfour\n");
  });

  it("a line that is too long is shown in pieces, and those of other streams and ranks are other lines", () => {
    const lines = new WholeLines();
    const of = (stream: LineChunk["stream"], offset: number, bytes: Uint8Array): LineChunk => {
      return { stream, number: 0, offset, bytes, flush: false };
    };
    const long = new Uint8Array(1 << 20);
    equal(lines.take({ process: 0, rank: 0 }, of("stdout", 0, long)), null);
    equal(lines.take({ process: 0, rank: 0 }, of("stderr", 0, long)), null);
    equal(lines.take({ process: 1, rank: 1 }, of("stdout", 0, long)), null);
    const offered = lines.take({ process: 0, rank: 0 }, of("stdout", long.length, Uint8Array.of(1)));
    equal(offered?.bytes.length, long.length + 1);
    deepEqual(
      lines.finish().map(({ rank, chunk }) => [rank, chunk.stream]),
      [
        [0, "stderr"],
        [1, "stdout"],
      ],
    );
  });
});
