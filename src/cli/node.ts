/** `banyan node`: this machine offers itself to a job that runs elsewhere. */
import { Command } from "commander";
import { relayedNames } from "../core/ft/protocol-named.ts";
import { Volunteering } from "../real/job/nodes/volunteering.ts";
import { addressGiven } from "./address-given.ts";
import { CommandError, complain } from "./complain.ts";
import type { CreateCommand } from "./create-command.ts";
import { endWithParent } from "./parent-watch.ts";

interface NodeOptions {
  readonly join: string;
  readonly secretFile: string;
  readonly quiet?: true;
}

export const nodeCommand: CreateCommand = (finished) =>
  new Command("node")
    .description(
      "Offer this machine to a job as a node. The job must have been started with --listen or --join-only, and says where nodes can join and where its secret is.",
    )
    .requiredOption("--join <address:port>", "where the job listens for nodes")
    .requiredOption("--secret-file <file>", "the file that the job has written, or a copy that no other user can read")
    .option("-q, --quiet", "say nothing but what goes wrong")
    .helpOption("-h, --help", "print this help")
    .addHelpText(
      "after",
      `
Under --protocol ${relayedNames.join(" and ")} the node opens connections and accepts none: a machine behind a firewall can be one. It needs the same version of Banyan, and nothing else of the job: program and checkpoints come over its connection.

It gets the ranks of a node that is missing, at once or when one is lost. When the job gives it up (it was stopped, or could not be reached)
and it comes back, it joins again as a new node. Ctrl-C, or SIGTERM: its ranks go elsewhere, then it ends; once more ends it at once.

Example:
  banyan run -n 8 --nodes 4 --protocol ${relayedNames[0]} --listen 10.0.0.1:4000 --join-only --secret-file secret solver.c
  scp secret worker: && ssh worker banyan node --join 10.0.0.1:4000 --secret-file secret`,
    )
    .action(async ({ join, secretFile, quiet }: NodeOptions) => {
      const { address: host, port } = addressGiven(join, "--join");
      if (port === undefined)
        throw new CommandError(`Cannot join "${join}": say where the job listens, as address:port`, 2);
      const node = begun(() => new Volunteering({ host, port, secretFile, isQuiet: quiet === true, say: complain }));
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => node.leave());
      process.on("SIGTSTP", () => {
        node.suspend();
        process.kill(process.pid, "SIGSTOP");
      });
      process.on("SIGCONT", () => node.goOn());
      const stopWatching = endWithParent(() => node.leave());
      const code = await node.done;
      stopWatching();
      finished(code);
    });

function begun(begin: () => Volunteering): Volunteering {
  try {
    return begin();
  } catch (error) {
    throw new CommandError((error as Error).message, 2);
  }
}
