/** The cases that every channel passes, in a simulated world: connections with delays, which break, and a service that is lost. */
import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { ServiceEnds } from "../../core/service-channel/service-ends.ts";
import {
  type ChannelCase,
  channelCases,
  conformanceWordsMax,
  type Role,
} from "../../core/service-channel/testing/channel-conformance.ts";
import { Agenda } from "../agenda.ts";
import { Random } from "../random.ts";
import { SimClient } from "./sim-client.ts";
import { SimService } from "./sim-service.ts";

const wordsMax = { outgoingWordsMax: conformanceWordsMax, incomingWordsMax: conformanceWordsMax };
/** How often a role looks, and how long a case may take. */
const turnNs = 2_000;
const endNs = 2_000_000_000;

class ChannelWorld {
  readonly #queue = new Agenda<() => void>();
  readonly #random: Random;
  readonly #retention: ChannelCase["retention"];
  readonly #delayNsMax: number;
  readonly #clients: SimClient[] = [];
  readonly #service: SimService;
  #ends: ServiceEnds | undefined;
  #rolesLeft = 0;

  constructor(seed: number, retention: ChannelCase["retention"]) {
    this.#random = new Random(seed);
    this.#retention = retention;
    this.#delayNsMax = this.#random.pick([1, 3_000, 30_000]);
    this.#service = new SimService(
      { random: this.#random.fork(), delayNsMax: this.#delayNsMax, restartNs: 100_000 },
      {
        ...this.#ports,
        begin: (_isSuccessor, move) => {
          const ends = new ServiceEnds(wordsMax, move);
          this.#ends = ends;
          return ends;
        },
        ready: () => {
          for (const client of this.#clients) client.connect();
        },
      },
    );
  }

  get #ports() {
    return { nowNs: () => this.#queue.nowNs, plan: (ns: number, act: () => void) => this.#queue.plan(ns, act) };
  }

  run(conformance: ChannelCase, check: (claim: boolean, what: string) => void): void {
    const nextLife = (): void => this.#start(this.#clientRole(conformance, check));
    nextLife();
    this.#start(
      conformance.service({
        check,
        nextLife,
        end: () => this.#ends?.of(7),
        cut: () => this.#service.cutConnections(),
        lose: () => this.#service.crash(() => {}),
        trim: (position) => {
          for (const { end } of this.#clients) end.trim(position);
        },
      }),
    );
    while (this.#rolesLeft > 0) {
      const act = this.#queue.take();
      check(act !== undefined && this.#queue.nowNs < endNs, "some role waits in vain");
      act?.();
    }
  }

  #clientRole(conformance: ChannelCase, check: (claim: boolean, what: string) => void): Role {
    const incarnation = this.#clients.length;
    const client = new SimClient(
      this.#service,
      {
        client: 7,
        incarnation,
        retention: this.#retention,
        ...wordsMax,
        random: this.#random.fork(),
        delayNsMax: this.#delayNsMax,
      },
      { ...this.#ports, settled() {} },
    );
    this.#clients.push(client);
    client.connect();
    return conformance.client({ end: client.end, incarnation, check });
  }

  #start(role: Role): void {
    this.#rolesLeft++;
    const turn = (): void => {
      if (role.next().done === true) this.#rolesLeft--;
      else this.#queue.plan(this.#queue.nowNs + this.#random.below(turnNs), turn);
    };
    this.#queue.plan(this.#queue.nowNs, turn);
  }
}

describe("L1, V8 a channel to a service, simulated", () => {
  for (const conformance of channelCases) {
    it(conformance.name, () => {
      for (let seed = 1; seed <= tries(2, 5); seed++) {
        const check = (claim: boolean, what: string): void => ok(claim, `seed ${seed}: ${what}`);
        new ChannelWorld(seed, conformance.retention).run(conformance, check);
      }
    });
  }

  it("a client that has fallen says nothing more, and what it had sent arrives or not", () => {
    const counts = new Set<number>();
    for (let seed = 1; seed <= 20; seed++) counts.add(fallen(seed));
    ok(counts.has(0) && counts.has(3), `${[...counts]}`);
  });
});

/** How many of three words arrive that were sent just before the client fell. */
function fallen(seed: number): number {
  const queue = new Agenda<() => void>();
  const ports = { nowNs: () => queue.nowNs, plan: (ns: number, act: () => void) => queue.plan(ns, act) };
  const random = new Random(seed);
  const options = { random, delayNsMax: 1000, restartNs: 1 };
  let ends: ServiceEnds | undefined;
  const service = new SimService(options, {
    ...ports,
    begin: (_isSuccessor, move) => {
      ends = new ServiceEnds(wordsMax, move);
      return ends;
    },
    ready() {},
  });
  const streams = { client: 0, incarnation: 0, retention: "until-acknowledged", ...wordsMax } as const;
  const client = new SimClient(service, { ...options, ...streams }, { ...ports, settled() {} });
  client.connect();
  for (let act = queue.take(); act !== undefined; act = queue.take()) act();
  client.end.append(Int32Array.of(1, 2, 3), 0, 3);
  client.move();
  client.fall();
  for (let act = queue.take(); act !== undefined; act = queue.take()) act();
  equal(client.end.stable, 0, "nothing reaches one that has fallen");
  return ends?.of(0)?.take(new Int32Array(10)) ?? -1;
}
