/** The file of what a job prints, cut at every byte: whoever goes on prints the rest, once. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { OutputBook } from "../../../core/service/output-book.ts";
import { LineMerge, type Lines } from "../../output/line-merge.ts";
import { OutputFile, readOutput } from "./output-file.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-output-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const note = (message: string): void => ok(false, message);
const newFolder = (): string => mkdtempSync(join(folder, "job-"));

/** A job that prints into a text; `crash`: nothing leaves any more. */
class Printing {
  text = "";
  readonly file: OutputFile;
  readonly lines: LineMerge;

  constructor(place: string, book = new OutputBook(), bytesMin = 1 << 20) {
    this.file = new OutputFile({ folder: place, book, note, bytesMin });
    const sink = ({ bytes }: Lines, done: () => void): void => {
      this.text += bytes.toString();
      done();
    };
    this.lines = new LineMerge(sink, null, this.file);
    for (const { rank, stream, line, offset, bytes, flush } of book.waiting) {
      this.lines.accept({ kind: "rank", rank }, { stream, number: line, offset, bytes, flush }, () => {});
    }
  }

  print(rank: number, number: number, offset: number, text: string): void {
    const chunk = { stream: "stdout", number, offset, bytes: Buffer.from(text), flush: false } as const;
    this.lines.accept({ kind: "rank", rank }, chunk, () => {});
  }
}

test("V7: a job goes on behind what has left, also behind half a line that has come", () => {
  const place = newFolder();
  const first = new Printing(place);
  first.print(0, 0, 0, "one\ntw");
  first.print(1, 0, 0, "other\n");
  equal(first.text, "one\nother\n");
  const read = readOutput(place);
  ok(typeof read !== "string");
  const second = new Printing(place, read.book);
  equal(second.text, "");
  // A life that began anew says all of it again.
  second.print(0, 0, 0, "one\ntwo\nthree\n");
  second.print(1, 0, 0, "other\n");
  equal(first.text + second.text, "one\nother\ntwo\nthree\n");
});

test("V7: cut at every byte, the file is read up to its last whole record", () => {
  const place = newFolder();
  const job = new Printing(place);
  for (let line = 0; line < 3; line++) job.print(0, line, 0, `line ${line}\n`);
  const path = join(place, "output");
  const whole = readFileSync(path);
  const seen = new Set<number>();
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length));
    const read = readOutput(place);
    ok(typeof read !== "string", `cut at ${length}`);
    seen.add(read.book.leftOf(0, "stdout").line);
  }
  deepEqual([...seen], [0, 1, 2, 3]);
  const damaged = Buffer.from(whole);
  damaged[12]! ^= 1;
  writeFileSync(path, damaged);
  equal(readOutput(place), "record 0 at byte 0 is damaged, and others follow it");
});

test("V7: the file does not grow with what has left", () => {
  const place = newFolder();
  const job = new Printing(place, new OutputBook(), 200);
  for (let line = 0; line < 100; line++) job.print(0, line, 0, `${"x".repeat(50)}\n`);
  ok(statSync(join(place, "output")).size < 1000);
  const read = readOutput(place);
  ok(typeof read !== "string");
  deepEqual(read.book.leftOf(0, "stdout"), { line: 100, offset: 0 });
});

test("V7: a disk that takes nothing is told once, and leaves no file that says less than was printed", () => {
  const notes: string[] = [];
  const file = new OutputFile({ folder: join(folder, "nowhere"), note: (message) => notes.push(message) });
  file.left(0, "stdout", { line: 1, offset: 0 });
  equal(notes.length, 1);
  ok(/^Cannot write down what the ranks print: .*; the job goes on, and could not be resumed$/.test(notes[0]!));
});
