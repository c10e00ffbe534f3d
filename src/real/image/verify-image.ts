/** Reads an image back, in a thread of its own: the dispatcher's own does nothing long. */
import { join } from "node:path";
import { Worker } from "node:worker_threads";

/** What is wrong with it; empty: nothing. */
export function verifyImage(path: string): Promise<string> {
  return new Promise((resolve) => {
    const worker = new Worker(join(__dirname, "verify-thread.cjs"), { workerData: path });
    worker.on("message", resolve);
    worker.on("error", (error: Error) => resolve(error.message));
    worker.on("exit", () => resolve(`Cannot read image ${path}: the thread that should is gone`));
  });
}
