/** What an image holds is saved field by field, so the classes that say so must have fields that can be seen. Row M6. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf, sourceFiles } from "./source-files.ts";

/** Names in `saves({ … })` or `lives({ … })`. */
function namesIn(code: string, call: "saves" | "lives"): string[] {
  const found = [...code.matchAll(new RegExp(`^${call}\\(\\{([^}]*)\\}\\)`, "gm"))];
  return found.flatMap(([, names]) => names!.split(",").map((name) => name.trim())).filter(Boolean);
}

/** From its first line to the closing brace in the first column. */
function bodyOf(code: string, name: string): string {
  const start = code.search(new RegExp(`^(?:export )?class ${name}\\b`, "m"));
  assert(start >= 0, `class ${name} is saved in the file that has it`);
  return code.slice(start, code.indexOf("\n}", start));
}

const files = sourceFiles().map(({ path, text }) => ({ path, code: codeOf(text) }));

test("M6 images: objects that are made anew have no private names at all, living ones no private fields", () => {
  let classes = 0;
  for (const { path, code } of files) {
    for (const name of namesIn(code, "saves")) {
      assert.doesNotMatch(bodyOf(code, name), /#\w/, `${name} in ${path}`);
      classes++;
    }
    for (const name of namesIn(code, "lives")) {
      assert.doesNotMatch(bodyOf(code, name), /^ {2}(?:readonly |static )*#\w+\s*[:=;!]/m, `${name} in ${path}`);
      classes++;
    }
  }
  assert(classes > 60, `${classes} classes are saved`);
});

test("M6 images: no two classes that are saved have the same name", () => {
  const places = new Map<string, string>();
  for (const { path, code } of files) {
    for (const name of [...namesIn(code, "saves"), ...namesIn(code, "lives")]) {
      assert(!places.has(name), `${name} in ${path}, and in ${places.get(name)}`);
      places.set(name, path);
    }
  }
});

test("M6 images: whatever goes on after a wait or a callback, and every task, is saved", () => {
  // TypeScript programs have no images, nor have jobs under the fault layer (ADR 45): what only they use need not be saved.
  for (const { path, code } of files.filter((file) => !/^(mpi|core\/fault-layer)\//.test(file.path))) {
    const kinds =
      /^(?:export )?class (\w+) (?:extends (?:Task|NewCommunicator)|implements [^{]*\b(?:Continuation|Condition|After|Restart)\b)/gm;
    const saved = namesIn(code, "saves");
    for (const [, name] of code.matchAll(kinds)) assert(saved.includes(name!), `${name} in ${path} is not saved`);
  }
});
