/** The process of a checkpoint server: `checkpoint-server.cjs <number> <folder> <socket>`. It ends with whoever started it. */
import { unreachable } from "../../core/base/assert.ts";
import { CheckpointHost } from "../file-service/host.ts";
import { verifyImages } from "../image/verify-images.ts";
import type { Job } from "../transport/handshake/handshake.ts";
import type { FromCheckpointServer, ToCheckpointServer } from "./messages.ts";

const [number, folder, socketPath] = process.argv.slice(2) as [string, string, string];
process.title = `banyan-checkpoint-server ${number}`;
process.on("disconnect", () => process.exit(0));

const say = (message: FromCheckpointServer): void => void process.send?.(message);

function open(job: Job): CheckpointHost {
  const host = new CheckpointHost({ job, folder, socketPath, verify: (path) => verifyImages([path]) });
  void host.listen().then((problem) => say({ problem }));
  return host;
}

let host: CheckpointHost | undefined;
process.on("message", (message: ToCheckpointServer) => {
  switch (message.kind) {
    case "setup":
      host = open(message.job);
      break;
    case "drop":
      host?.drop(message.set, message.number);
      break;
    default:
      unreachable(message);
  }
});
