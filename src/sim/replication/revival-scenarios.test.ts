/** Small worlds in which a replica returns: what is said, and every moment at which somebody may die (R6, §3.4). */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import { heldWord } from "../../core/ft/replication/acknowledgements.ts";
import { type ReplicationOptions, ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { RevivalWord } from "../../core/ft/replication/revival-words.ts";
import { Went } from "../../core/request/decisions.ts";
import type { CostModel } from "../cost-model.ts";
import { ScenarioProgram } from "../logging/testing/scenario.ts";
import { Random } from "../random.ts";
import type { Script } from "../script/script.ts";
import { certainCost } from "./certain-cost.ts";
import { type RevivalOutcome, runRevivals } from "./run-revival-seed.ts";

interface Death {
  readonly atNs: number;
  readonly rank: number;
  readonly replica: number;
}

interface Scenario {
  readonly program: Script;
  readonly plan: readonly number[];
  readonly deaths: readonly Death[];
  /** Replicas that shall go on elsewhere. */
  readonly moves?: readonly Death[];
  readonly cost?: Partial<CostModel>;
  readonly makeReplica?: (options: ReplicationOptions, ports: ProtocolPorts) => ReplicationProtocol;
}

function survive({ program, plan, deaths, moves = [], cost, makeReplica }: Scenario): RevivalOutcome {
  const ranks = plan.length;
  const outcome = runRevivals({
    plan,
    script: program,
    world: { ranks, nodes: ranks * Math.max(...plan), cost: { ...certainCost, ...cost } },
    random: new Random(1),
    delayNsMax: 0,
    imageNsMax: 0,
    makeReplica: makeReplica ?? ((options, ports) => new ReplicationProtocol(options, ports)),
    trouble: {
      begin: ({ kill, move, numberOf }) => {
        for (const { atNs, rank, replica } of moves) move(numberOf(rank, replica), atNs);
        for (const { atNs, rank, replica } of deaths) kill(numberOf(rank, replica), atNs);
      },
      happens: () => {},
    },
  });
  equal(outcome.violations.length, 0, `${outcome.violations[0]?.invariant}: ${outcome.violations[0]?.what}`);
  return outcome;
}

const words = new Map<number, string>(Object.entries(RevivalWord).map(([name, word]) => [word, name]));

/** Writes down what processes say to each other: "1.0" is replica 0 of rank 1. */
function traced(lines: string[]): (options: ReplicationOptions, ports: ProtocolPorts) => ReplicationProtocol {
  return (options, ports) => {
    const own = `${options.rank}.${options.replica}`;
    const { transmit, tell } = ports;
    const watch = (name: string, value: unknown): void => void Object.defineProperty(ports, name, { value });
    watch("transmit", (...[message, keeper]: Parameters<typeof transmit>) => {
      const went = transmit.call(ports, message, keeper);
      if (went !== Went.NOWHERE) lines.push(`${own} sends #${message.sequence} to ${message.dest}.${message.replica}`);
      return went;
    });
    watch("tell", (...[to, told]: Parameters<typeof tell>) => {
      const what = told.a === heldWord ? `has #${told.b}` : `${words.get(told.a)?.toLowerCase()} ${told.b ?? 0}`;
      if (words.has(told.a) || told.a === heldWord) lines.push(`${own} ${what} for ${to.rank}.${to.replica}`);
      tell.call(ports, to, told);
    });
    return new ReplicationProtocol(options, ports);
  };
}

/** Two ranks, each of which sends the other small and large messages in turn. */
function exchanges(rounds: number, bytes = 8): Script {
  const program = new ScenarioProgram(2);
  for (let round = 0; round < rounds; round++) {
    program.send(1, 0, round % 2 === 0 ? 8 : bytes).send(0, 1, round % 2 === 0 ? bytes : 8);
    program.compute(1, 10_000);
  }
  return program.script;
}

/** Of two ranks with two replicas each. */
const everybody = [
  [1, 0],
  [1, 1],
  [0, 0],
  [0, 1],
] as const;

describe("R6 §3.4: replica 1 of rank 1 dies and comes back", () => {
  it("everybody keeps, the source is captured, the clone says what it holds, and sends when nobody else does", () => {
    const lines: string[] = [];
    const deaths = [{ atNs: 15_000, rank: 1, replica: 1 }];
    const { clones } = survive({ program: exchanges(6), plan: [2, 2], deaths, makeReplica: traced(lines) });
    deepEqual(clones, { copied: 0, asked: 1, captured: 1, begun: 1, back: 1, givenUp: 0 });
    const first = lines.findIndex((line) => line.includes("prepare"));
    const last = lines.findLastIndex((line) => line.includes("welcome"));
    deepEqual(lines.slice(first, last + 1), cloneTrace);
    ok(lines.slice(last + 1).some((line) => line.startsWith("1.1 sends")));
    ok(!lines.slice(last + 1).some((line) => /^1\.0 sends .* to 0\.1/.test(line)), "the source sends to its own world");
  });

  it("whoever of all dies a second time, at whichever moment, all worlds come to the right answer", () => {
    let [sources, clones, back] = [0, 0, 0];
    const step = tries(16_000, 500);
    for (const [rank, replica] of everybody) {
      for (let atNs = 26_000; atNs < 90_000; atNs += step) {
        const deaths = [
          { atNs: 15_000, rank: 1, replica: 1 },
          { atNs, rank, replica },
        ];
        const outcome = survive({ program: exchanges(7, 3_000), plan: [2, 2], deaths });
        sources += outcome.deathsOf.source;
        clones += outcome.deathsOf.clone;
        back += outcome.clones.back;
      }
    }
    ok(sources > 0 && clones > 0 && back > 0, `${sources} sources, ${clones} clones, ${back} back`);
  });

  it("two more deaths with three replicas, in all pairs of moments", () => {
    let back = 0;
    const step = tries(40_000, 3_000);
    for (let oneNs = 26_000; oneNs < 90_000; oneNs += step) {
      for (let otherNs = oneNs; otherNs < 90_000; otherNs += step) {
        const deaths = [
          { atNs: 15_000, rank: 1, replica: 1 },
          { atNs: oneNs, rank: 1, replica: 2 },
          { atNs: otherNs, rank: 1, replica: 0 },
        ];
        back += survive({ program: exchanges(7, 3_000), plan: [3, 3], deaths }).clones.back;
      }
    }
    ok(back > 0, `${back} came back`);
  });
});

describe("D5 replica 1 of rank 1 goes on elsewhere", () => {
  const moves = [{ atNs: 15_000, rank: 1, replica: 1 }];

  it("D5 everybody keeps what it may not have taken, it stands still, and its next life says what it holds", () => {
    const lines: string[] = [];
    const outcome = survive({ program: exchanges(6), plan: [2, 2], deaths: [], moves, makeReplica: traced(lines) });
    deepEqual(outcome.moves, { wanted: 1, begun: 1, back: 1, givenUp: 0 });
    equal(outcome.deaths, 0);
    const first = lines.findIndex((line) => line.includes("prepare"));
    const last = lines.findLastIndex((line) => line.includes("welcome"));
    deepEqual(lines.slice(first, last + 1), moveTrace);
    ok(!lines.some((line) => /^1\.0 sends .* to 0\.1/.test(line)), "nobody stands in for it");
  });

  it("D5 whoever of all dies, at whichever moment, all worlds come to the right answer", () => {
    const totals = { source: 0, begun: 0, givenUp: 0, back: 0 };
    const step = tries(16_000, 250);
    for (const cost of [{}, { inFlightAtCrash: "delivered" }] as const) {
      for (const [rank, replica] of everybody) {
        for (let atNs = 14_000; atNs < 90_000; atNs += step) {
          const deaths = [{ atNs, rank, replica }];
          const outcome = survive({ program: exchanges(7, 3_000), plan: [2, 2], deaths, moves, cost });
          totals.source += outcome.deathsOf.source;
          totals.begun += outcome.moves.begun;
          totals.givenUp += outcome.moves.givenUp;
          totals.back += outcome.clones.back;
        }
      }
    }
    ok(totals.source > 0 && totals.begun > 0 && totals.givenUp > 0 && totals.back > 0, JSON.stringify(totals));
  });

  it("D5 a rank with one process alone is moved too, and every rank one after the other", () => {
    const all = [
      { atNs: 15_000, rank: 0, replica: 0 },
      { atNs: 16_000, rank: 1, replica: 0 },
      { atNs: 17_000, rank: 1, replica: 1 },
    ];
    const outcome = survive({ program: exchanges(12, 3_000), plan: [1, 2], deaths: [], moves: all });
    deepEqual(outcome.moves, { wanted: 3, begun: 3, back: 3, givenUp: 0 });
  });
});

/** 1.1 itself asks. Until its image is taken it says to everybody what it holds, and everybody says so of what it has sent: "has #2 for 1.1" of the one that it came from, too. */
const moveTrace: readonly string[] = [
  "1.1 prepare 17 for 0.0",
  "1.1 prepare 17 for 0.1",
  "1.1 prepare 17 for 1.0",
  "0.0 below 2 for 1.1",
  "0.0 prepared 17 for 1.1",
  "0.1 below 2 for 1.1",
  "0.1 prepared 17 for 1.1",
  "1.1 sends #2 to 0.1",
  "1.1 has #1 for 0.0",
  "1.1 has #1 for 0.1",
  "1.0 sends #2 to 0.0",
  "1.0 prepared 17 for 1.1",
  "1.0 has #1 for 0.1",
  "0.0 sends #2 to 1.0",
  "0.0 has #2 for 1.1",
  "0.1 sends #2 to 1.1",
  "0.1 has #2 for 1.0",
  "0.1 has #2 for 1.1",
  "1.1 has #2 for 0.0",
  "1.1 has #2 for 0.1",
  "1.1 hello 1 for 0.0",
  "1.1 below 3 for 0.0",
  "1.1 told 0 for 0.0",
  "1.1 hello 1 for 1.0",
  "1.1 hello 1 for 0.1",
  "1.1 below 3 for 0.1",
  "1.1 told 0 for 0.1",
  "0.0 below 3 for 1.1",
  "0.0 welcome 1 for 1.1",
  "0.1 below 3 for 1.1",
  "0.1 welcome 1 for 1.1",
];

/**
 * "prepare 17": the first question about replica 1. "below 2": holds #0 and #1. "sent_before 1": #0 was sent in world 1, so that the source, which stands in there, must have
 * come that far. It sends #1 to 0.1 when the gate to world 1 lets it pass, and nothing of it from its image on: #2 is the clone's. 0.0 and 0.1 acknowledge to the source what it
 * sends itself until it relaxes. "sent 1": what the clone may send now, whatever its own order says.
 */
const cloneTrace: readonly string[] = [
  "1.0 prepare 17 for 0.0",
  "1.0 prepare 17 for 0.1",
  "0.0 below 2 for 1.0",
  "0.0 prepared 17 for 1.0",
  "0.1 below 1 for 1.0",
  "0.1 sent_before 1 for 1.0",
  "0.1 prepared 17 for 1.0",
  "1.0 sends #2 to 0.0",
  "1.0 sends #1 to 0.1",
  "1.0 has #1 for 0.0",
  "1.0 has #1 for 0.1",
  "1.0 relax 0 for 0.0",
  "1.0 relax 0 for 0.1",
  "1.1 hello 1 for 0.0",
  "1.1 below 2 for 0.0",
  "1.1 told 0 for 0.0",
  "1.1 hello 1 for 1.0",
  "1.1 hello 1 for 0.1",
  "1.1 below 2 for 0.1",
  "1.1 told 0 for 0.1",
  "0.0 sends #2 to 1.0",
  "0.0 has #2 for 1.0",
  "0.1 has #1 for 1.0",
  "0.1 below 2 for 1.0",
  "1.0 aware 1 for 0.0",
  "1.0 aware 1 for 0.1",
  "1.0 aware 1 for 1.1",
  "1.0 sent 1 for 1.1",
  "1.0 sent 2 for 1.1",
  "1.1 caught_up 1 for 0.0",
  "1.1 caught_up 1 for 0.1",
  "1.1 caught_up 1 for 1.0",
  "0.0 below 3 for 1.1",
  "0.0 welcome 1 for 1.1",
  "0.1 below 2 for 1.1",
  "0.1 welcome 1 for 1.1",
];
