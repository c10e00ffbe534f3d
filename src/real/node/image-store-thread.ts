/** The thread of `ImageStore`. */
import { parentPort } from "node:worker_threads";
import { ImageError } from "../../image/image-error.ts";
import { writeImageNow } from "../image/write-image.ts";
import type { ImageToStore } from "./image-store.ts";

function problemOf({ path, ...contents }: ImageToStore): string {
  try {
    writeImageNow(path, contents);
    return "";
  } catch (error) {
    if (error instanceof ImageError) return error.message;
    throw error;
  }
}

parentPort!.on("message", (image: ImageToStore) => parentPort!.postMessage(problemOf(image)));
