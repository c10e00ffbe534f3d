import { deepEqual, equal } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { quietNow, timeLimit } from "../../../test/patience.ts";
import { DeterminantKind } from "../../core/ft/determinants/determinant-stream.ts";
import { EventLogger } from "../../core/ft/logging/event-logger.ts";
import { LoggerStreams } from "../../core/ft/logging/logger-streams.ts";
import { StoredStreams } from "../../core/ft/logging/stored-streams.ts";
import { ChannelHost } from "../service-channel/channel-host.ts";
import { ServiceHost } from "../service-channel/service-host.ts";
import { ServiceCode, secretBytes } from "../transport/handshake/handshake.ts";
import { Reception } from "../transport/handshake/reception.ts";
import type { Address } from "../transport/sockets/address.ts";
import { DeterminantWriter } from "./determinant-writer.ts";

const job = { id: "a test", secret: new Uint8Array(randomBytes(secretBytes)) };
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** An event logger in this process. */
class TestLogger {
  readonly core: EventLogger;
  readonly #server: ServiceHost;
  readonly #door: Reception;

  constructor(isSuccessor: boolean) {
    this.core = new EventLogger(new StoredStreams(isSuccessor));
    this.#server = new ServiceHost(() => new LoggerStreams(this.core));
    const received = this.#server.received.bind(this.#server);
    this.#door = new Reception({
      job,
      service: ServiceCode.LOGGER,
      place: { address: "127.0.0.1", port: 0 },
      namesPort: true,
      received,
      dropped() {},
    });
  }

  async listen(): Promise<Address> {
    const listening = await this.#door.listen();
    return { host: "127.0.0.1", port: listening.ok ? listening.port : 0 };
  }

  serve(): void {
    this.#server.serve(0);
  }

  /** As if it were killed. */
  end(): void {
    this.#server.end();
    this.#door.close();
  }
}

async function open(options: { isSuccessor?: boolean; stream?: ChannelHost } = {}) {
  const logger = new TestLogger(options.isSuccessor ?? false);
  const life = { client: 3, incarnation: 1, threads: 1, from: 100, known: Int32Array.of(4, 0, 2, 7) };
  const stream =
    options.stream ?? new ChannelHost({ job, service: ServiceCode.LOGGER, retention: "until-trimmed", ...life });
  stream.connectTo(await logger.listen());
  return { logger, stream };
}

async function until(holds: () => boolean, logger: TestLogger, act: () => void): Promise<void> {
  const startMs = quietNow();
  while (!holds()) {
    equal(quietNow() - startMs < 5000, true, "waited in vain");
    act();
    logger.serve();
    await nextTurn();
  }
}

for (const calls of ["koffi", "wasi"]) {
  describe(`the stream of a set on its way, by ${calls}`, () => {
    const within = (what: string, test: () => Promise<void>) =>
      it(what, timeLimit(20_000), async () => {
        const before = process.env["BANYAN_SOCKET_CALLS"];
        process.env["BANYAN_SOCKET_CALLS"] = calls;
        try {
          await test();
        } finally {
          if (before === undefined) delete process.env["BANYAN_SOCKET_CALLS"];
          else process.env["BANYAN_SOCKET_CALLS"] = before;
        }
      });
    const bell = () => new Int32Array(new SharedArrayBuffer(4));

    within("L1 a rank that waits drives it itself; what nobody waits for the main thread sends", async () => {
      const { logger, stream } = await open();
      const writer = new DeterminantWriter(stream.forThread(0), bell());
      writer.append3(0, DeterminantKind.MATCH, 1, 2, 3);
      equal(writer.born, 110);
      await until(
        () => writer.stable === 110,
        logger,
        () => writer.urge(),
      );
      deepEqual(logger.core.read(3, 104), Int32Array.of(6, 0, DeterminantKind.MATCH, 1, 2, 3));
      writer.append(0, DeterminantKind.CANCELLED, [5]);
      stream.relay();
      await until(
        () => logger.core.end(3) === 114,
        logger,
        () => {},
      );
      stream.close();
      logger.end();
    });

    within(
      "L1 ADR 88: the first choice since a wait leaves at once, and wakes no main thread; those behind it wait for somebody",
      async () => {
        const { logger, stream } = await open();
        const [loud, quiet] = [bell(), bell()];
        const writer = new DeterminantWriter(stream.forThread(0), loud, quiet);
        writer.append3(0, DeterminantKind.MATCH, 0, 0, 0);
        equal(quiet[0], 1, "there is no connection yet: the main thread must see to it");
        await until(
          () => writer.stable === 110,
          logger,
          () => writer.urge(),
        );
        loud[0] = 0;
        quiet[0] = 0;
        writer.append(0, DeterminantKind.CANCELLED, [5]);
        await until(
          () => logger.core.end(3) === 114,
          logger,
          () => {},
        );
        writer.append3(0, DeterminantKind.MATCH, 1, 0, 0);
        writer.append3(0, DeterminantKind.MATCH, 2, 0, 0);
        for (let i = 0; i < 20; i++) {
          logger.serve();
          await nextTurn();
        }
        equal(logger.core.end(3), 114);
        deepEqual([loud[0], quiet[0]], [0, 0]);
        // The node's main thread looks some ten times a second, and whoever waits sends all.
        stream.relay();
        await until(
          () => logger.core.end(3) === 126,
          logger,
          () => {},
        );
        stream.close();
        logger.end();
      },
    );

    within("L1 ADR 88: whoever finds the answer there waits no longer, and does not sleep for it", async () => {
      const { logger, stream } = await open();
      const writer = new DeterminantWriter(stream.forThread(0), bell());
      writer.append3(0, DeterminantKind.MATCH, 0, 0, 0);
      writer.urge();
      equal(writer.takeWaiting(), true);
      await until(
        () => writer.stable === 110,
        logger,
        () => writer.urge(),
      );
      equal(writer.takeWaiting(), false);
      equal(writer.readyFd >= 0, calls === "koffi");
      stream.close();
      logger.end();
    });

    within("L1 more than the ring holds, and more than the socket", async () => {
      const { logger, stream } = await open();
      const writer = new DeterminantWriter(stream.forThread(0), bell());
      for (let i = 0; i < 20_000; i++) {
        writer.append3(0, DeterminantKind.MATCH, i, 0, 0);
        if (i % 1000 === 999) {
          await until(
            () => writer.stable === writer.born,
            logger,
            () => stream.relay(),
          );
        }
      }
      const log = logger.core.read(3, 104);
      equal(log.length, 120_000);
      equal(
        log.every((word, at) => at % 6 !== 3 || word === (at - 3) / 6),
        true,
      );
      stream.close();
      logger.end();
    });

    within("L1 another event logger is told what is kept; acknowledgements do not go back", async () => {
      const first = await open();
      const { stream } = first;
      const writer = new DeterminantWriter(stream.forThread(0), bell());
      for (let i = 0; i < 10; i++) writer.append3(0, DeterminantKind.MATCH, i, 0, 0);
      await until(
        () => writer.stable === 164,
        first.logger,
        () => writer.urge(),
      );
      stream.relay();
      stream.trim(110);
      first.logger.end();
      writer.append3(0, DeterminantKind.MATCH, 10, 0, 0);
      const { logger } = await open({ isSuccessor: true, stream });
      const urge = () => {
        writer.urge();
        stream.relay();
      };
      equal(logger.core.reached(3), null);
      await until(() => writer.stable === 170, logger, urge);
      equal(logger.core.begin(3), 110);
      equal(logger.core.reached(3), 170);
      equal(logger.core.fence(3, 2, 110)?.length, 60);
      writer.append3(0, DeterminantKind.MATCH, 11, 0, 0);
      for (let i = 0; i < 20; i++) {
        urge();
        logger.serve();
        await nextTurn();
      }
      equal(writer.stable, 170, "who is fenced is not answered");
      stream.close();
      logger.end();
    });
  });
}
