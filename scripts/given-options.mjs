// The options of a script: an unknown one, or one without its value, is said in a line.
import { basename } from "node:path";
import { parseArgs } from "node:util";

export function givenOptions(config) {
  try {
    return parseArgs(config);
  } catch (error) {
    const known = Object.keys(config.options).map((name) => `--${name}`);
    return refuse(`${error.message.split(". ")[0]}; options are ${known.join(", ")}`);
  }
}

export function refuse(what) {
  console.error(`${basename(process.argv[1])}: ${what}`);
  process.exit(2);
}
