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
  readonly node?: number;
}

export const moveCommand: CreateCommand = (finished) =>
  new Command("move")
    .description(
      "Have ranks go on elsewhere, before their machine goes. In a job with --sustain and --spares a node in reserve takes the place of the node, and clones of other replicas theirs; under a protocol that takes checkpoints they begin again elsewhere from one that is taken first, a rank alone if you like, and other nodes go on; under protocols that keep nothing of the lost all ranks stop, and go on in new processes, a rank alone if you like (programs in C). SIGTERM to a node does the same as --drain.",
    )
    .argument("<job>", "process of its `banyan run`, as `banyan ps` shows it")
    .option("--drain <node>", "the node", wholeNumber("--drain"))
    .option("--rank <rank>", "that rank; where clones take the place of the lost, its node", wholeNumber("--rank"))
    .option("--replica <number>", "of that replica of the rank; unless given, of the last", wholeNumber("--replica"))
    .option(
      "--node <node>",
      "where to: any node, or the next number for one that is started; where clones take the place of the lost a node in reserve, which are counted behind the others: with --nodes 4 --spares 2 they are 4 and 5. Unless given, one that is started, or the next in reserve",
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

function orderOf({ drain, rank, replica, node }: MoveOptions): MoveOrder {
  const onto = node ?? null;
  if (drain !== undefined && rank === undefined && replica === undefined)
    return { moved: { kind: "node", node: drain }, onto };
  if (rank !== undefined && drain === undefined)
    return { moved: { kind: "rank", rank, replica: replica ?? null }, onto };
  throw new CommandError("Cannot move: give either --drain NODE, or --rank RANK and perhaps --replica NUMBER", 2);
}

function what({ moved }: MoveOrder): string {
  if (moved.kind === "node") return `drain node ${moved.node}`;
  return `move ${moved.replica === null ? "" : `replica ${moved.replica} of `}rank ${moved.rank}`;
}
