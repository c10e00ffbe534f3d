/** Options that protocols add to the command line. */
import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { unreachable } from "../core/base/assert.ts";
import { describeSystemError } from "../core/base/system-error.ts";
import type { OptionForm, OptionValues, ProtocolOption } from "../core/ft/option.ts";
import { protocols } from "../core/ft/registry.ts";
import { CommandError } from "./complain.ts";
import { duration } from "./duration.ts";
import { wholeNumber } from "./whole-number.ts";

/** Several protocols may have the same option. */
const options: readonly ProtocolOption[] = [
  ...new Map(protocols.flatMap((protocol) => protocol.options).map((option) => [option.key, option])).values(),
];

export function addProtocolOptions(command: Command): Command {
  protocolFlags(command);
  for (const { flag, help, form } of options) {
    const option = new Option(flag, help);
    const parse = parserOf(flag.split(" ")[0]!, form);
    command.addOption(parse === null ? option : option.argParser(parse));
  }
  return command;
}

/** Flags that choose a protocol. */
export function protocolFlags(command: Command): Command {
  for (const { name, flag } of protocols) {
    if (flag === undefined) continue;
    const option = new Option(flag, `the same as --protocol ${name}`).implies({ protocol: name });
    command.addOption(option).hook("preAction", () => {
      const given: OptionValues = command.opts();
      if (given[option.attributeName()] !== true || given["protocol"] === name) return;
      const both = `--protocol ${given["protocol"]} and ${flag}`;
      throw new CommandError(`Cannot use ${both} together: ${flag} is short for --protocol ${name}`, 2);
    });
  }
  return command;
}

/** Turns the values of the command line into options of `launch`. */
export function protocolValues(given: OptionValues, ranks: number): OptionValues {
  const values = options.map(({ key, flag, form }) => {
    const text = given[new Option(flag).attributeName()];
    return [key, text === undefined || form.kind !== "words or file" ? text : wordOrFile(text as string, form, ranks)];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** One line for each option, aligned. */
export function protocolsHelp(): string {
  const width = Math.max(...protocols.map(({ name }) => name.length));
  return protocols.map(({ name, help }) => `  ${name.padEnd(width)}  ${help}`).join("\n");
}

export const protocolExamples = (): string =>
  protocols.flatMap(({ examples }) => examples.map((example) => `  ${example}`)).join("\n");

/** Null: the value is the text itself. */
function parserOf(flag: string, form: OptionForm): ((text: string) => unknown) | null {
  switch (form.kind) {
    case "whole number":
      return wholeNumber(flag);
    case "time":
      return (text) => (form.words.includes(text) ? text : duration(flag)(text));
    case "text":
    case "flag":
    case "words or file":
      return null;
    default:
      return unreachable(form);
  }
}

function wordOrFile(text: string, form: Extract<OptionForm, { kind: "words or file" }>, ranks: number): unknown {
  const { what, words, parse } = form;
  if (words.includes(text)) return text;
  let contents: string;
  try {
    contents = readFileSync(text, "utf8");
  } catch (error) {
    const why = describeSystemError(error);
    throw new CommandError(`Cannot read the ${what} from ${text}: ${why}; say ${words.join(", ")} or a file`, 2);
  }
  const value = parse(contents, ranks);
  if (typeof value === "string") throw new CommandError(`Cannot use the ${what} in ${text}: ${value}`, 2);
  return value;
}
