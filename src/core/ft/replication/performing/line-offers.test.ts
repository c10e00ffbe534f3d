/** Output of replicas reaches the dispatcher once, wherever the performer dies. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LineNumbers } from "../../../service/line-numbers.ts";
import { LineOffers, type OutputPiece } from "./line-offers.ts";

const text = (words: string): Uint8Array => new TextEncoder().encode(words);
const newline = 10;

/** What the dispatcher does: takes each byte once, and holds an unfinished line until it goes on. */
class Dispatcher {
  readonly #numbers = new LineNumbers();
  #line = 0;
  #offset = 0;
  output = "";

  take({ line, offset, bytes }: OutputPiece): void {
    const fresh = bytes.subarray(this.#numbers.offer(line, offset, bytes));
    this.output += new TextDecoder().decode(fresh);
    for (const byte of fresh) {
      if (byte === newline) {
        this.#line++;
        this.#offset = 0;
      } else this.#offset++;
    }
  }

  get place() {
    return { line: this.#line, offset: this.#offset };
  }
}

interface Crash {
  /** Behind so many calls of the program. */
  readonly afterCalls: number;
  /** So many of its pieces, of those that have not left, arrive. */
  readonly arrive: number;
}

type Call = { readonly print: string } | "flush";

/**
 * The program in each of the replicas, one call at a time; the performers crash one after the other. `lag`: how many calls the others are
 * behind (negative: ahead of) the first; `confirms`: after how many calls the dispatcher's word comes.
 */
function run(
  calls: readonly Call[],
  crashes: readonly Crash[],
  { lag, confirms, keptMax = 1000 }: { lag: number; confirms: number; keptMax?: number },
): string {
  const dispatcher = new Dispatcher();
  const offers = Array.from({ length: crashes.length + 1 }, (_, replica) => new LineOffers(replica === 0, keptMax));
  const at = offers.map(() => 0);
  let performer = 0;
  const make = (replica: number): void => {
    const call = calls[at[replica]!++];
    if (call === undefined) return;
    if (call === "flush") offers[replica]!.flush();
    else assert.equal(offers[replica]!.print(text(call.print)), text(call.print).length);
    if (at[replica] === calls.length) offers[replica]!.finish();
  };
  const carry = (count: number): void => {
    for (const piece of offers[performer]!.outbox.splice(0, count)) dispatcher.take(piece);
  };
  const confirm = (): void => {
    for (const offer of offers) offer.confirmed(dispatcher.place);
  };
  const turns = calls.length + Math.abs(lag) + 1;
  for (const crash of [...crashes, { afterCalls: Number.POSITIVE_INFINITY, arrive: 0 }]) {
    for (let turn = 0; turn < turns && at[performer]! < Math.min(crash.afterCalls, calls.length); turn++) {
      make(performer);
      for (let other = performer + 1; other < offers.length; other++) {
        while (at[other]! < Math.min(calls.length, at[performer]! - lag)) make(other);
      }
      // What was printed by the call at which it dies may be lost.
      if (at[performer]! < crash.afterCalls) carry(Number.POSITIVE_INFINITY);
      if (turn % confirms === 0) confirm();
    }
    carry(crash.arrive);
    if (crash.afterCalls === Number.POSITIVE_INFINITY) break;
    performer++;
    offers[performer]!.perform();
    carry(Number.POSITIVE_INFINITY);
  }
  carry(Number.POSITIVE_INFINITY);
  confirm();
  assert(offers[performer]!.isConfirmed, "nothing is kept that the dispatcher has");
  return dispatcher.output;
}

const calls: readonly Call[] = [
  { print: "one\ntw" },
  { print: "o\n" },
  { print: "\nthr" },
  "flush",
  { print: "ee" },
  { print: " and more" },
  { print: "\nfour" },
];
const whole = calls.map((call) => (call === "flush" ? "" : call.print)).join("");

test("X2 output of two replicas is that of one, wherever the performer dies and whoever is ahead", () => {
  let runs = 0;
  for (let afterCalls = 0; afterCalls <= calls.length; afterCalls++) {
    for (let arrive = 0; arrive <= 3; arrive++) {
      for (let lag = -3; lag <= 3; lag++) {
        for (const confirms of [1, 3, 100]) {
          const crash = { afterCalls, arrive };
          assert.equal(run(calls, [crash], { lag, confirms }), whole, JSON.stringify({ crash, lag, confirms }));
          runs++;
        }
      }
    }
  }
  assert(runs > 600);
});

test("X2 output of three replicas is that of one, wherever two performers die one after the other", () => {
  for (let one = 0; one <= calls.length; one++) {
    for (let other = 0; other <= calls.length; other++) {
      for (const arrive of [0, 1]) {
        for (const lag of [-2, 0, 2]) {
          const crashes = [
            { afterCalls: one, arrive },
            { afterCalls: other, arrive: 1 - arrive },
          ];
          assert.equal(run(calls, crashes, { lag, confirms: 2 }), whole, JSON.stringify({ crashes, lag }));
        }
      }
    }
  }
});

test("X2 an unfinished line is not offered, unless it is flushed or there is no room for its end", () => {
  const offers = new LineOffers(true, 16);
  const offered = () => offers.outbox.splice(0).map(({ bytes }) => new TextDecoder().decode(bytes));
  offers.print(text("half"));
  assert.deepEqual(offered(), []);
  offers.print(text(" a line\nand"));
  assert.deepEqual(offered(), ["half", " a line\n"]);
  offers.flush();
  assert.deepEqual(offered(), ["and"]);
});

test("X2 without room the program waits: nothing is taken until the dispatcher confirms", () => {
  const offers = new LineOffers(true, 8);
  assert.equal(offers.print(text("0123456789\n")), 8);
  assert.equal(
    offers.outbox.splice(0).length,
    1,
    "a line that is longer than all that may be kept is offered in pieces",
  );
  assert.equal(offers.print(text("89\n")), 0);
  offers.confirmed({ line: 0, offset: 8 });
  assert.equal(offers.print(text("89\n")), 3);
  offers.confirmed({ line: 1, offset: 0 });
  assert(offers.isConfirmed);
});

test("X2 replicas whose lines differ never share a line, unless it was flushed", () => {
  const dispatcher = new Dispatcher();
  const one = new LineOffers(true, 100);
  const other = new LineOffers(false, 100);
  one.print(text("at 0.123 s\nat 0.4"));
  other.print(text("at 0.1 s\nat 0.455 s\n"));
  for (const piece of one.outbox.splice(0)) dispatcher.take(piece);
  other.confirmed(dispatcher.place);
  other.perform();
  for (const piece of other.outbox.splice(0)) dispatcher.take(piece);
  assert.equal(dispatcher.output, "at 0.123 s\nat 0.455 s\n");
});
