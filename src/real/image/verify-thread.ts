/** The thread of `verifyImage`: reads all of an image into a memory that nobody uses, checking every checksum. */
import { parentPort, workerData } from "node:worker_threads";
import { ImageError } from "../../image/image-error.ts";
import { readImage, readImageHeader } from "../image/read-image.ts";

const pageBytes = 65536;

function problemOf(path: string): string {
  try {
    const pages = readImageHeader(path).memoryBytes / pageBytes;
    readImage(path, new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }));
    return "";
  } catch (error) {
    if (error instanceof ImageError) return error.message;
    throw error;
  }
}

parentPort!.postMessage(problemOf(workerData as string));
