;; Functions of a test as those of WebAssembly: tables take no others.
(module
  (import "test" "look" (func $look (result i32)))
  (import "test" "act" (func $act))
  (export "look" (func $look))
  (export "act" (func $act)))
