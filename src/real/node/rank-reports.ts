/** What a rank's thread says, and its end: told to the dispatcher, the connections and the memory of the node. */
import type { RankImage } from "../messages/rank-messages.ts";
import { type AgentParts, lifeText } from "./agent-parts.ts";
import type { RankEvents } from "./rank-threads.ts";

export function rankEvents(node: AgentParts, rank: number): RankEvents {
  const incarnation = node.incarnationOf(rank);
  return {
    said: (message) => {
      switch (message.kind) {
        case "runs":
          if (message.marks !== null) node.clones?.runs(rank, message.marks);
          node.send({ kind: "rank-started", rank, incarnation });
          break;
        case "captured": {
          relayEverything(node);
          node.send({ kind: "from-rank", rank, message });
          node.images!.store(rank, message.number, (problem) =>
            node.send({ kind: "from-rank", rank, message: { ...message, kind: "image", problem } }),
          );
          break;
        }
        case "last-look":
          node.clones!.look(rank, message);
          break;
        case "last-part": {
          const { kind: _, ...part } = message;
          relayEverything(node);
          node.clones!.finish(rank, part);
          break;
        }
        case "image":
          handOver(node, rank, message);
          break;
        case "done":
          relayEverything(node);
          node.send({ kind: "from-rank", rank, message });
          break;
        case "stands-still":
        case "checkpoint-wanted":
        case "protocol":
        case "report":
        case "unfinalized":
        case "caught-up":
        case "image-unreadable":
        case "leads-out":
        case "abort":
        case "result":
        case "spawn":
        case "input-wanted":
        case "stopped":
          node.send({ kind: "from-rank", rank, message });
          break;
        default:
          node.tcp?.handle(message);
      }
    },
    ended: (ending) => {
      node.relay.relay();
      if (node.released.delete(lifeText(rank, incarnation))) {
        node.memory.died(rank);
        if (!node.memory.has(rank)) node.tcp?.rankDied(rank);
        return;
      }
      if (ending.kind === "returned" || ending.kind === "finalized" || ending.kind === "frozen") {
        node.memory.finished(rank);
        node.tcp?.rankFinished(rank);
      } else {
        node.memory.died(rank);
        node.tcp?.rankDied(rank);
      }
      node.send({ kind: "rank-ended", rank, incarnation, ending });
    },
  };
}

/** An image of a job that is being frozen (0), of a world of replicas, or of a checkpoint that could not be written. */
function handOver(node: AgentParts, rank: number, message: RankImage): void {
  relayEverything(node);
  const stored = (problem: string): void => node.send({ kind: "from-rank", rank, message: { ...message, problem } });
  if (message.problem !== "" || (message.number > 0 && node.images !== null)) stored(message.problem);
  else void node.files.deliverFrozen(node.setup.freezeTo, rank).then(stored);
}

/**
 * What a rank had printed is the dispatcher's before its image is: an image claims nothing that only it knows. The same for
 * what it has chosen: a restart reads the stream from where it was at the image. And for its end, which may be that of the job.
 */
function relayEverything(node: AgentParts): void {
  node.part?.relay();
  node.relay.relayAll();
}
