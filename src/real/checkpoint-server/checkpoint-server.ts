/**
 * The process of a checkpoint server: `checkpoint-server.cjs <number> <folder>`. It takes images as they are being made, reads each back
 * before it confirms it, and gives images to nodes that restart ranks. Which images count is decided elsewhere
 * (core/service/checkpoint-server.ts). The process ends with the dispatcher, its parent.
 */
import { rmSync } from "node:fs";
import { unreachable } from "../../core/base/assert.ts";
import { type FileRequest, folderOfCheckpoint } from "../file-service/file-key.ts";
import { FileHost } from "../file-service/host.ts";
import { imagePath } from "../image/image-path.ts";
import { verifyImages } from "../image/verify-images.ts";
import { ServiceCode } from "../transport/handshake/handshake.ts";
import { Reception } from "../transport/handshake/reception.ts";
import type { CheckpointServerSetup, FromCheckpointServer, ToCheckpointServer } from "./messages.ts";

const [number, folder] = process.argv.slice(2) as [string, string];
process.title = `banyan-checkpoint-server ${number}`;
process.on("disconnect", () => process.exit(0));

const say = (message: FromCheckpointServer): void => void process.send?.(message);

function placeOf({ want, file }: FileRequest): string | null {
  if (file.kind !== "checkpoint" || want === "append") return null;
  return imagePath(folderOfCheckpoint(folder, file.set, file.number), file.rank);
}

async function open({ job, host: address }: CheckpointServerSetup): Promise<void> {
  const host = new FileHost({ placeOf, verify: (_, path) => verifyImages([path]) });
  const door = new Reception({
    job,
    service: ServiceCode.FILES,
    place: { address, port: 0 },
    received: (guest) => void host.serve(guest),
    dropped() {},
  });
  const listening = await door.listen();
  say(listening.ok ? { kind: "listens", port: listening.port } : { kind: "unable", why: listening.reason });
}

process.on("message", (message: ToCheckpointServer) => {
  switch (message.kind) {
    case "setup":
      void open(message);
      break;
    case "drop":
      rmSync(folderOfCheckpoint(folder, message.set, message.number), { recursive: true, force: true });
      break;
    default:
      unreachable(message);
  }
});
