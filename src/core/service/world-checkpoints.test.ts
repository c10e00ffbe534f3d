import { deepEqual, equal, match } from "node:assert/strict";
import { describe, it } from "node:test";
import { WorldCheckpoints } from "./world-checkpoints.ts";

/** Two ranks: processes 0 and 1 are replica 0 of each, 2 and 3 replica 1. */
const players = [0, 1].flatMap((replica) => [0, 1].map((rank) => ({ rank, replica })));

class Job {
  readonly said: string[] = [];
  readonly standings: ("running" | "over" | "dead")[] = ["running", "running", "running", "running"];
  obstacle = "";
  readonly checkpoints: WorldCheckpoints;

  constructor(everyMs: number, latest: WorldCheckpoints["latest"] = null, who = players, isOfAll = false) {
    const interval = { kind: "fixed", everyMs } as const;
    this.checkpoints = new WorldCheckpoints(
      { players: who, interval, patienceMs: 1_000, isOfAll },
      {
        standing: (process) => this.standings[process]!,
        stop: (number, members) => void this.said.push(`stop ${members} for ${number}`),
        goOn: (members) => void this.said.push(`go on ${members}`),
        commit: (number) => {
          this.said.push(`commit ${number}`);
          return this.obstacle;
        },
        drop: (number) => void this.said.push(`drop ${number}`),
        discard: (members) => void this.said.push(`discard ${members}`),
        note: (message) => void this.said.push(message),
        committed: (number, tookMs) => void this.said.push(`counts ${number} after ${tookMs}`),
      },
      latest,
    );
    this.checkpoints.begin(0);
  }

  image(process: number, number: number, nowMs: number, problem = ""): void {
    this.checkpoints.image(process, { number, inputOffset: 10 * process, problem }, nowMs);
  }

  get news(): string[] {
    return this.said.splice(0);
  }
}

describe("R8 checkpoints of one world of replicas", () => {
  it("the first world that is whole is captured, counts when all images are there, and goes on", () => {
    const job = new Job(100);
    const { checkpoints } = job;
    checkpoints.tick(99);
    deepEqual(job.news, []);
    checkpoints.tick(100);
    deepEqual(job.news, ["stop 0,1 for 1"]);
    job.image(1, 1, 120);
    // Of another attempt, or of a process that was not asked.
    job.image(0, 7, 121);
    job.image(2, 1, 122);
    equal(checkpoints.latest, null);
    job.image(0, 1, 130);
    deepEqual(job.news, ["commit 1", "go on 0,1", "counts 1 after 30"]);
    const { number, world, members, takenMs, inputOffsets } = checkpoints.latest!;
    deepEqual(
      [number, world, members, takenMs, [...inputOffsets].sort()],
      [
        1,
        0,
        [0, 1],
        100,
        [
          [0, 0],
          [1, 10],
        ],
      ],
    );
    checkpoints.tick(229);
    deepEqual(job.news, []);
    checkpoints.tick(230);
    deepEqual(job.news, ["stop 0,1 for 2"]);
  });

  it("another world when one has lost a process; none when all have, which is said once, and what was before stays", () => {
    const job = new Job(100);
    const { checkpoints } = job;
    job.standings[1] = "dead";
    checkpoints.tick(100);
    deepEqual(job.news, ["stop 2,3 for 1"]);
    job.image(2, 1, 110);
    job.image(3, 1, 110);
    equal(checkpoints.latest?.world, 1);
    job.said.length = 0;
    job.standings[2] = "dead";
    checkpoints.tick(300);
    checkpoints.tick(600);
    deepEqual(job.news, ["no further checkpoint is taken: of every world of replicas one is lost"]);
    equal(checkpoints.latest?.number, 1);
  });

  it("a program that is over is not captured, and nothing is said of it", () => {
    const job = new Job(100);
    job.standings[0] = "over";
    job.standings[3] = "over";
    job.checkpoints.tick(100);
    deepEqual(job.news, []);
  });

  it("an attempt is given up when a process dies, cannot write, or does not stop; each reason is said once, and the next has another number", () => {
    const job = new Job(10);
    const { checkpoints } = job;
    checkpoints.tick(10);
    job.said.length = 0;
    checkpoints.ended(3, 15);
    deepEqual(job.news, []);
    checkpoints.ended(1, 20);
    const [discarded, wentOn, why] = job.news;
    deepEqual([discarded, wentOn], ["discard 0,1", "go on 0,1"]);
    match(why!, /^checkpoint 1, of replica 0 of all ranks, was given up: rank 1 has ended; it is tried again$/);
    // An image that is on its way must not come behind one of the next attempt.
    checkpoints.tick(1_019);
    deepEqual(job.news, []);
    checkpoints.tick(1_020);
    job.image(0, 1, 1_021);
    job.image(0, 2, 1_022, "no space");
    match(job.news.join("; "), /stop 0,1 for 2; discard 0,1; go on 0,1; .* given up: no space/);
    checkpoints.tick(2_022);
    job.image(0, 3, 2_023);
    checkpoints.tick(3_023);
    match(job.news.join("; "), /stop 0,1 for 3; discard 0,1; go on 0,1; .* given up: rank 1 did not stop for 1\.00 s/);
    checkpoints.tick(4_100);
    job.image(0, 4, 4_101, "no space");
    deepEqual(job.news, ["stop 0,1 for 4", "discard 0,1", "go on 0,1"]);
  });

  it("images that cannot be kept do not count", () => {
    const job = new Job(10);
    job.obstacle = "the disk is full";
    job.checkpoints.tick(10);
    job.image(0, 1, 11);
    job.image(1, 1, 11);
    equal(job.checkpoints.latest, null);
    match(job.news.join("; "), /commit 1; discard 0,1; go on 0,1; .*the disk is full/);
  });

  it("a job that has gone back counts on, and can go back to the same one", () => {
    const latest = { number: 4, world: 1, members: [2, 3], takenMs: 5, inputOffsets: new Map(), earlier: null };
    const job = new Job(100, latest);
    equal(job.checkpoints.latest, latest);
    job.standings[0] = "dead";
    job.standings[1] = "dead";
    job.checkpoints.take(50);
    deepEqual(job.news, ["stop 2,3 for 5"]);
  });

  it("partial replication: only a world that has every rank", () => {
    const job = new Job(100, null, [
      { rank: 0, replica: 0 },
      { rank: 1, replica: 0 },
      { rank: 0, replica: 1 },
    ]);
    job.standings[0] = "dead";
    job.checkpoints.take(1);
    deepEqual(job.news, ["no further checkpoint is taken: of every world of replicas one is lost"]);
  });

  it("D1 where messages are compared all processes are captured together, while all live, and the last four are kept", () => {
    const job = new Job(100, null, players, true);
    for (let number = 1; number <= 5; number++) {
      job.checkpoints.take(1_000 * number);
      for (const process of players.keys()) job.image(process, number, 1_000 * number + 1);
      const dropped = number < 5 ? [] : ["drop 1"];
      const said = [
        `stop 0,1,2,3 for ${number}`,
        `commit ${number}`,
        ...dropped,
        "go on 0,1,2,3",
        `counts ${number} after 1`,
      ];
      deepEqual(job.news, said);
    }
    const numbers: number[] = [];
    for (let { latest } = job.checkpoints; latest !== null; latest = latest.earlier) numbers.push(latest.number);
    deepEqual(numbers, [5, 4, 3, 2]);
    job.standings[3] = "dead";
    job.checkpoints.take(9_000);
    deepEqual(job.news, ["no further checkpoint is taken: a replica is lost"]);
  });
});
