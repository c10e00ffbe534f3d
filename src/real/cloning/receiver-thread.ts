/**
 * The thread that fills the memory of a clone: it waits until it is told which one (`WaitingThreads`), calls the node of the source, and pages go to their places as
 * they come.
 */
import { parentPort } from "node:worker_threads";
import { assert } from "../../core/base/assert.ts";
import { ImageError } from "../../image/image-error.ts";
import { ArrivingMemory } from "../../image/travelling/arriving-memory.ts";
import { setFlagsFor } from "../../v8/flags.ts";
import { ThreadPriority } from "../machine/thread-priority.ts";
import { call } from "../transport/handshake/call.ts";
import { CallVerdict, ServiceCode } from "../transport/handshake/handshake.ts";
import { lanesMax, patienceMs } from "./lanes.ts";
import type { FromReceiver, ReceiverSetup } from "./messages.ts";

assert(parentPort !== null, "clone-receiver.cjs runs as a worker thread");
const port = parentPort;

/** Given where nothing is wanted any more: a reader must name a place. */
const nowhere = new Uint8Array(1);

const priority = new ThreadPriority();

port.on("message", ({ clone, index, memory, job, from }: ReceiverSetup) => {
  // Pages are looked at from the first one on: what does it is to be fast from there on. Not before there is work: the program's own code comes first.
  setFlagsFor("run C programs");
  priority.giveWay();
  const impatient = setTimeout(() => priority.takeBack(), patienceMs(memory.buffer.byteLength / lanesMax));
  let isOver = false;
  /** Hashes that have not left: those of all pages that have come together leave together. */
  let answers: Uint8Array[] = [];

  const arriving = new ArrivingMemory(memory, (hashes) => {
    if (answers.length === 0) setImmediate(answer);
    answers.push(hashes);
  });

  function answer(): void {
    const all = Buffer.concat(answers);
    answers = [];
    if (!isOver) socket.write(all);
  }

  function end(message: FromReceiver): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(impatient);
    priority.takeBack();
    port.postMessage(message);
    socket.destroy();
  }

  const fail = (problem: string): void => end({ kind: "failed", problem });

  /** False: the memory is complete, or no good. */
  function took(bytes: number): boolean {
    try {
      arriving.took(bytes);
      if (arriving.wanted !== null) return true;
      end({ kind: "arrived", ...arriving.contents, bytes: arriving.bytes });
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      fail(error.message);
    }
    return false;
  }

  const { source, number } = clone;
  const hello = { service: ServiceCode.CLONE, from: source, to: index, incarnation: 0, wanted: number, generation: 1 };
  const reader = { place: () => (isOver ? nowhere : (arriving.wanted ?? nowhere)), took };
  const socket = call({ ...from, job, hello, reader }, (welcome, reason) => {
    if (welcome?.verdict !== CallVerdict.WELCOME) fail(`the node of its source cannot be reached: ${reason}`);
  });
  socket.on("end", () => fail("the node of its source is gone"));
  socket.on("close", () => fail("the node of its source is gone"));
});
