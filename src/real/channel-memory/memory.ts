/**
 * A channel memory: an operating-system process of its own, started by the dispatcher; ranks speak to it over channels (service-channel).
 * It never outlives the dispatcher. What it acknowledges is in its files, with which the process that takes its place goes on (ADR 46).
 */
import { assert, unreachable } from "../../core/base/assert.ts";
import { describeSystemError, isFull } from "../../core/base/system-error.ts";
import { memoryLimitsDefault, memoryOf, unsaidWordsMax } from "../../core/ft/channel-memory/limits.ts";
import { ChannelMemory } from "../../core/ft/channel-memory/memory/channel-memory.ts";
import { NotedRanks } from "../../core/ft/channel-memory/memory/noted-ranks.ts";
import { StoredHomes } from "../../core/ft/channel-memory/memory/stored-homes.ts";
import { ServiceProcess } from "../service-channel/service-process.ts";
import { askForShortSlices } from "../service-channel/short-slice.ts";
import { ServiceCode } from "../transport/handshake/handshake.ts";
import type { FromMemoryProcess, MemorySetup, ToMemoryProcess } from "./messages.ts";
import { SegmentFiles } from "./segment-files.ts";
import { newVectorChecksum } from "./vector-checksum.ts";

/** Bytes of messages that are in memory; older ones are read from the files. */
const bytesMax = 64 << 20;
/** The same of messages and events, of some hundred bytes each. */
const itemsMax = 1 << 14;
const segmentWordsMax = 1 << 22;
/** Words on their way to one rank. */
const outgoingWordsMax = 1 << 18;

/** A message comes soon after another: so often it is looked for, and the core given away between, before the process sleeps. (See `yieldsBeforeService`.) */
const looksBeforeSleep = 50;
/** How often those who have news are moved, until sockets are looked at again. */
const roundsMax = 16;

const send = (message: FromMemoryProcess): void => void process.send?.(message, undefined, undefined, () => {});

/** Those of the process before, or new ones. */
function openHomes({ folder, isForDisk }: MemorySetup): StoredHomes {
  const store = new SegmentFiles(folder, isForDisk);
  const written = store.written();
  const checksum = newVectorChecksum();
  const options = { store, bytesMax, itemsMax, segmentWordsMax, mayEndDamaged: isForDisk, checksum };
  const homes = written.length === 0 ? StoredHomes.empty(options) : StoredHomes.restored(written, options);
  if (typeof homes === "string") throw new Error(`${folder}: ${homes}`);
  return homes;
}

function open(setup: MemorySetup): ChannelMemory {
  const { job, host, memory, memories, ranks } = setup;
  const homes = openHomes(setup);
  const isHome = (rank: number): boolean => memoryOf(rank, memories) === memory;
  const options = { ranks, limits: memoryLimitsDefault, outgoingWordsMax, unsaidWordsMax, isHome };
  const wanted = new NotedRanks();
  let move: (client: number) => void = () => {};
  let core: ChannelMemory | undefined;
  new ServiceProcess({
    job,
    service: ServiceCode.MEMORY,
    host,
    looksBeforeSleep,
    newUser: (moveNow) => {
      move = moveNow;
      core = new ChannelMemory(options, homes, (client) => void wanted.add(client));
      return core;
    },
    served: () => moveAll(wanted, move),
    listens: (outcome) =>
      send(outcome.ok ? { kind: "ready", port: outcome.port } : { kind: "unable", why: outcome.reason }),
  });
  assert(core !== undefined, "a service process makes its service at once");
  return core;
}

/**
 * One after the other, and not inside each other's words: a client that is moved may have something for the next, and so on without end
 * where many of them send much. What is left then waits for the words that surely come.
 */
function moveAll(wanted: NotedRanks, move: (client: number) => void): void {
  for (let round = 0; round < roundsMax && !wanted.isEmpty; round++) wanted.visit(move);
}

/** How long a process that found no room on the disk waits until another tries: the dispatcher has patience with a number of them. */
const fullMs = 300;

/**
 * A file that cannot be read or written: another process would meet the same, and the dispatcher ends this one. But for a disk that is full: there
 * may be room soon. What was not written was not acknowledged, and this process does not know any more what was.
 */
process.on("uncaughtException", (error) => {
  if (isFull(error)) {
    send({ kind: "full" });
    setTimeout(() => process.exit(1), fullMs);
    return;
  }
  const isOfSystem = "code" in error && "syscall" in error;
  send({ kind: "unable", why: isOfSystem ? describeSystemError(error) : String(error.stack) });
});

process.title = "banyan memory";
askForShortSlices();
let core: ChannelMemory | undefined;
process.on("disconnect", () => process.exit(0));
process.on("message", (message: ToMemoryProcess) => {
  switch (message.kind) {
    case "setup":
      process.title = `banyan memory ${message.memory}`;
      core = open(message);
      break;
    case "ask-life": {
      const { messages, bytes } = core?.load ?? { messages: 0, bytes: 0 };
      send({ kind: "lives", amounts: { messages, bytes } });
      break;
    }
    default:
      unreachable(message);
  }
});
