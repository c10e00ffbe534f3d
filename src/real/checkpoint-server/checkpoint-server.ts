/** The process of a checkpoint server: `checkpoint-server.cjs <number> <folder> <socket>`. It ends with whoever started it. */
import { verifyImages } from "../image/verify-images.ts";
import { CheckpointHost } from "./host.ts";
import type { FromCheckpointServer, ToCheckpointServer } from "./messages.ts";

const [number, folder, socketPath] = process.argv.slice(2) as [string, string, string];
process.title = `banyan-checkpoint-server ${number}`;
process.on("disconnect", () => process.exit(0));

const host = new CheckpointHost({ folder, socketPath, verify: (path) => verifyImages([path]) });
process.on("message", ({ set, number: checkpoint }: ToCheckpointServer) => host.drop(set, checkpoint));

const say = (message: FromCheckpointServer): void => void process.send?.(message);
host.listen().then(
  () => say({ problem: "" }),
  (error: Error) => say({ problem: error.message }),
);
