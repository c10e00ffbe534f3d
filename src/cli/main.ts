/** `banyan`: finds the command, which is loaded only then, and runs it. */
import { Command, CommanderError } from "commander";
import { commands } from "./commands.ts";
import { CommandError, complain } from "./complain.ts";

async function main(): Promise<number> {
  const program = new Command("banyan")
    .description("Runs MPI programs as threads of Node.js, on nodes that may fail.")
    .version(__BANYAN_VERSION__, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .showSuggestionAfterError()
    .enablePositionalOptions();
  let code = 0;
  const wanted = process.argv.slice(2).filter((word) => !word.startsWith("-"));
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const isWanted = name === wanted[0] || (wanted[0] === "help" && name === wanted[1]);
    const finished = (result: number): void => {
      code = result;
    };
    program.addCommand(isWanted ? (await load())(finished) : new Command(name).description(summary));
  }
  program.addHelpText("after", "\nExample:\n  banyan run -n 4 --nodes 2 examples/pi.ts");
  for (const command of [program, ...program.commands]) {
    // Commander would write a mistake in several lines; ours are one, written below.
    command.exitOverride().configureOutput({ outputError: () => {} });
  }
  try {
    await program.parseAsync(process.argv);
    return code;
  } catch (error) {
    return explain(error, program);
  }
}

/** The exit code for what stopped the command before it began; 2 stands for a mistake in how it was called. */
function explain(error: unknown, program: Command): number {
  if (error instanceof CommandError) {
    complain(error.message);
    return error.exitCode;
  }
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode === 0) return 0;
  if (error.code === "commander.help") return program.args.length === 0 ? 2 : 0;
  const name = ["banyan", ...process.argv.slice(2, 3).filter((word) => Object.hasOwn(commands, word))].join(" ");
  const what = error.message
    .replace(/^error: /, "")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" ");
  complain(`Cannot understand the command: ${what}; see ${name} --help`);
  return 2;
}

void main().then((code) => {
  // Whatever is still open (standard input, mostly) must not keep the command.
  process.stderr.write("", () => process.exit(code));
});
