/** `banyan move`: ranks of a running job go on elsewhere. */
import { Command } from "commander";
import type { MoveOrder } from "../real/job/recovery/job-moves.ts";
import { CommandError } from "./complain.ts";
import type { CreateCommand } from "./create-command.ts";
import { askJob, moveQuestion } from "./job-door.ts";
import { wholeNumber } from "./whole-number.ts";

interface MoveOptions {
  readonly drain?: number;
  readonly rank?: number;
  readonly replica?: number;
  readonly from?: number;
  readonly node?: number;
}

export const moveCommand: CreateCommand = (finished) =>
  new Command("move")
    .description(
      "Have ranks go on elsewhere, before their machine goes. In a replicated job with --sustain a replica is copied to its new place while it runs, and leaves the old one when it is there; those beside it stay as they are. Under a protocol that takes checkpoints ranks begin again elsewhere from one that is taken first, a rank alone if you like, and other nodes go on; under protocols that keep nothing of the lost all ranks stop, and go on in new processes, a rank alone if you like (programs in C). SIGTERM to a node does the same as --drain.",
    )
    .argument("<job>", "process of its `banyan run`, as `banyan ps` shows it")
    .option("--drain <node>", "all ranks of that node, which goes then", wholeNumber("--drain"))
    .option("--rank <rank>", "that rank", wholeNumber("--rank"))
    .option(
      "--replica <number>",
      "that replica of the rank; unless given, the last that lives",
      wholeNumber("--replica"),
    )
    .option("--from <node>", "the replica of the rank that is on that node", wholeNumber("--from"))
    .option(
      "--node <node>",
      "where to: any node, or the next number for one that is started. Nodes in reserve are counted behind the others: with --nodes 4 --spares 2 they are 4 and 5. Unless given, the next in reserve, or one that is started",
      wholeNumber("--node"),
    )
    .helpOption("-h, --help", "print this help")
    .action(async (job: string, options: MoveOptions) => {
      const order = orderOf(options);
      const pid = /^\d+$/.test(job) ? Number(job) : Number.NaN;
      const answer = Number.isNaN(pid) ? undefined : await askJob(pid, moveQuestion(order));
      if (answer === undefined)
        throw new CommandError(`Cannot find job ${job}: banyan ps lists the jobs that are running`, 1);
      if (answer.obstacle !== "") throw new CommandError(`Cannot ${what(order)}: ${answer.obstacle}`, 1);
      finished(0);
    });

function orderOf({ drain, rank, replica, from, node }: MoveOptions): MoveOrder {
  const onto = node ?? null;
  if (drain !== undefined && rank === undefined && replica === undefined && from === undefined)
    return { moved: { kind: "node", node: drain }, onto };
  if (rank !== undefined && drain === undefined)
    return { moved: { kind: "rank", rank, replica: replica ?? null, from: from ?? null }, onto };
  throw new CommandError(
    "Cannot move: give either --drain NODE, or --rank RANK and perhaps --replica NUMBER or --from NODE",
    2,
  );
}

function what({ moved }: MoveOrder): string {
  if (moved.kind === "node") return `drain node ${moved.node}`;
  return `move ${moved.replica === null ? "" : `replica ${moved.replica} of `}rank ${moved.rank}`;
}
