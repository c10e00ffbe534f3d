/**
 * The event logger: an operating-system process of its own, started by the dispatcher, which fences, trims and reads over its
 * channel; nodes send the choices of their ranks over channels (service-channel). It never outlives the dispatcher. What it
 * acknowledges is in its file, with which the process that takes its place goes on (ADR 19).
 */
import { unreachable } from "../../core/base/assert.ts";
import { describeSystemError } from "../../core/base/system-error.ts";
import { EventLogger } from "../../core/ft/logging/event-logger.ts";
import { LoggerStreams } from "../../core/ft/logging/logger-streams.ts";
import { StoredStreams } from "../../core/ft/logging/stored-streams.ts";
import { ServiceProcess } from "../service-channel/service-process.ts";
import { askForShortSlices } from "../service-channel/short-slice.ts";
import { filePieces, StoreFile } from "../service-channel/store-file.ts";
import { ServiceCode } from "../transport/handshake/handshake.ts";
import type { FromLogger, LoggerSetup, ToLogger } from "./messages.ts";

/** Of a part of a log that is said to the dispatcher. */
const partWordsMax = 1 << 16;

/** Messages that the system has not taken yet: the event loop must have its turns until it has. */
let unsaid = 0;

function send(message: FromLogger): void {
  unsaid++;
  process.send?.(message, undefined, undefined, () => {
    unsaid--;
  });
}

function sendLog(log: Int32Array | null): void {
  const whole = log?.length ?? 0;
  for (let at = 0; at === 0 || at < whole; at += partWordsMax) {
    const end = at + partWordsMax;
    send({ kind: "fenced", log: log?.subarray(at, end) ?? null, isLast: end >= whole });
  }
}

/** The streams of the event logger before, as far as they can be had, or new ones. */
function openStreams({ file, inherits, isForDisk }: LoggerSetup): StoredStreams {
  const store = new StoreFile(file, {
    gaveUp: (why) => send({ kind: "store-trouble", could: "not-write", why }),
    isForDisk,
  });
  if (inherits !== "file") return new StoredStreams(inherits === "nodes", { store });
  const streams = readStreams(file, store, isForDisk);
  if (typeof streams !== "string") return streams;
  send({ kind: "store-trouble", could: "not-read", why: streams });
  return new StoredStreams(true, { store });
}

function readStreams(file: string, store: StoreFile, isForDisk: boolean): StoredStreams | string {
  try {
    return StoredStreams.restored(filePieces(file), { store, mayEndDamaged: isForDisk });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "it is gone" : describeSystemError(error);
  }
}

class Logger {
  readonly #core: EventLogger;

  constructor(setup: LoggerSetup) {
    const { job, host } = setup;
    this.#core = new EventLogger(openStreams(setup));
    new ServiceProcess({
      job,
      service: ServiceCode.LOGGER,
      host,
      newUser: () => new LoggerStreams(this.#core),
      isSaying: () => unsaid > 0,
      listens: (outcome) =>
        send(outcome.ok ? { kind: "ready", port: outcome.port } : { kind: "unable", why: outcome.reason }),
    });
  }

  handle(message: ToLogger): void {
    switch (message.kind) {
      case "setup":
        throw new Error("Banyan is wrong here: an event logger is set up once. Please report it.");
      case "fence":
        sendLog(this.#core.fence(message.set, message.incarnation, message.from));
        break;
      case "trim":
        this.#core.trim(message.set, message.below);
        break;
      case "ask-end":
        send({ kind: "end-is", position: this.#core.reached(message.set) });
        break;
      case "ask-life":
        send({ kind: "lives" });
        break;
      default:
        unreachable(message);
    }
  }
}

// It may be in reserve for one that is lost.
process.title = "banyan-logger spare";
askForShortSlices();
let logger: Logger | undefined;
process.on("disconnect", () => process.exit(0));
process.on("message", (message: ToLogger) => {
  if (logger !== undefined) logger.handle(message);
  else if (message.kind === "setup") {
    process.title = "banyan-logger";
    logger = new Logger(message);
  }
});
