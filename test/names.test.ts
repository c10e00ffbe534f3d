import { deepEqual } from "node:assert/strict";
import { describe, it } from "node:test";
import { codeOf, type SourceFile, sourceFiles } from "./source-files.ts";

/** Names that two files may declare, with the reason. */
const allowed: Readonly<Record<string, string>> = {
  Communicator: "MPI's word: the object of the TypeScript API, and the communicator of the core that it holds",
  Group: "MPI's word: the object of the TypeScript API, and the group of the core that it holds",
  Info: "MPI's word: the object of the TypeScript API, which is one of the core that throws the program's errors",
  launch: "the package's entry loads the one of real/job when it is called first",
  resume: "the package's entry loads the one of real/job when it is called first",
  thaw: "the package's entry loads the one of real/job when it is called first",
};

const exported =
  /^export (?:declare |abstract |async )*(?:class|interface|type|enum|const|let|function\*?) ([A-Za-z_$][\w$]*)/gm;

/** Each name with the files that export it as their own; to export a value and its type under one name is to declare it once. */
function declarationsIn(files: readonly SourceFile[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const name of new Set([...codeOf(text).matchAll(exported)].map((match) => match[1]!))) {
      found.set(name, [...(found.get(name) ?? []), `src/${path}`]);
    }
  }
  return found;
}

function doublesIn(files: readonly SourceFile[]): string[] {
  return [...declarationsIn(files)]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(", ")}`);
}

const sources = sourceFiles();

describe("one name means one thing", () => {
  it("no two files of src export the same name, but for those that are allowed", () => {
    const doubles = doublesIn(sources).filter((line) => !Object.hasOwn(allowed, line.split(":")[0]!));
    deepEqual(doubles, []);
  });

  it("a name that is allowed is declared twice still", () => {
    const declarations = declarationsIn(sources);
    deepEqual(
      Object.keys(allowed).filter((name) => (declarations.get(name) ?? []).length < 2),
      [],
    );
  });

  it("a second declaration is named with both files; comments, strings and names that are passed on are none", () => {
    const files = [
      {
        path: "a.ts",
        text: "export class Alarm {}\nexport const Kind = {};\nexport type Kind = 1;\nexport async function run() {}",
      },
      { path: "b.ts", text: '// export class Kind {}\nexport { run } from "./a.ts";\nexport interface Alarm {}' },
      { path: "c.ts", text: "/*\nexport const run = 1;\n*/\nconst text = `\nexport class Kind {}`;" },
    ];
    deepEqual(doublesIn(files), ["Alarm: src/a.ts, src/b.ts"]);
  });
});
