/** The report on a seed that failed: the violations, and the one command that runs it again. */
import type { SeedOutcome } from "./judge.ts";

/** What the command says of a run. */
export interface RunOptions {
  readonly seed: number;
  readonly ranks?: number | undefined;
  readonly events?: number | undefined;
  readonly protocol?: string | undefined;
  readonly sets?: string | undefined;
  readonly nodes?: number | undefined;
  readonly faults?: string | undefined;
  readonly often?: readonly string[] | undefined;
  readonly keepSuspects?: boolean | undefined;
  readonly moves?: boolean | undefined;
}

/** The first ones usually explain the rest. */
const violationsShownMax = 10;

export function failureText(
  { seed, ...options }: RunOptions,
  { violations, ranks }: Pick<SeedOutcome, "violations" | "ranks">,
): string {
  const lines = violations.slice(0, violationsShownMax).map(({ invariant, what }) => `  ${invariant}: ${what}`);
  if (violations.length > lines.length) lines.push(`  and ${violations.length - lines.length} more`);
  const again = ["npx banyan sim", `--seed ${seed}`];
  for (const name of ["ranks", "nodes", "events", "protocol", "sets"] as const) {
    if (options[name] !== undefined) again.push(`--${name} ${options[name]}`);
  }
  if (options.keepSuspects === true) again.push("--keep-suspects");
  if (options.moves === true) again.push("--moves");
  for (const family of options.often ?? []) again.push(`--often ${JSON.stringify(family)}`);
  if (options.faults !== undefined) again.push(`--faults ${JSON.stringify(options.faults)}`);
  return [`seed ${seed} failed, ${ranks} ranks. To run it again: ${again.join(" ")}`, ...lines].join("\n");
}
