import { deepEqual, equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import fc from "../base/testing/properties.ts";
import { checkPlan } from "./check.ts";
import { parsePlan } from "./parse.ts";
import { entriesMax, type FaultPlan } from "./plan.ts";
import { printPlan } from "./print.ts";
import { jobSize, plans } from "./testing/plans.ts";

function parsed(text: string): FaultPlan {
  const plan = parsePlan(text);
  if (typeof plan === "string") throw new Error(plan);
  return plan;
}

const printed = (text: string): string => printPlan(parsed(text));

describe("X3 fault plans are read", () => {
  it("a printed plan, parsed, is the plan", () => {
    const isTheSame = fc.property(plans, (plan) => deepEqual(parsed(printPlan(plan)), plan));
    fc.assert(isTheSame);
    // A time that was no whole number of microseconds: 2048.8320000000003 ms came back as 2048.832.
    fc.assert(isTheSame, { seed: 1867538883 });
  });

  it("a time as anybody writes it, read, printed and read again, is the same", () => {
    const digits = fc.stringMatching(/^(\d{1,4}(\.\d{1,12})?|\.\d{1,12})$/);
    fc.assert(
      fc.property(digits, fc.constantFrom("ms", "s", "m"), (number, unit) => {
        const plan = parsed(`kill rank 0 at ${number}${unit}`);
        deepEqual(parsed(printPlan(plan)), plan);
      }),
    );
  });

  it("whatever the text, there is a plan or one line", () => {
    const words = fc.constantFrom(
      ..."kill rank node set service random stop cut link 0-1 by for at in every of any ± 3s 7 call times from ;".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string({ maxLength: 4 }))), (texts) => {
        const plan = parsePlan(texts.join(" "));
        if (typeof plan === "string") ok(plan.startsWith("Cannot read the fault plan: ") && !plan.includes("\n"), plan);
        else deepEqual(parsed(printPlan(plan)), plan);
      }),
    );
  });

  it("flips name their bits, their rank and its replica", () => {
    equal(printed("FLIP 3 bits in rank 2 at 5s"), "flip 3 bits in rank 2 at 5s");
    equal(printed("flip 1 bit in rank 2 replica 1 at call 100"), "flip 1 bit in rank 2 replica 1 at call 100");
    equal(printed("flip 1 bit in message 100 of rank 2"), "flip 1 bit in message 100 of rank 2");
    for (const text of [
      "flip 1 bit in message 4 of rank 2 at 1s",
      "flip 0 bits in rank 2 at 5s",
      "flip 2 bit in rank 2 at 5s",
      "flip 3 bits in rank 2 in recovery",
    ]) {
      equal(typeof parsePlan(text), "string", text);
    }
  });

  it("entries end at semicolons and lines, comments at the end of the line", () => {
    const text = "\n kill rank 5 at 3s; seed 7 # all; of it\r\n\n# stop node 1 at 1s\nSTOP node 2  at 1s for 500ms;;";
    equal(printed(text), "kill rank 5 at 3s; seed 7; stop node 2 at 1s for 500ms");
    deepEqual(parsed(" # nothing\n;"), { entries: [] });
  });

  it("every form has its meaning", () => {
    deepEqual(parsed("delay link 2-0 by 20ms every 5s ±1s times 3 from 2s for 3s").entries, [
      {
        kind: "fault",
        fault: { kind: "delay", link: { one: 0, other: 2 }, byMs: 20, forMs: 3000 },
        when: { kind: "every", period: { kind: "around", ms: 5000, spreadMs: 1000 }, times: 3, fromMs: 2000 },
      },
    ]);
    deepEqual(parsed("kill service event-logger at checkpoint 2 of set 1 while").entries, [
      {
        kind: "fault",
        fault: { kind: "kill", victim: { kind: "service", service: "event-logger" } },
        when: { kind: "checkpoint", window: "while", number: 2, set: 1 },
      },
    ]);
  });

  for (const [text, canonical] of [
    ["cut link *-0 for 1s at 1.1s", "cut link 0-* at 1100ms for 1s"],
    ["cut link *-* at .5s", "cut link *-* at 500ms"],
    ["kill node 1 at checkpoint 2", "kill node 1 at checkpoint 2 after"],
    ["kill node 1 at checkpoint before of any set", "kill node 1 at checkpoint of any set before"],
    ["kill node 1 at commit", "kill node 1 at commit"],
    ["kill set 1 in recovery number 2 of set 0", "kill set 1 in recovery of set 0 number 2"],
    ["kill random node every 5s +- 1s from 0s times 2", "kill random node every 5s ±1s times 2 from 0ms"],
    ["kill random rank every 5s+/-1s", "kill random rank every 5s ±1s"],
    ["kill rank 1 at random between 1s and 1m", "kill rank 1 at random between 1s and 60s"],
    ["kill rank 1 every random exponential mean 2h", "kill rank 1 every random exponential mean 7200s"],
    ["kill node 0 at random weibull shape 0.70 scale 30s", "kill node 0 at random weibull shape 0.7 scale 30s"],
    ["kill service dispatcher at call 10 of rank 5", "kill service dispatcher at call 10 of rank 5"],
    ["restore link 0-1 at log full", "restore link 0-1 at log full"],
    ["continue node 2 at finish", "continue node 2 at finish"],
    ["layer-kill rank 3 at call 100", "layer-kill rank 3 at call 100"],
    ["LAYER-KILL node 1 at 5s +- 1s", "layer-kill node 1 at 5s ±1s"],
    ["layer-kill random rank at random exponential mean 2s", "layer-kill random rank at random exponential mean 2s"],
    ["stop random node at init of rank 3", "stop random node at init of rank 3"],
  ] as const) {
    it(`"${text}" is "${canonical}"`, () => equal(printed(text), canonical));
  }
});

describe("X3 a plan that cannot be read is answered in one line: which entry, what is wrong, what is allowed", () => {
  const time = "a time with its unit (500ms, 3s, 1.5m, 2h)";
  const refusals: Readonly<Record<string, string>> = {
    "kil rank 3": '"kil" does not fit here; allowed: seed, kill, layer-kill, stop, continue, cut, delay, restore, flip',
    "kill rank": "it ends too early; allowed: a whole number",
    "kill rank -1 at 3s": '"-1" does not fit here; allowed: a whole number',
    "kill rank 3": "it ends too early; allowed: in, every, at",
    "kill rank 3 at": `it ends too early; allowed: ${time}, random, call, checkpoint, commit, log, init, finish`,
    "kill rank 3 at 3": `"3" does not fit here; allowed: ${time}, random, call, checkpoint, commit, log, init, finish`,
    "kill rank 3 at 3s at 4s": '"at" does not fit here; allowed: ±',
    "kill rank 3 at 3s for 1s": '"for" does not fit here; allowed: ±',
    "stop node 3 at 3s ever": '"ever" does not fit here; allowed: ±, for',
    "stop node 3 at 3s for 1s for 2s": '"for" does not fit here; allowed: nothing more',
    "kill service logger at 1s":
      '"logger" does not fit here; allowed: event-logger, memory, checkpoint-server, dispatcher',
    "kill random set at 1s": '"set" does not fit here; allowed: rank, node',
    "kill rank 3 at call 0": '"0" is too small; the least is 1',
    "kill rank 4294967296 at 1s": '"4294967296" is too large; the most is 4294967295',
    "kill random rank at call 9": 'it does not say whose call; allowed: "at call 9 of rank 0"',
    "cut link 0-1 at call 9 for 1s": 'it does not say whose call; allowed: "at call 9 of rank 0"',
    "kill rank 3 at checkpoint 2 during": '"during" does not fit here; allowed: of, before, while, after',
    "kill rank 3 in recovery of rank 2": '"rank" does not fit here; allowed: set, any',
    "cut link 0 at 1s": '"0" does not fit here; allowed: two nodes (0-2, 0-*)',
    "cut link 1-1 at 1s": "a link is between two nodes, not 1 and 1",
    "kill rank 3 at 501h": '"501h" is too long; the most is 500h',
    "kill random node every 0s": '"0s" is too short; the least is 1ms',
    "kill random node every 1s ±1s": "what follows ± must be less than what precedes it; the most here is below 1000ms",
    "kill rank 3 at random between 2s and 1s":
      "nothing is between a later and an earlier time; give the earlier one first",
    "kill rank 3 at random weibull shape 0 scale 1s": '"0" is out of range; give a number from 0.1 to 100',
    "layer-kill set 1 at 3s": '"set" does not fit here; allowed: rank, node, random',
    "layer-kill random node at 3s": '"node" does not fit here; allowed: rank',
    "layer-kill rank 3 every 3s": '"every" does not fit here; allowed: at',
    "layer-kill rank 3 at init": `"init" does not fit here; allowed: ${time}, random, call`,
    "layer-kill rank 3 at call 9 of rank 2": '"of" does not fit here; allowed: nothing more',
    "seed 8": "there is a seed already; give one",
  };
  for (const [text, wrong] of Object.entries(refusals)) {
    it(text, () => equal(parsePlan(`seed 7; ${text}`), `Cannot read the fault plan: entry 2, "${text}": ${wrong}`));
  }

  it("too many entries", () => {
    const text = "kill rank 0 at 1s\n";
    equal(parsed(text.repeat(entriesMax)).entries.length, entriesMax);
    equal(
      parsePlan(text.repeat(entriesMax + 1)),
      "Cannot read the fault plan: it has 1001 entries, and the most is 1000",
    );
  });
});

describe("docs/faults.md says what is so", () => {
  const page = readFileSync("docs/faults.md", "utf8");

  it("its plans can be used", () => {
    const examples = [...page.matchAll(/^```faults\n([\s\S]*?)^```/gm)];
    equal(examples.length, 3);
    for (const [, text] of examples) equal(checkPlan(parsed(text!), jobSize), undefined);
  });

  it("so can every fault and every moment of its tables", () => {
    const firstCells = [...page.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) => cell!.match(/`[^`]+`/g)!);
    const forms = firstCells.map((form) => form.slice(1, -1));
    const faults = forms.filter((form) => /^(kill|layer-kill|stop|continue|cut|delay|restore|flip) /.test(form));
    const moments = forms.filter((form) => /^(at|in|every) /.test(form));
    deepEqual([faults.length, moments.length, forms.length], [18, 21, 39]);
    for (const fault of faults) parsed(fault.includes(" in message ") ? fault : `${fault} at 1s`);
    for (const moment of moments) parsed(`kill node 1 ${moment}`);
  });

  it("its refusals are those that come", () => {
    const refusals = [...page.matchAll(/--faults "([^"]*)" solver.c\nbanyan: (Cannot .*)/g)];
    equal(refusals.length, 2);
    for (const [, text, said] of refusals) {
      const plan = parsePlan(text!);
      equal(typeof plan === "string" ? plan : checkPlan(plan, jobSize), said);
    }
  });
});
