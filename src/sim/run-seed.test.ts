import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../test/long.ts";
import { failureText } from "./failure-text.ts";
import { type Deaths, generate } from "./generator/generator.ts";
import { Random } from "./random.ts";
import { runSeed, type SeedOutcome } from "./run-seed.ts";
import {
  equalKinds,
  isNeighbor,
  mayBeInPlace,
  neighborKinds,
  reducingKinds,
  unequalKinds,
} from "./script/collective-plan.ts";
import { isInter } from "./script/communicator-plan.ts";
import type { Action } from "./script/script.ts";

const options = { ranks: 5, events: 200, eagerBytesMax: 1000, deaths: "none" } as const;

describe("random programs in simulated worlds", () => {
  it("M1 M2 M3 M4: every invariant holds under every one of these seeds", () => {
    const seeds = tries(45, 200);
    const outcomes: SeedOutcome[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      const outcome = runSeed({ seed });
      outcomes.push(outcome);
      equal(outcome.violations.length, 0, failureText({ seed }, outcome));
    }
    const sum = (of: (outcome: SeedOutcome) => number): number => outcomes.reduce((total, one) => total + of(one), 0);
    ok(sum(({ messages }) => messages) > 2000);
    ok(sum(({ collectives }) => collectives) > 500);
    ok(sum(({ deaths }) => deaths) > 5);
    // Every way a message travels, full channels, closed doors and both ends of every race were among them.
    for (const mark of Object.keys(outcomes[0]!.marks) as (keyof SeedOutcome["marks"])[]) {
      ok(sum(({ marks }) => marks[mark]) > 0, `no world came by "${mark}"`);
    }
  });

  it("M4: ranks that ask each other all the time end no collective, because programs that are right prove nothing", () => {
    for (let seed = 1; seed <= tries(4, 50); seed++) {
      // Slow links with few places carry about ten packets in that time: more questions would leave no room for messages.
      const asking = { seed, inquiryNs: 100_000 * (1 + (seed % 7) ** 2) };
      const outcome = runSeed(asking);
      equal(outcome.violations.length, 0, failureText(asking, outcome));
    }
  });

  it("the same seed is the same run, byte for byte", () => {
    const traced = (seed: number): { lines: string[]; hash: string } => {
      const lines: string[] = [];
      const { hash } = runSeed({ seed, listener: (line) => lines.push(line) });
      return { lines, hash };
    };
    for (const seed of [3, 20, 77]) deepEqual(traced(seed), traced(seed));
    notEqual(runSeed({ seed: 3 }).hash, runSeed({ seed: 4 }).hash);
  });

  it("a program of many ranks", () => {
    const many = { seed: 5, ranks: 60, events: tries(25, 60) };
    const outcome = runSeed(many);
    equal(outcome.violations.length, 0, failureText(many, outcome));
  });

  it("the generator uses everything a script can do", () => {
    const kinds = new Set<Action["kind"]>();
    for (let seed = 1; seed <= 5; seed++) {
      for (const actions of generate(new Random(seed), options).actions) {
        for (const { kind } of actions) kinds.add(kind);
      }
    }
    deepEqual([...kinds].sort(), [
      ...[
        "cancel-receive",
        "cancel-send",
        "collective",
        "collective-now",
        "compute",
        "file",
        "file-atomic",
        "file-close",
        "file-open",
        "file-ordered",
        "file-read",
        "file-seek",
        "file-size",
        "file-sync",
        "file-write",
        "free",
        "free-series",
        "init-all-parts",
      ],
      ...["init-collective", "init-parts", "init-receive", "init-send", "input", "make", "print", "probe"],
      ...["race-answer", "race-receive", "race-send", "ready"],
      ...["receive", "receive-aside", "receive-now", "send", "send-copy", "send-now", "set-aside"],
      ...["start-collective", "start-receive", "start-send", "wait"],
    ]);
  });

  it("the generator uses every collective in every form, and every way to make a communicator", () => {
    const [forms, ways, modes] = [new Set<string>(), new Set<string>(), new Set<number>()];
    for (let seed = 1; seed <= 120; seed++) {
      const { collectives, communicators, actions, messages } = generate(new Random(seed), options);
      for (const { kind, communicator, inPlace } of collectives) {
        const comm = communicators[communicator]!;
        const where = isNeighbor(kind) ? comm.topology!.kind : isInter(comm) ? "inter" : "intra";
        forms.add(`${kind} ${where}${inPlace ? " in place" : ""}`);
      }
      for (const action of actions.flat()) {
        if (action.kind !== "make") continue;
        const comm = communicators[action.communicator];
        ways.add(`${action.how.by} ${comm === undefined ? "none" : isInter(comm) ? "inter" : "intra"}`);
      }
      for (const { mode } of messages) modes.add(mode);
    }
    for (const kind of [...equalKinds, ...unequalKinds, ...reducingKinds]) {
      ok(forms.has(`${kind} intra`), kind);
      if (mayBeInPlace(kind)) ok(forms.has(`${kind} intra in place`), `${kind} in place`);
      if (kind !== "scan" && kind !== "exscan") ok(forms.has(`${kind} inter`), `${kind} inter`);
    }
    for (const kind of neighborKinds) {
      for (const where of ["grid", "graph", "edges"]) ok(forms.has(`${kind} ${where}`), `${kind} ${where}`);
    }
    deepEqual([...ways].sort(), [
      ...["create intra", "create none", "create-group intra", "create-inter inter", "duplicate inter"],
      ...["duplicate intra", "merge intra", "shrink inter", "shrink intra", "split inter", "split intra", "split none"],
    ]);
    equal(modes.size, 4);
  });

  it("M1 M2 M3 M4: every invariant holds among the living, whatever programs do about deaths", () => {
    const seeds = tries(8, 50);
    for (const deaths of ["go-on", "revoke"] as const) {
      const outcomes: SeedOutcome[] = [];
      for (let seed = 1; seed <= seeds; seed++) {
        const outcome = runSeed({ seed, deaths });
        outcomes.push(outcome);
        equal(outcome.violations.length, 0, `deaths: ${deaths}, ${failureText({ seed }, outcome)}`);
      }
      ok(outcomes.filter(({ deaths }) => deaths > 0).length > seeds / 2);
      const gaveUp = outcomes.filter(({ gaveUp }) => gaveUp > 0).length;
      if (deaths === "revoke") ok(gaveUp > seeds / 3, `${gaveUp} worlds in which a rank gave up`);
      else equal(gaveUp, 0);
    }
  });

  it("M4 the leader of an inter-communicator that cannot be made gives back what it allocated, whoever is dead", () => {
    for (const seed of [17, 32, 57]) equal(runSeed({ seed, deaths: "revoke" }).violations.length, 0);
  });

  it("M4 programs that are planned for all ranks do not shrink communicators when ranks die", () => {
    for (const seed of [20, 303]) equal(runSeed({ seed, deaths: "revoke" }).violations.length, 0);
  });

  it("M2 a rank that gives up while it makes an inter-communicator sees its own messages end", () => {
    equal(runSeed({ seed: 3002188 }).violations.length, 0);
  });

  it("M3 buffers of a collective that failed are the program's again: nobody writes into them any more", () => {
    for (const seed of [1007, 1875, 2437, 2850, 2851]) equal(runSeed({ seed, deaths: "revoke" }).violations.length, 0);
  });

  it("programs that revoke when a rank dies use everything a script can do, but for files that ranks have open together", () => {
    const kinds = (deaths: Deaths): Set<string> => {
      const scripts = Array.from({ length: 5 }, (_, seed) => generate(new Random(seed + 1), { ...options, deaths }));
      return new Set(scripts.flatMap(({ actions }) => actions.flat().map(({ kind }) => kind)));
    };
    const isOfSharedFiles = (kind: string): boolean => kind.startsWith("file-");
    deepEqual([...kinds("revoke")].sort(), [...kinds("none")].filter((kind) => !isOfSharedFiles(kind)).sort());
  });

  it("programs that go on when a rank dies have every family whose end is certain", () => {
    const kinds = new Set<Action["kind"]>();
    for (let seed = 1; seed <= 10; seed++) {
      for (const action of generate(new Random(seed), { ...options, deaths: "go-on" }).actions.flat())
        kinds.add(action.kind);
    }
    deepEqual([...kinds].sort(), [
      ...[
        "cancel-receive",
        "cancel-send",
        "compute",
        "file",
        "free-series",
        "init-all-parts",
        "init-parts",
        "init-receive",
        "init-send",
        "input",
        "print",
        "probe",
        "race-answer",
      ],
      ...[
        "race-receive",
        "race-send",
        "ready",
        "receive",
        "receive-aside",
        "receive-now",
        "send",
        "send-copy",
        "send-now",
      ],
      ...["set-aside", "start-receive", "start-send", "wait"],
    ]);
  });

  it("the generator is a function of its random numbers", () => {
    deepEqual(generate(new Random(9), options), generate(new Random(9), options));
  });

  it("a failure is told with the command that runs it again", () => {
    const violations = Array.from({ length: 12 }, (_, i) => ({
      invariant: "contents are right",
      what: `receive ${i}`,
    }));
    const text = failureText({ seed: 4711, ranks: 3, events: 10, often: ["lines"] }, { violations, ranks: 3 });
    match(
      text,
      /^seed 4711 failed, 3 ranks\. To run it again: npx banyan sim --seed 4711 --ranks 3 --events 10 --often "lines"\n/,
    );
    match(text, /\n {2}contents are right: receive 0\n/);
    match(text, /\n {2}and 2 more$/);
  });
});
