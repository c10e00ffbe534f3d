/**
 * The cases that every channel passes, on real ones: the client is a thread with shared memory, between it and the service are sockets,
 * and a proxy cuts them.
 */
import { equal, ok } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { quietNow, timeLimit } from "../../../test/patience.ts";
import { ServiceEnds } from "../../core/service-channel/service-ends.ts";
import {
  type ChannelCase,
  channelCases,
  conformanceWordsMax,
} from "../../core/service-channel/testing/channel-conformance.ts";
import { newYield } from "../machine/yield.ts";
import { CallVerdict, type JobSecret, ServiceCode, secretBytes } from "../transport/handshake/handshake.ts";
import { Reception } from "../transport/handshake/reception.ts";
import type { Address } from "../transport/sockets/address.ts";
import { CuttingProxy } from "../transport/testing/cutting-proxy.ts";
import { ChannelHost } from "./channel-host.ts";
import type { SharedChannel } from "./channel-ring.ts";
import { ChannelThread } from "./channel-thread.ts";
import { ServiceHost } from "./service-host.ts";

/** What a client's thread is given. */
interface ClientThread {
  readonly caseNumber: number;
  readonly incarnation: number;
  readonly channel: SharedChannel;
}

const loopback = "127.0.0.1";
const job: JobSecret = { id: "a test", secret: new Uint8Array(randomBytes(secretBytes)) };
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const newBell = () => new Int32Array(new SharedArrayBuffer(4));

if (isMainThread)
  for (const calls of ["koffi", "wasi"]) describe(`L1, V8 a channel to a service, by ${calls}`, () => tests(calls));
else playClient(workerData);

/** The client's role, in a thread of its own. */
function playClient({ caseNumber, incarnation, channel }: ClientThread): void {
  const end = new ChannelThread(channel, newBell());
  const check = (claim: boolean, what: string): void => ok(claim, `life ${incarnation}: ${what}`);
  const giveWay = newYield();
  for (const role = channelCases[caseNumber]!.client({ end, incarnation, check }); role.next().done !== true; )
    giveWay();
}

/** A service in this process, behind a proxy. */
class TestService {
  readonly host: ServiceHost;
  readonly ends: ServiceEnds;
  readonly #door: Reception;
  #proxy: CuttingProxy | undefined;

  constructor() {
    let ends: ServiceEnds | undefined;
    const wordsMax = { outgoingWordsMax: conformanceWordsMax, incomingWordsMax: conformanceWordsMax };
    this.host = new ServiceHost((move) => {
      ends = new ServiceEnds(wordsMax, move);
      return ends;
    });
    ok(ends !== undefined);
    this.ends = ends;
    this.#door = new Reception({
      job,
      service: ServiceCode.LOGGER,
      place: { address: loopback, port: 0 },
      received: (guest) => this.host.received(guest),
      dropped() {},
    });
  }

  async listen(): Promise<Address> {
    const listening = await this.#door.listen();
    ok(listening.ok);
    this.#proxy = new CuttingProxy(listening.port);
    return { host: loopback, port: await this.#proxy.listen() };
  }

  /** The newest connection. */
  cut(hard: boolean): void {
    const { connections = 0 } = this.#proxy ?? {};
    if (connections > 0) this.#proxy?.cut(connections - 1, hard);
  }

  get cuts(): number {
    return this.#proxy?.cuts ?? 0;
  }

  /** As if it were killed. */
  end(): void {
    this.host.end();
    this.#door.close();
    this.#proxy?.close();
  }
}

class ChannelWorld {
  readonly #caseNumber: number;
  readonly #case: ChannelCase;
  readonly #hosts: ChannelHost[] = [];
  readonly #threads: Promise<void>[] = [];
  #threadsLeft = 0;
  #service = new TestService();
  #address: Address | undefined;
  #problem: unknown;

  constructor(caseNumber: number) {
    this.#caseNumber = caseNumber;
    this.#case = channelCases[caseNumber]!;
  }

  async run(): Promise<number> {
    this.#address = await this.#service.listen();
    this.#nextLife();
    let cuts = 0;
    const role = this.#case.service({
      check: ok,
      end: () => this.#service.ends.of(7),
      cut: () => this.#service.cut(++cuts % 2 === 0),
      lose: () => void this.#lose(),
      trim: (position) => {
        for (const host of this.#hosts) host.trim(position);
      },
      nextLife: () => this.#nextLife(),
    });
    const startMs = quietNow();
    for (let isOver = false; !isOver || this.#threadsLeft > 0; ) {
      ok(quietNow() - startMs < 20_000, "some role waits in vain");
      isOver ||= role.next().done === true;
      for (const host of this.#hosts) host.relay();
      this.#service.ends.of(7)?.move();
      this.#service.host.serve(0);
      await nextTurn();
      if (this.#problem !== undefined) throw this.#problem;
    }
    await Promise.all(this.#threads);
    return this.#service.cuts;
  }

  #nextLife(): void {
    const incarnation = this.#hosts.length;
    const host = new ChannelHost({
      job,
      service: ServiceCode.LOGGER,
      client: 7,
      incarnation,
      threads: 1,
      retention: this.#case.retention,
      words: conformanceWordsMax,
      incomingWords: conformanceWordsMax,
    });
    if (this.#address !== undefined) host.connectTo(this.#address);
    this.#hosts.push(host);
    const data: ClientThread = { caseNumber: this.#caseNumber, incarnation, channel: host.forThread(0) };
    const worker = new Worker(new URL(import.meta.url), { workerData: data });
    this.#threadsLeft++;
    worker.on("error", (error) => {
      this.#problem = error;
    });
    this.#threads.push(
      new Promise((resolve) =>
        worker.on("exit", () => {
          this.#threadsLeft--;
          resolve();
        }),
      ),
    );
  }

  async #lose(): Promise<void> {
    this.#service.end();
    this.#service = new TestService();
    const address = await this.#service.listen();
    this.#address = address;
    for (const host of this.#hosts) host.connectTo(address);
  }

  end(): void {
    for (const host of this.#hosts) host.close();
    this.#service.end();
  }
}

function tests(calls: string): void {
  const within = (what: string, test: () => Promise<void>) =>
    it(what, timeLimit(30_000), async () => {
      const before = process.env["BANYAN_SOCKET_CALLS"];
      process.env["BANYAN_SOCKET_CALLS"] = calls;
      try {
        await test();
      } finally {
        if (before === undefined) delete process.env["BANYAN_SOCKET_CALLS"];
        else process.env["BANYAN_SOCKET_CALLS"] = before;
      }
    });

  for (const [caseNumber, { name }] of channelCases.entries()) {
    within(name, async () => {
      const world = new ChannelWorld(caseNumber);
      try {
        const cuts = await world.run();
        if (name.startsWith("connections that are cut")) ok(cuts > 3, `${cuts} connections were cut`);
      } finally {
        world.end();
      }
    });
  }

  within("a service that takes nothing sleeps, and goes on when it has taken something", async () => {
    const service = new TestService();
    const host = new ChannelHost({
      job,
      service: ServiceCode.LOGGER,
      client: 7,
      incarnation: 0,
      threads: 1,
      retention: "until-acknowledged",
      words: 1 << 15,
      incomingWords: conformanceWordsMax,
    });
    host.connectTo(await service.listen());
    const thread = new ChannelThread(host.forThread(0), newBell());
    const words = new Int32Array(1 << 15);
    const until = async (holds: () => boolean): Promise<void> => {
      const startMs = quietNow();
      while (!holds()) {
        ok(quietNow() - startMs < 10_000, "waited in vain");
        thread.append(words, 0, words.length);
        thread.move();
        host.relay();
        await nextTurn();
      }
    };
    await until(() => {
      const isIdle = !service.host.serve(0);
      return isIdle && thread.stable !== 0 && thread.append(words, 0, 1) === 0;
    });
    const { stable } = thread;
    const end = service.ends.of(7);
    ok(end !== undefined);
    await until(() => {
      end.take(words);
      end.move();
      service.host.serve(0);
      return thread.stable - stable > 1 << 15;
    });
    host.close();
    service.end();
  });

  within("what cannot be an acknowledgement ends its connection and is not believed", async () => {
    let calls = 0;
    const sockets: Socket[] = [];
    const door = new Reception({
      job,
      service: ServiceCode.LOGGER,
      place: { address: loopback, port: 0 },
      namesPort: true,
      received({ socket, answer }) {
        calls++;
        sockets.push(socket);
        socket.on("error", () => {});
        socket.write(answer({ verdict: CallVerdict.WELCOME, incarnation: 1, generation: 104 }));
        // An opening, and then an acknowledgement far behind what there will ever be.
        socket.write(new Uint8Array(Int32Array.of(1, 5104, 0).buffer));
      },
      dropped() {},
    });
    const listening = await door.listen();
    const host = new ChannelHost({
      job,
      service: ServiceCode.LOGGER,
      client: 3,
      incarnation: 1,
      threads: 1,
      retention: "until-trimmed",
      from: 100,
      known: Int32Array.of(4, 0, 2, 7),
    });
    host.connectTo({ host: loopback, port: listening.ok ? listening.port : 0 });
    const thread = new ChannelThread(host.forThread(0), newBell());
    thread.append6(6, 0, 1, 1, 0, 0);
    const startMs = quietNow();
    while (calls < 3) {
      ok(quietNow() - startMs < 10_000, "waited in vain");
      thread.urge();
      host.relay();
      await nextTurn();
    }
    equal(thread.stable, 104);
    host.close();
    for (const socket of sockets) socket.destroy();
    door.close();
  });
}
