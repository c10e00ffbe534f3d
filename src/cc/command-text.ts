/** The commands of a build as text: for `-v`, `-###` and mpicc's `-show`. */
import type { Build } from "./command-line.ts";
import { compileFlags } from "./compile-step.ts";
import { linkWords } from "./link-step.ts";
import { outputOf } from "./output.ts";
import { driverName } from "./requests.ts";
import type { Workshop } from "./workshop.ts";

type Surroundings = Pick<Workshop, "installation" | "terminal">;

/** One line for each source, then the link. */
export function commandLines(build: Build, surroundings: Surroundings): string[] {
  const { stage, inputs, output } = build;
  const stages = {
    dependencies: "-M",
    preprocess: "-E",
    syntax: "-fsyntax-only",
    assembly: "-S",
    object: "-c",
    link: "-c",
  };
  const command = `${driverName(build.driver)} --target=wasm32-wasip1 ${compileText(build, surroundings)} ${stages[stage]}`;
  const sources = inputs.filter((input) => input.kind === "source");
  const lines = sources.length === 0 ? [command] : sources.map(({ path }) => `${command} ${path}`);
  return stage === "link" ? [...lines, `wasm-ld ${linkText(build)} -o ${output ?? "a.out"}`] : lines;
}

/** The flags for clang alone. */
export function compileText(build: Build, { installation, terminal }: Surroundings): string {
  return compileFlags({ ...build, verbose: false }, installation.include, terminal).join(" ");
}

/** The words for the linker alone. */
export function linkText(build: Build): string {
  const inputs = build.inputs.map((input) => {
    if (input.kind === "source") return outputOf({ ...build, output: undefined }, input.path) ?? "-";
    if (input.kind === "library") return `-l${input.name}`;
    return input.kind === "file" ? input.path : input.word;
  });
  return linkWords(build, { inputs, support: ["libbanyan.a"], longDouble: false, lines: false }).join(" ");
}
