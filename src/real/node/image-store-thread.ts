/** The thread of `ImageStore` that sends images. */
import { rmSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { storeFileFrom } from "../file-service/client.ts";
import { partOf } from "../image/part-file.ts";
import type { SendOrder } from "./image-store.ts";

async function problemOf({ path, service, file }: SendOrder): Promise<string> {
  const part = partOf(path);
  const problem = await storeFileFrom(service, file, part);
  rmSync(part, { force: true });
  return problem;
}

// One after the other, and answered in the order of the orders.
let last: Promise<void> = Promise.resolve();
parentPort!.on("message", (order: SendOrder) => {
  last = last.then(async () => parentPort!.postMessage(await problemOf(order)));
});
