import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { StatusLine } from "./status-line.ts";

const escapeCode = String.fromCharCode(27);
const controls = new RegExp(`(\\r|\\n|${escapeCode}\\[K|${escapeCode}\\[\\d+m)`);

/** What is on the last line of a terminal that is written to. */
class Screen extends Writable {
  readonly isTTY = true;
  readonly columns = 20;
  /** Lines that have ended, and the one that the cursor is in. */
  readonly lines: string[] = [];
  last = "";

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    for (const part of bytes.toString().split(controls)) {
      if (part === "\n") this.lines.push(this.last);
      if (part === "\n" || part === "\r") this.last = "";
      else if (!part.startsWith("\x1b")) this.last += part;
    }
    done();
  }
}

function lineOn(screen: Screen) {
  const clock = { ms: 0 };
  const line = new StatusLine({
    terminal: screen,
    nowMs: () => clock.ms,
    text: (columns) => "working hard today".slice(0, columns),
  });
  const stream = line.stream(screen as unknown as NodeJS.WriteStream);
  return { clock, line, stream };
}

test("M10: the line appears after a second of silence and gives way to what is printed", () => {
  const screen = new Screen();
  const { clock, line, stream } = lineOn(screen);
  line.renew();
  assert.equal(screen.last, "");
  clock.ms = 1000;
  line.renew();
  assert.equal(screen.last, "working hard today");
  stream.write("result 1\n");
  assert.deepEqual([screen.lines, screen.last], [["result 1"], ""]);
  clock.ms = 1999;
  line.renew();
  assert.equal(screen.last, "");
  clock.ms = 2000;
  line.renew();
  assert.equal(screen.last, "working hard today");
  line.hide();
  assert.deepEqual([screen.lines, screen.last], [["result 1"], ""]);
});

test("M10: a question without a line end is never written over", () => {
  const screen = new Screen();
  const { clock, line, stream } = lineOn(screen);
  stream.write("Name? ");
  clock.ms = 5000;
  line.renew();
  assert.equal(screen.last, "Name? ");
  stream.write("\n");
  clock.ms = 6000;
  line.renew();
  assert.deepEqual([screen.lines, screen.last], [["Name? "], "working hard today"]);
});
