/** Ends a thread of ranks, when it does nothing that must not be cut off (`machine/undisturbed.ts`). */
import type { Worker } from "node:worker_threads";
import { whenUndisturbing } from "../machine/undisturbed.ts";

export async function terminateThread(worker: Worker, undisturbed: SharedArrayBuffer): Promise<void> {
  // A thread that has ended by itself does no work any more, whatever its words say.
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  await Promise.race([whenUndisturbing(undisturbed), ended]);
  await worker.terminate();
}
