/**
 * fast-check with one seed for all property tests: a test that passed once passes again, and a failure prints how to repeat it.
 * `BANYAN_SEED=<number>` tries another seed, `BANYAN_SEED=random` a new one each time.
 */
import fc, { type RunDetails } from "fast-check";

const seedUsual = 20_261;

fc.configureGlobal({ ...seedFrom(process.env["BANYAN_SEED"]), reporter: report });

export default fc;

/** The seed as an option of fast-check, which draws one where the option is absent. */
export function seedFrom(text: string | undefined): { readonly seed?: number } {
  if (text === undefined || text === "") return { seed: seedUsual };
  if (text === "random") return {};
  const seed = Number(text);
  if (!Number.isSafeInteger(seed)) throw new Error(`Cannot use BANYAN_SEED="${text}": give a whole number, or random`);
  return { seed };
}

function report<Values>(run: RunDetails<Values>): void {
  if (!run.failed) return;
  const again = `See it again with BANYAN_SEED=${run.seed} npm test -- <file>`;
  throw new Error(`${fc.defaultReportMessage(run) ?? "a property failed"}\n${again}`, { cause: run.errorInstance });
}
