/**
 * The type signature (MPI 5.0 §5.1): which basic elements a datatype holds, in packing order, as runs of equal elements.
 * Repeats are kept as repeats, so a signature is as small as the description of its datatype.
 */
import type { Element } from "./element.ts";

export type Signature =
  | { readonly kind: "run"; readonly elements: number; readonly bytes: number; readonly element: Element }
  | {
      readonly kind: "repeat";
      readonly elements: number;
      readonly bytes: number;
      readonly count: number;
      readonly child: Signature;
    }
  | {
      readonly kind: "sequence";
      readonly elements: number;
      readonly bytes: number;
      readonly children: readonly Signature[];
    };

export const emptySignature: Signature = { kind: "sequence", elements: 0, bytes: 0, children: [] };

export function signatureOf(element: Element, count = 1): Signature {
  return { kind: "run", elements: count, bytes: count * element.bytes, element };
}

export function repeatSignature(child: Signature, count: number): Signature {
  if (count === 0 || child.elements === 0) return emptySignature;
  if (count === 1) return child;
  if (child.kind === "run") return signatureOf(child.element, child.elements * count);
  if (child.kind === "repeat") return repeatSignature(child.child, child.count * count);
  return { kind: "repeat", elements: child.elements * count, bytes: child.bytes * count, count, child };
}

export function joinSignatures(parts: readonly Signature[]): Signature {
  const children: Signature[] = [];
  let [elements, bytes] = [0, 0];
  for (const part of parts) {
    if (part.elements === 0) continue;
    elements += part.elements;
    bytes += part.bytes;
    const last = children.at(-1);
    const merged = last && merge(last, part);
    if (merged) children[children.length - 1] = merged;
    else children.push(part);
  }
  if (children.length < 2) return children[0] ?? emptySignature;
  return { kind: "sequence", elements, bytes, children };
}

/** Two neighbours as one, where both consist of the same element or signature. */
function merge(left: Signature, right: Signature): Signature | undefined {
  if (left.kind === "run" && right.kind === "run" && left.element === right.element) {
    return signatureOf(left.element, left.elements + right.elements);
  }
  const [leftChild, leftCount] = left.kind === "repeat" ? [left.child, left.count] : [left, 1];
  const [rightChild, rightCount] = right.kind === "repeat" ? [right.child, right.count] : [right, 1];
  return leftChild === rightChild ? repeatSignature(leftChild, leftCount + rightCount) : undefined;
}

/** Calls `visit` for each run in packing order, `count` times over: as often as the data in memory has runs. */
export function forEachRun(
  signature: Signature,
  count: number,
  visit: (element: Element, count: number) => void,
): void {
  // Nothing, however often.
  if (signature.elements === 0) return;
  switch (signature.kind) {
    case "run":
      visit(signature.element, signature.elements * count);
      break;
    case "repeat":
      forEachRun(signature.child, signature.count * count, visit);
      break;
    case "sequence":
      for (let i = 0; i < count; i++) for (const child of signature.children) forEachRun(child, 1, visit);
      break;
  }
}

/**
 * Calls `visit` for each run of the description with the number of its elements in all, in no certain order: as often as the
 * description has runs, whatever the counts in it are.
 */
export function forEachTotal(signature: Signature, visit: (element: Element, count: number) => void, count = 1): void {
  switch (signature.kind) {
    case "run":
      visit(signature.element, signature.elements * count);
      break;
    case "repeat":
      forEachTotal(signature.child, visit, signature.count * count);
      break;
    case "sequence":
      for (const child of signature.children) forEachTotal(child, visit, count);
      break;
  }
}

/**
 * The only element of the signature, or undefined where it has several: accumulate operations on derived datatypes need one.
 */
export function onlyElement(signature: Signature): Element | undefined {
  switch (signature.kind) {
    case "run":
      return signature.element;
    case "repeat":
      return onlyElement(signature.child);
    case "sequence": {
      const first = signature.children[0] && onlyElement(signature.children[0]);
      return signature.children.every((child) => onlyElement(child) === first) ? first : undefined;
    }
  }
}

/**
 * How many whole elements the first `bytes` bytes hold; undefined when they end inside an element. At most the signature's
 * bytes.
 */
export function elementsWithin(signature: Signature, bytes: number): number | undefined {
  if (bytes === signature.bytes) return signature.elements;
  switch (signature.kind) {
    case "run":
      return bytes % signature.element.bytes === 0 ? bytes / signature.element.bytes : undefined;
    case "repeat": {
      const whole = Math.floor(bytes / signature.child.bytes);
      const rest = elementsWithin(signature.child, bytes - whole * signature.child.bytes);
      return rest === undefined ? undefined : whole * signature.child.elements + rest;
    }
    case "sequence": {
      let [elements, left] = [0, bytes];
      for (const child of signature.children) {
        if (left < child.bytes) {
          const rest = elementsWithin(child, left);
          return rest === undefined ? undefined : elements + rest;
        }
        elements += child.elements;
        left -= child.bytes;
      }
      return elements;
    }
  }
}

/** How many bytes the first `elements` elements have: the inverse. At most the signature's elements. */
export function bytesOfFirst(signature: Signature, elements: number): number {
  switch (signature.kind) {
    case "run":
      return elements * signature.element.bytes;
    case "repeat": {
      const { child } = signature;
      const whole = Math.floor(elements / child.elements);
      const left = elements - whole * child.elements;
      return whole * child.bytes + (left === 0 ? 0 : bytesOfFirst(child, left));
    }
    case "sequence": {
      let [bytes, left] = [0, elements];
      for (const child of signature.children) {
        if (left < child.elements) return bytes + bytesOfFirst(child, left);
        bytes += child.bytes;
        left -= child.elements;
      }
      return bytes;
    }
  }
}

/** The signature as text, for messages and tests: `INT×3 DOUBLE`. */
export function signatureText(signature: Signature): string {
  switch (signature.kind) {
    case "run":
      return signature.elements === 1 ? signature.element.name : `${signature.element.name}×${signature.elements}`;
    case "repeat":
      return `(${signatureText(signature.child)})×${signature.count}`;
    case "sequence":
      return signature.children.map(signatureText).join(" ");
  }
}
